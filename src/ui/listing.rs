//! Texts about each session of a list. Unknown values are `–`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use jiff::{Timestamp, tz::TimeZone};

use super::panes::format;
use super::symbols::{EDITED, INJECTED};
use super::text;
use crate::domain::words::counted;
use crate::store::journal::{Summary, folder};

/// The sessions of a folder, the newest first.
#[derive(Debug)]
pub struct Listing {
    pub folder: PathBuf,
    /// An error says why a journal cannot be read.
    pub sessions: Vec<(PathBuf, Result<Summary, String>)>,
    /// Why the folder cannot be read.
    pub wrong: Option<String>,
    /// The result of the deletions before it was read; an error says which one failed.
    pub deleted: Option<Result<String, String>>,
}

impl Listing {
    pub fn read(folder: PathBuf) -> Self {
        let (kept, wrong) = match folder::journals(&folder) {
            Ok(kept) => (kept, None),
            Err(error) => (Vec::new(), Some(format!("{}: {error}", folder.display()))),
        };
        let read = folder::summaries(&kept).into_iter();
        let mut sessions: Vec<_> = read
            .map(|(path, summary)| (path.to_owned(), summary.map_err(|error| error.to_string())))
            .collect();
        newest_first(&mut sessions);
        Self { sessions, folder, wrong, deleted: None }
    }

    /// Lists the sessions of a folder after deleting these journals of it.
    pub fn without(folder: PathBuf, journals: &[PathBuf]) -> Self {
        let mut freed = 0;
        let failed = journals.iter().find_map(|journal| {
            let size = folder::size(journal);
            let error = folder::delete(journal).err();
            freed += if error.is_none() { size } else { 0 };
            error
        });
        let deleted = match (failed, journals.len()) {
            (Some(error), _) => Some(Err(error.to_string())),
            (None, 0) => None,
            (None, n) => {
                Some(Ok(format!("deleted {}, {}", counted(n, "session"), text::bytes(freed))))
            }
        };
        Self { deleted, ..Self::read(folder) }
    }
}

/// Sorts sessions by their start, the newest first; those that cannot be read come last.
pub fn newest_first<P, E>(sessions: &mut [(P, Result<Summary, E>)]) {
    sessions.sort_by(|(_, a), (_, b)| match (a, b) {
        (Ok(a), Ok(b)) => b.opened.cmp(&a.opened),
        (a, b) => a.is_err().cmp(&b.is_err()),
    });
}

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
    Running,
    /// All of its tasks are done.
    Done,
    /// The session was ended before all tasks were done.
    Quit,
    /// The journal has no end: the session was killed.
    Killed,
}

impl SessionStatus {
    pub fn of(session: &Summary) -> Self {
        let is_done = session.totals.as_ref().is_none_or(|totals| totals.done >= totals.tasks);
        match (&session.ended, session.running) {
            (_, true) => Self::Running,
            (None, false) => Self::Killed,
            (Some(_), false) if is_done => Self::Done,
            (Some(_), false) => Self::Quit,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Quit => "quit",
            Self::Killed => "killed",
        }
    }
}

/// Text for an unknown value.
const UNKNOWN: &str = "–";

/// Time at which the session was opened, in the time zone of this machine.
pub fn started(session: &Summary) -> String {
    let opened = session.opened.parse::<Timestamp>();
    let here = opened.map(|opened| opened.to_zoned(TimeZone::system()));
    here.map_or_else(|_| UNKNOWN.to_owned(), |here| here.strftime("%Y-%m-%d %H:%M").to_string())
}

/// The session that this one came from, and the event at which it forked: `2026-11-30T10-12-00.jsonl.zst at 40`.
pub fn parent(session: &Summary) -> String {
    let Some(parent) = &session.parent else { return String::new() };
    let journal = text::clean(&parent.journal);
    parent.event.map_or_else(|| journal.to_string(), |event| format!("{journal} at {event}"))
}

