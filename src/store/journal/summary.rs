//! The summary of a journal in a list of sessions. Only the journal's beginning and end are read, so that a list of
//! long journals appears at once.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{JournalError, JournalReader, is_written};
use crate::domain::{Acting, Event, Record, SessionEvent, TaskEvent, Totals};

/// Bytes of the end that are read first; more only where no whole line is in them.
const TAIL: usize = 16 * 1024;
/// Events of the beginning in which the first task is looked for.
const BEGINNING: usize = 16;

/// A session as its journal has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub path: PathBuf,
    /// The time of opening (RFC 3339, UTC).
    pub opened: String,
    /// The agent of the session; `None` if it was killed before its first event.
    #[serde(rename = "strategy")]
    pub acting: Option<Acting>,
    pub workspace: String,
    /// The first task, if the journal's beginning has it; empty otherwise.
    pub question: String,
    pub events: u64,
    /// The time until the last event, in microseconds.
    pub micros: u64,
    /// The number of the last task that ended, if the end of the journal has it; else the ended tasks of the totals.
    pub tasks: u32,
    /// The reason for the end; `None` while the session runs, and if it was killed.
    pub ended: Option<String>,
    /// Whether a session on this machine writes the journal.
    pub running: bool,
    /// The session's totals; `None` while it runs, if it was killed, and where an older version wrote the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    pub bytes: u64,
    /// The session that this one came from; `None`: it began by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentSession>,
}

/// The session from which another one came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParentSession {
    /// The name of its journal.
    pub journal: String,
    /// The event at which the other one forked, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// The fields of a line that are read at the end of a journal.
#[derive(Deserialize)]
struct Last<'l> {
    n: u64,
    at: u64,
    kind: &'l str,
    #[serde(borrow, default)]
    data: Option<&'l RawValue>,
}

impl Summary {
    /// Reads the beginning and the end of a journal.
    ///
    /// # Errors
    /// The file cannot be read, or is not a journal that this version knows.
    pub fn of(path: &Path) -> Result<Self, JournalError> {
        let mut reader = JournalReader::open(path)?;
        let header = &reader.header;
        let (opened, event) = (header.opened.clone(), header.parent_event);
        let parent = header.continues.clone().or_else(|| header.parent.clone());
        let parent = parent.map(|journal| ParentSession { journal, event });
        let first = reader.next().transpose()?;
        let question = first_task(path)?;
        let (acting, workspace) = match first.map(|record| record.event) {
            Some(Event::Session(SessionEvent::SessionOpened { opening })) => {
                let own = Acting::Own(opening.strategy);
                (Some(if opening.watched { Acting::Foreign } else { own }), opening.workspace)
            }
            Some(_) | None => (None, String::new()),
        };
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let bytes = path.metadata().map_err(io)?.len();
        let path = path.to_owned();
        let (events, micros, tasks, ended, totals) = (0, 0, 0, None, None);
        let running = false;
        let new = Self {
            path,
            opened,
            acting,
            workspace,
            question,
            events,
            micros,
            tasks,
            ended,
            running,
            totals,
            bytes,
            parent,
        };
        let mut length = TAIL;
        loop {
            let tail = reader.tail(length)?;
            let read = new.clone().with_end(&tail);
            if read.events > 0 || tail.len() < length {
                let running = read.ended.is_none() && is_written(&read.path)?;
                return Ok(Self { running, ..read });
            }
            length = length.saturating_mul(8);
        }
    }

    /// Adds the content of the last lines.
    fn with_end(mut self, tail: &[u8]) -> Self {
        let lines = tail.split_inclusive(|byte| *byte == b'\n').rev();
        let whole = lines.filter(|line| line.ends_with(b"\n"));
        for last in whole.filter_map(|line| serde_json::from_slice::<Last<'_>>(line).ok()) {
            if self.events == 0 {
                (self.events, self.micros) = (last.n, last.at);
            }
            match last.kind {
                "SessionEnded" => {
                    let ended = last.part(|ended: Ended| (ended.why, ended.totals)).unzip();
                    (self.ended, self.totals) = (ended.0, ended.1.flatten());
                    let done = self.totals.as_ref().map_or(0, |totals| totals.done);
                    self.tasks = done.try_into().unwrap_or(u32::MAX);
                }
                "TaskFinished" => {
                    if let Some(task) = last.part(task_of).flatten() {
                        self.tasks = task;
                        break;
                    }
                }
                _ => {}
            }
        }
        self
    }
}

/// The text of the first task. It has a reader of its own, since the one for the end must still be at the beginning.
fn first_task(path: &Path) -> Result<String, JournalError> {
    let queued = |record: Result<Record, JournalError>| match record.ok()?.event {
        Event::Task(TaskEvent::TasksQueued { tasks, .. }) => Some(tasks.first()?.text.clone()),
        _ => None,
    };
    Ok(JournalReader::open(path)?.take(BEGINNING).find_map(queued).unwrap_or_default())
}

#[derive(Deserialize)]
struct Ended {
    why: String,
    #[serde(default)]
    totals: Option<Totals>,
}

/// The task of an event, also where the line only says what differs from an earlier one.
fn task_of(data: Value) -> Option<u32> {
    let fields = data.as_object()?;
    let task =
        fields.get("task").or_else(|| fields.values().find_map(|differs| differs.get("task")));
    task.and_then(Value::as_u64).and_then(|task| task.try_into().ok())
}

impl<'l> Last<'l> {
    fn part<D: Deserialize<'l>, T>(&self, part: impl FnOnce(D) -> T) -> Option<T> {
        serde_json::from_str(self.data?.get()).ok().map(part)
    }
}
