//! `toolyard report`: the results of a session, as JSON for a script or as a page for a person.

use super::{journal_args::ReportArgs, out, past, sessions, trouble::Trouble};
use crate::domain::state::Keeps;
use crate::net::known::without_known;
use crate::report::{Report, html};
use crate::store::import::write_private;

/// Prints or writes the report of a journal.
pub fn report(args: &ReportArgs) -> Result<(), Trouble> {
    let journal = match &args.journal {
        Some(journal) => journal.clone(),
        None => sessions::newest(&args.config)?,
    };
    let (state, remark) = past::load(&journal, args.at, Keeps::All)?;
    if let Some(remark) = remark {
        out::warn(&format!("{}: {remark}", journal.display()));
    }
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let text = match args.html {
        true => html::html(&state, &name),
        false => serde_json::to_string_pretty(&Report::of(&state)).map_err(Trouble::failed)? + "\n",
    };
    match &args.out {
        Some(path) => write_private(path, &without_known(&text)).map_err(Trouble::failed),
        None if args.html => out::print(text),
        None => out::print_json(text.trim_end()),
    }
}
