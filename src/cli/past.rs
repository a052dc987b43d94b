//! Commands that look at a journal: its state, its report, a picture of it.

use std::path::Path;

use toolyard::{
    journal::{self, Loaded},
    report::Report,
    state::State,
};

use super::{ReplayArgs, run::save, trouble::Trouble};

/// A journal up to an event, and the state after it.
pub struct Past {
    pub loaded: Loaded,
    pub state: State,
}

/// Reads a journal as far as this event, or whole.
pub fn load(path: &Path, at: Option<u64>) -> Result<Past, Trouble> {
    let mut loaded = journal::read(path).map_err(Trouble::usage)?;
    if let Some(at) = at {
        let last = loaded.records.len() as u64;
        if at > last {
            let text = format!("{}: has {last} events, so there is no event {at}", path.display());
            return Err(Trouble::Usage(text));
        }
        loaded.records.retain(|record| record.n <= at);
    }
    let state = State::fold(&loaded.records);
    Ok(Past { loaded, state })
}

/// `toolyard replay`: prints or saves what was asked for; the journal if the screen is wanted.
pub fn replay(args: &ReplayArgs) -> Result<Option<Past>, Trouble> {
    let past = load(&args.journal, args.at)?;
    if past.loaded.torn > 0 && !args.json {
        eprintln!(
            "toolyard: {}: the last line is cut off ({} bytes) and left out",
            args.journal.display(),
            past.loaded.torn
        );
    }
    if let Some(path) = &args.report {
        save(path, &Report::of(&past.state))?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&past.state).map_err(Trouble::failed)?;
        println!("{text}");
    }
    let quiet = args.json || args.report.is_some();
    Ok((!quiet).then_some(past))
}
