//! Continues an interrupted session. Its events restore everything: the state, the arguments of
//! calls, the learned knowledge. A continued session equals one that was never interrupted.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    BreakpointEvent, EmbeddingEvent, Event, ModelCallEvent, Outcome, Record, SessionEvent,
    TaskEvent, TaskId, ToolCallEvent,
};

/// Why calls that are in flight when a session ends have no result.
pub(super) const STOPPED: &str = "the session was stopped";

/// A session that was killed, crashed or quit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interrupted {
    /// The records up to the first task that was at work, or to the end.
    pub past: Vec<Record>,
    /// The records since then: they answer the calls of the tasks that start again.
    pub rest: Vec<Record>,
}

impl Interrupted {
    /// Divides a session where the first unfinished task began, or a task that was at work together with it. Events
    /// that only the end of the session caused are left out.
    pub fn of(records: Vec<Record>) -> Self {
        let mut records = without_end(records);
        let is_done = finishes(&records);
        let mut rest = records.split_off(parted_at(&records, is_done));
        rest.retain(|record| is_kept(&record.event));
        Self { past: records, rest }
    }

    /// Whether a task was at work.
    pub fn is_open(&self) -> bool {
        !self.rest.is_empty()
    }
}

/// The records of a session without the ends of calls and tasks that only its own end caused.
pub fn without_end(mut records: Vec<Record>) -> Vec<Record> {
    let is_done = finishes(&records);
    while records.last().is_some_and(|it| is_closing(&it.event) && !is_done(it)) {
        records.pop();
    }
    records
}

/// The number of records before the first unfinished task, or before a task that was still at work when that one began:
/// no task is divided. All records if no task is unfinished.
fn parted_at(records: &[Record], is_done: impl Fn(&Record) -> bool) -> usize {
    let mut at_work = BTreeMap::new();
    // The tasks that have ended, each with its first and its last record.
    let mut ended = Vec::new();
    for (at, record) in records.iter().enumerate() {
        match &record.event {
            Event::Task(TaskEvent::TaskStarted { task }) => drop(at_work.insert(*task, at)),
            Event::Task(TaskEvent::TaskFinished { task, .. }) if is_done(record) => {
                ended.extend(at_work.remove(task).map(|first| (first, at)));
            }
            _ => {}
        }
    }
    let open = at_work.into_values().min().unwrap_or(records.len());
    // Later tasks first: a task that is included also includes those that were at work when it began.
    ended.sort_unstable();
    ended.iter().rev().fold(open, |at, (first, last)| if *last > at { at.min(*first) } else { at })
}

/// Whether only the end of a session writes this event there.
fn is_closing(event: &Event) -> bool {
    match event {
        Event::Session(SessionEvent::SessionEnded { .. }) => true,
        Event::Task(TaskEvent::TaskFinished { outcome, .. }) => *outcome == Outcome::Stopped,
        event => is_dropped(event),
    }
}

/// Whether a call ended only because its session did: its effect is unknown.
fn is_dropped(event: &Event) -> bool {
    let why = match event {
        Event::ToolCall(ToolCallEvent::ToolCallFailed { error, .. }) => &error.text,
        Event::ModelCall(ModelCallEvent::ModelCallFailed { error, .. }) => &error.text,
        Event::Embedding(EmbeddingEvent::EmbeddingFailed { error, .. }) => &error.text,
        _ => return false,
    };
    why == STOPPED
}

/// Whether the event counts when the task is worked on again, as calls and a person's changes do. Holds and steps of
/// the session are over.
fn is_kept(event: &Event) -> bool {
    match event {
        Event::Control(_) | Event::Breakpoint(BreakpointEvent::BreakpointHit { .. }) => false,
        event => !is_closing(event),
    }
}

/// The records up to the last task that ended by itself, or was skipped; the task that was current then is queued
/// again. Empty if there is no such task: then a new session is equivalent.
pub fn resumable(mut records: Vec<Record>) -> Vec<Record> {
    let is_done = finishes(&records);
    let end = records.iter().rposition(is_done).map_or(0, |last| last + 1);
    records.truncate(end);
    records
}

/// Whether a record ends a task by itself, or because a person skipped it.
fn finishes(records: &[Record]) -> impl Fn(&Record) -> bool + use<> {
    let skipped = records.iter().filter_map(|record| match record.event {
        Event::Task(TaskEvent::TaskSkipped { task, .. }) => Some(task),
        _ => None,
    });
    let skipped: BTreeSet<TaskId> = skipped.collect();
    move |record| match &record.event {
        Event::Task(TaskEvent::TaskFinished { task, outcome, .. }) => {
            *outcome != Outcome::Stopped || skipped.contains(task)
        }
        _ => false,
    }
}
