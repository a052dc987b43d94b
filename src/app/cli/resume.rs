//! `toolyard resume`: continues an interrupted session.

use super::journal_args::ResumeArgs;
use super::journal_end::JournalEnd;
use super::run::{self, Prints, RunOutputs};
use super::spec_trust::Agreed;
use super::{live, out, sessions, spec_trust, trouble::Trouble};
use crate::session::{SessionSpec, newest_interrupted};

/// Continues the session of a journal, else the newest one that did not end.
///
/// # Errors
/// There is none, or it cannot be continued.
pub fn resume(args: &ResumeArgs) -> Result<JournalEnd, Trouble> {
    let journal = match &args.journal {
        Some(journal) => journal.clone(),
        None => newest_interrupted(&sessions::folder_of(&args.config)?)?,
    };
    let is_headless = args.headless || args.json;
    let agreed = Agreed {
        config: &args.config,
        workspace: args.workspace.as_deref(),
        trusts: args.trust_journal,
    };
    spec_trust::expect_known(&journal, &agreed, !is_headless)?;
    let spec = SessionSpec {
        config: args.config.config.clone(),
        workspace: args.workspace.clone(),
        allow: args.allow.clone(),
        repeats_unknown: args.repeat_unknown,
        keep_going: args.keep_going,
        resumed: Some(journal.clone()),
        ..SessionSpec::default()
    };
    spec_trust::remember(&spec);
    if is_headless {
        let wanted = RunOutputs {
            prints: Prints::of(args.json, false),
            report: args.report.as_deref(),
            state: None,
        };
        let prepared = spec.prepare()?;
        if !args.json {
            out::print_line(format!("resuming {}", journal.display()))?;
        }
        return run::headless(prepared, &wanted).map(JournalEnd::Headless);
    }
    live::show(spec, live::Show::default()).map(JournalEnd::OnScreen)
}
