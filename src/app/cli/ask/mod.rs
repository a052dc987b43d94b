//! `toolyard ask`: a recorded model call, asked again. Nothing goes on from the replies.

pub mod args;
mod models;
mod told;

use std::path::Path;

use self::args::AskArgs;
use self::told::Told;
use super::{out, project, runtime::runtime, sessions, trouble::Trouble};
use crate::ask::asking::{self, AskPlan};
use crate::ask::candidate::{Candidate, notes};
use crate::ask::recorded_call::{RecordedCall, with_prompt};
use crate::config::{Config, MAX_DOLLARS};
use crate::domain::{EffectId, Request, tokens};
use crate::shell::runtime::interrupted;
use crate::store::journal::JournalReader;

/// Asks, and prints the replies. Returns the exit code: 0 with a reply, 1 without one, 128 and the signal that stopped it.
///
/// # Errors
/// The journal has no such call, a model is not configured, or the request cannot be changed like that.
pub fn ask(args: &AskArgs) -> Result<u8, Trouble> {
    let journal = match &args.journal {
        Some(journal) => sessions::named(journal, &args.config),
        None => sessions::newest(&args.config)?,
    };
    let wrong = |why: String| Trouble::Usage(format!("{}: {why}", journal.display()));
    let recorded = recorded(&journal, EffectId(args.call))?;
    let call = recorded.call().map_err(wrong)?;
    if call.request.messages.is_empty() {
        return Err(wrong(format!("call {} has no messages that could be sent", call.id)));
    }
    let request = match &args.set {
        Some(prompt) => with_prompt(&call.request, prompt).map_err(wrong)?,
        None => Request::clone(&call.request),
    };
    let file = project::config(args.config.config.clone())?;
    let mut config = Config::find(file.as_deref()).map_err(Trouble::usage)?;
    let models = models::of(&mut config, &args.model, &recorded, call)?.into_iter();
    let candidates: Vec<Candidate> =
        models.map(|model| Candidate::new(model, &recorded, &request)).collect();
    // Probable costs are counted in tokens.
    tokens::load();
    let mut notes = notes(&recorded, &call.request, &candidates);
    let changed =
        args.set.iter().map(|text| format!("the last message of the user is now: {text}"));
    notes.extend(changed);
    let told = Told {
        recorded: &recorded,
        call,
        candidates: &candidates,
        times: args.times,
        notes,
        as_json: args.json,
    };
    let plan = AskPlan {
        times: args.times,
        at_once: args.at_once.into(),
        max_dollars: args.max_dollars.or(config.max_dollars).unwrap_or(MAX_DOLLARS),
    };
    let mut printed = told.begin();
    let mut came = |reply: &_| {
        if printed.is_ok() {
            printed = told.reply(reply);
        }
    };
    let asked = runtime()?.block_on(asking::ask(&candidates, plan, interrupted(), &mut came));
    printed?;
    told.end(&asked)?;
    let has_reply = asked.replies.iter().any(|asked| asked.reply.is_some());
    let code = asked.signal.map_or(i32::from(!has_reply), |signal| 128 + signal);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Reads a journal to the end of the call of this number, or to its own.
fn recorded(journal: &Path, id: EffectId) -> Result<RecordedCall, Trouble> {
    let mut reader = JournalReader::open(journal).map_err(Trouble::usage)?;
    let mut recorded = RecordedCall::sought(id);
    for record in reader.by_ref() {
        if recorded.take(&record.map_err(Trouble::usage)?) {
            break;
        }
    }
    let remark = reader.remark();
    remark.into_iter().for_each(|it| out::warn(&format!("{}: {it}", journal.display())));
    Ok(recorded)
}
