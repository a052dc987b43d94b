//! `toolyard sessions`: the journals in the folder for them, the newest first.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::journal_args::{SessionsArgs, SessionsCommand};
use super::{ConfigArgs, colour, out, trouble::Trouble};
use crate::config::{self, Config};
use crate::domain::words::{clipped, counted};
use crate::domain::{Event, Record, TaskEvent};
use crate::store::journal::folder::{self, JournalFile};
use crate::store::journal::{self, Summary};
use crate::ui::listing::{self, SessionStatus};
use crate::ui::text::{self, clean};

/// Columns of the first question.
const QUESTION: usize = 48;
/// Columns of a workspace's name.
const WORKSPACE: usize = 28;

pub fn sessions(args: &SessionsArgs) -> Result<(), Trouble> {
    match &args.command {
        Some(SessionsCommand::Prune { older, keep, dry_run, config }) => {
            prune(&folder_of(config)?, *older, keep.unwrap_or(0), *dry_run)
        }
        None => list(&folder_of(&args.config)?, args),
    }
}

/// The newest journal in the folder of a session that began a task; if none did, the newest with an event.
///
/// # Errors
/// There is none.
pub fn newest(config: &ConfigArgs) -> Result<PathBuf, Trouble> {
    let folder = folder_of(config)?;
    // A damaged journal counts, so that the damage is reported.
    let has = |kept: &JournalFile, is_it: fn(&Record) -> bool| {
        journal::JournalReader::open(&kept.path)
            .map_or(true, |mut records| records.any(|read| read.as_ref().map_or(true, is_it)))
    };
    let all = found(&folder)?;
    let begun =
        |record: &Record| matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. }));
    let newest = all.iter().find(|kept| has(kept, begun));
    let newest = newest.or_else(|| all.iter().find(|kept| has(kept, |_| true)));
    newest.map(|found| found.path.clone()).ok_or_else(|| Trouble::Usage(none_in(&folder)))
}

fn none_in(folder: &Path) -> String {
    format!("no journals in {}; `toolyard run` writes one", folder.display())
}

/// The journal at this path, or that of this name in the folder of journals, as the list of sessions names it.
pub fn named(path: &Path, config: &ConfigArgs) -> PathBuf {
    let is_name = path.components().count() == 1 && !path.exists();
    let kept = is_name.then(|| folder_of(config).ok().map(|folder| folder.join(path))).flatten();
    kept.filter(|kept| kept.exists()).unwrap_or_else(|| path.to_owned())
}

/// The folder of journals.
///
/// # Errors
/// There is none.
pub fn folder_of(args: &ConfigArgs) -> Result<PathBuf, Trouble> {
    let config = Config::find(args.config.as_deref()).map_err(Trouble::usage)?;
    config.session.journals.or_else(config::default_journals).ok_or_else(|| {
        Trouble::Usage("no home directory; set session.journals in the configuration".to_owned())
    })
}

/// The journals of the folder, the newest first.
///
/// # Errors
/// The folder cannot be read.
pub fn found(folder: &Path) -> Result<Vec<JournalFile>, Trouble> {
    let unread = |error: io::Error| Trouble::Usage(format!("{}: {error}", folder.display()));
    folder::journals(folder).map_err(unread)
}

fn list(folder: &Path, args: &SessionsArgs) -> Result<(), Trouble> {
    let mut sessions = Vec::new();
    let found = found(folder)?;
    let mut read = folder::summaries(&found);
    listing::newest_first(&mut read);
    for (_, summary) in read {
        match summary {
            Ok(summary) => sessions.push(summary),
            Err(error) => out::warn(&error.to_string()),
        }
    }
    if args.json {
        return out::print_pretty(&sessions);
    }
    if sessions.is_empty() {
        return out::print_line(none_in(folder));
    }
    let mut table = format!("{} · {}\n", counted(sessions.len(), "session"), folder.display());
    table += &format!(
        "{:<16} {:<QUESTION$} {:<20} {:>7} {:>6} {:>8} {:>9} {:>8} {:>9}  {:<WORKSPACE$} {:<16} {:<10} file\n",
        "started",
        "first question",
        "strategy",
        "tasks",
        "right",
        "events",
        "cost",
        "length",
        "size",
        "workspace",
        "faults, edits",
        "end"
    );
    let in_order = match args.tree {
        true => listing::tree(&sessions),
        false => sessions.iter().map(|session| (0, session)).collect(),
    };
    for (depth, session) in in_order {
        let (started, strategy) = (listing::started(session), listing::strategy(session));
        let question = clipped(&branch(depth, session), QUESTION);
        let workspace = clipped(&clean(&session.workspace), WORKSPACE);
        let end = SessionStatus::of(session).name();
        let file = session.path.file_name().unwrap_or_default().to_string_lossy();
        table += &format!(
            "{started:<16} {question:<QUESTION$} {strategy:<20} {:>7} {:>6} {:>8} {:>9} {:>8} {:>9}  {workspace:<WORKSPACE$} \
             {:<16} {end:<10} {}\n",
            listing::tasks(session),
            listing::right(session),
            session.events,
            listing::cost(session),
            text::span(session.micros),
            text::bytes(session.bytes),
            clipped(&clean(&listing::changes(session)), 16),
            clean(&file)
        );
    }
    out::print(colour::headed(&table, 1))
}

/// The first question behind the branch of a tree: `└ at 40: In which city …`.
fn branch(depth: usize, session: &Summary) -> String {
    let question = listing::question(session);
    let Some(inner) = depth.checked_sub(1) else { return question };
    let event = session.parent.as_ref().and_then(|parent| parent.event);
    let place = event.map_or_else(String::new, |event| format!("at {event}: "));
    format!("{}└ {place}{question}", "  ".repeat(inner))
}

fn prune(folder: &Path, older: Option<Duration>, keep: usize, is_dry: bool) -> Result<(), Trouble> {
    let before = match older {
        Some(older) => SystemTime::now().checked_sub(older),
        None => Some(SystemTime::now()),
    };
    let old = found(folder)?.into_iter().skip(keep);
    let old: Vec<_> = old.filter(|found| before.is_some_and(|then| found.written < then)).collect();
    let (mut deleted, mut bytes) = (0, 0);
    for found in &old {
        if journal::is_written(&found.path).unwrap_or(false) {
            out::warn(&format!("{}: not deleted, since its session runs", found.path.display()));
            continue;
        }
        let size = folder::size(&found.path);
        if !is_dry {
            folder::delete(&found.path).map_err(Trouble::failed)?;
        }
        (deleted, bytes) = (deleted + 1, bytes + size);
    }
    let (which, size) = (counted(deleted, "journal"), text::bytes(bytes));
    let did = if is_dry { "would be deleted" } else { "deleted" };
    out::print_line(format!("{which} {did}, {size} · {}", folder.display()))
}