/// The sessions with their depths, each behind the one that it came from, else in their order. A session whose parent is
/// not among them, or that descends from itself, begins a tree.
pub fn tree(sessions: &[Summary]) -> Vec<(usize, &Summary)> {
    let name = |session: &Summary| {
        session.path.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    let mut children: HashMap<String, Vec<&Summary>> = HashMap::new();
    let names: HashSet<_> = sessions.iter().filter_map(name).collect();
    let mut open = Vec::new();
    for session in sessions.iter().rev() {
        match session.parent.as_ref().filter(|parent| names.contains(&parent.journal)) {
            Some(parent) => children.entry(parent.journal.clone()).or_default().push(session),
            None => open.push((0, session)),
        }
    }
    let mut found: Vec<(usize, &Summary)> = Vec::with_capacity(sessions.len());
    // Those of a circle have no root; the first of them begins a tree.
    let mut rest = sessions.iter();
    while let Some((depth, session)) = open.pop().or_else(|| {
        let left = |it: &&Summary| !found.iter().any(|(_, known)| std::ptr::eq(*known, *it));
        rest.find(left).map(|session| (0, session))
    }) {
        found.push((depth, session));
        let of_it = name(session).and_then(|name| children.remove(&name)).unwrap_or_default();
        let is_new = |it: &&Summary| !found.iter().any(|(_, known)| std::ptr::eq(*known, *it));
        open.extend(of_it.into_iter().filter(is_new).map(|child| (depth + 1, child)));
    }
    found
}

/// The first task in one line.
pub fn question(session: &Summary) -> String {
    let line = session.question.lines().find(|line| !line.trim().is_empty());
    line.map_or_else(|| UNKNOWN.to_owned(), |line| text::clean(line.trim()).into_owned())
}

pub fn strategy(session: &Summary) -> String {
    session.acting.map_or_else(String::new, |acting| acting.to_string())
}

/// The number of ended tasks, and of all tasks.
pub fn tasks(session: &Summary) -> String {
    match &session.totals {
        Some(totals) => format!("{}/{}", totals.done, totals.tasks),
        None => session.tasks.to_string(),
    }
}

/// The number of tasks answered right.
pub fn right(session: &Summary) -> String {
    let judged = session.totals.as_ref().filter(|totals| totals.judged > 0);
    judged.map_or_else(|| UNKNOWN.to_owned(), |totals| totals.right.to_string())
}

pub fn cost(session: &Summary) -> String {
    session.totals.as_ref().map_or_else(
        || UNKNOWN.to_owned(),
        |totals| match totals.dollars {
            Some(sum) => format::dollars(*sum, totals.unpriced, totals.listed),
            None => UNKNOWN.to_owned(),
        },
    )
}

/// The number of armed faults and of changes by a person.
pub fn changes(session: &Summary) -> String {
    let Some(totals) = &session.totals else { return String::new() };
    let faults = match totals.faults.as_slice() {
        [] => String::new(),
        [first] => format!("{INJECTED} {first}"),
        [first, more @ ..] => format!("{INJECTED} {first} +{}", more.len()),
    };
    let edits = if totals.edits > 0 { format!("{EDITED} {}", totals.edits) } else { String::new() };
    [faults, edits].join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::journal::ParentSession;

    /// A session of this name, which came from another one at event 7.
    fn session(name: &str, parent: &str) -> Summary {
        let parent = (!parent.is_empty())
            .then(|| ParentSession { journal: parent.to_owned(), event: Some(7) });
        Summary {
            path: PathBuf::from("/journals").join(name),
            opened: String::new(),
            acting: None,
            workspace: String::new(),
            question: String::new(),
            events: 0,
            micros: 0,
            tasks: 0,
            ended: None,
            running: false,
            totals: None,
            bytes: 0,
            parent,
        }
    }

    #[test]
    fn sessions_stand_below_those_they_came_from_and_none_is_lost() {
        let all = [
            ("new", ""),
            ("fork of fork", "fork"),
            ("fork", "old"),
            ("second fork", "old"),
            ("old", ""),
            ("of a deleted one", "gone"),
            ("a", "b"),
            ("b", "a"),
            ("itself", "itself"),
        ];
        let sessions = all.map(|(name, parent)| session(name, parent));
        let tree = tree(&sessions);
        let name =
            |session: &Summary| session.path.file_name().unwrap().to_str().unwrap().to_owned();
        let found: Vec<_> = tree.iter().map(|(depth, session)| (*depth, name(session))).collect();
        let expected = [
            (0, "new"),
            (0, "old"),
            (1, "fork"),
            (2, "fork of fork"),
            (1, "second fork"),
            (0, "of a deleted one"),
            (0, "a"),
            (1, "b"),
            (0, "itself"),
        ];
        assert_eq!(found, expected.map(|(depth, name)| (depth, name.to_owned())));
        assert_eq!(parent(&sessions[2]), "old at 7");
        assert_eq!(parent(&sessions[0]), "");
    }
}
