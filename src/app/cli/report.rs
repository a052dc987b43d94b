//! `toolyard report`: the results of a session, as JSON for a script or as a page for a person.

use std::path::Path;

use super::{journal_args::ReportArgs, out, past, sessions, trouble::Trouble};
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{Record, State};
use crate::net::known::without_known;
use crate::report::{html, live_report::Folded};
use crate::store::import::write_private;
use crate::store::json_store;

/// Whether somebody took `--html` for an option with the name of the page.
fn is_page_to_write(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "html") && !path.exists()
}

/// Prints or writes the report of a journal.
pub fn report(args: &ReportArgs) -> Result<(), Trouble> {
    let journal = match &args.journal {
        Some(page) if args.html && args.out.is_none() && is_page_to_write(page) => {
            let page = page.display();
            let text =
                format!("{page}: there is no such journal; write a page with --html --out {page}");
            return Err(Trouble::Usage(text));
        }
        Some(journal) => sessions::named(journal, &args.config),
        None => sessions::newest(&args.config)?,
    };
    let keeps = Keeps::Tasks(if args.html { html::MOST } else { RECENT });
    let mut folded = Folded::whole().map_err(Trouble::failed)?;
    let take = |state: &State, record: &Record| folded.take(state, record);
    let (state, remark) = past::load(&journal, args.at, keeps, take)?;
    if let Some(remark) = remark {
        out::warn(&format!("{}: {remark}", journal.display()));
    }
    let report = folded.report(&state).map_err(Trouble::failed)?;
    if !args.html {
        return match &args.out {
            Some(path) => json_store::save(path, &report).map_err(Trouble::failed),
            None => out::print_pretty(&report),
        };
    }
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    let page = html::html(&state, &report, &name);
    match &args.out {
        Some(path) => write_private(path, &without_known(&page)).map_err(Trouble::failed),
        None => out::print(page),
    }
}
