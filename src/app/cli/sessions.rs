//! `toolyard sessions`: the journals in the folder for them, the newest first.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use super::journal_args::{SessionsArgs, SessionsCommand};
use super::{ConfigArgs, colour, out, trouble::Trouble};
use crate::app::config::{self, Config};
use crate::domain::words::{clipped, counted};
use crate::store::journal::folder::{self, Kept};
use crate::store::journal::{self, index_of};
use crate::ui::listing::{self, Standing};
use crate::ui::text::{self, clean};

/// Columns of a workspace's name.
const WORKSPACE: usize = 28;

pub fn sessions(args: &SessionsArgs) -> Result<(), Trouble> {
    match &args.command {
        Some(SessionsCommand::Prune { older, keep, dry_run, config }) => {
            prune(&folder_of(config)?, *older, keep.unwrap_or(0), *dry_run)
        }
        None => list(&folder_of(&args.config)?, args.json),
    }
}

/// The newest journal in the folder. An older version that was killed in its first moment left one without events,
/// which does not count.
///
/// # Errors
/// There is none.
pub fn newest(config: &ConfigArgs) -> Result<PathBuf, Trouble> {
    let folder = folder_of(config)?;
    let has_events = |kept: &Kept| {
        !matches!(journal::Reader::open(&kept.path).map(|mut it| it.next()), Ok(None))
    };
    let newest = found(&folder)?.into_iter().find(has_events);
    newest.map(|found| found.path).ok_or_else(|| Trouble::Usage(none_in(&folder)))
}

fn none_in(folder: &Path) -> String {
    format!("no journals in {}; `toolyard run` writes one", folder.display())
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
pub fn found(folder: &Path) -> Result<Vec<Kept>, Trouble> {
    let unread = |error: io::Error| Trouble::Usage(format!("{}: {error}", folder.display()));
    folder::journals(folder).map_err(unread)
}

fn list(folder: &Path, as_json: bool) -> Result<(), Trouble> {
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
    if as_json {
        return out::print_json(&serde_json::to_string_pretty(&sessions).map_err(Trouble::failed)?);
    }
    if sessions.is_empty() {
        return out::print_line(none_in(folder));
    }
    let mut table = format!("{} · {}\n", counted(sessions.len(), "session"), folder.display());
    table += &format!(
        "{:<17} {:<20} {:>7} {:>6} {:>8} {:>9} {:>8} {:>9}  {:<WORKSPACE$} {:<16} {:<10} file\n",
        "opened (UTC)",
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
    for session in &sessions {
        let (opened, strategy) = (listing::started(session), listing::strategy(session));
        let workspace = clipped(&clean(&session.workspace), WORKSPACE);
        let end = Standing::of(session).name();
        let file = session.path.file_name().unwrap_or_default().to_string_lossy();
        table += &format!(
            "{opened:<17} {strategy:<20} {:>7} {:>6} {:>8} {:>9} {:>8} {:>9}  {workspace:<WORKSPACE$} \
             {:<16} {end:<10} {}\n",
            listing::tasks(session),
            listing::right(session),
            session.events,
            listing::cost(session),
            text::span(session.micros),
            size(session.bytes),
            clipped(&clean(&listing::changes(session)), 16),
            clean(&file)
        );
    }
    out::print(colour::headed(&table, 1))
}

fn prune(folder: &Path, older: Option<Duration>, keep: usize, is_dry: bool) -> Result<(), Trouble> {
    let before = match older {
        Some(older) => SystemTime::now().checked_sub(older),
        None => Some(SystemTime::now()),
    };
    let old = found(folder)?.into_iter().skip(keep);
    let old: Vec<_> = old.filter(|found| before.is_some_and(|then| found.written < then)).collect();
    let mut bytes = 0;
    for found in &old {
        for path in [&found.path, &index_of(&found.path)] {
            bytes += path.metadata().map_or(0, |about| about.len());
            if is_dry {
                continue;
            }
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Trouble::Failed(format!("{}: {error}", path.display())));
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
    let (which, size) = (counted(old.len(), "journal"), size(bytes));
    let did = if is_dry { "would be deleted" } else { "deleted" };
    out::print_line(format!("{which} {did}, {size} · {}", folder.display()))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [999, 1_234, 5_600_000, 7_800_000_000].map(size);
        assert_eq!(sizes, ["999 B", "1.2 kB", "5.6 MB", "7.8 GB"]);
    }
}
