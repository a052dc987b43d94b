//! Continues an interrupted session. Its events restore everything: the state, the arguments of
//! calls, the learned knowledge. A continued session equals one that was never interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::domain::{
    BreakpointEvent, EmbeddingEvent, Event, ModelCallEvent, Outcome, Record, SessionEvent,
    TaskEvent, TaskId, ToolCallEvent,
};

/// Why calls that are in flight when a session ends have no result.
pub(super) const STOPPED: &str = "the session was stopped";

/// The records of a session without the ends of calls and tasks that only its own end caused.
pub fn without_end(mut records: Vec<Record>) -> Vec<Record> {
    records.truncate(Division::of(&records).range().end);
    records
}

/// The place where a session is divided, found without keeping its records.
#[derive(Debug, Default)]
pub struct Division {
    /// The number of records so far.
    len: usize,
    skipped: BTreeSet<TaskId>,
    /// The tasks at work, each with its first record.
    at_work: BTreeMap<TaskId, usize>,
    /// The tasks that have ended since no task was at work, each with its first and its last record.
    ended: Vec<(usize, usize)>,
    /// The last records, as far as only the session's end writes such; the task of each that ends one.
    closing: Vec<Option<TaskId>>,
}

impl Division {
    /// The place in these records.
    pub fn of(records: &[Record]) -> Self {
        let mut division = Self::default();
        records.iter().for_each(|record| division.take(&record.event));
        division
    }

    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        let at = self.len;
        self.len += 1;
        if is_closing(event) {
            self.closing.push(match event {
                Event::Task(TaskEvent::TaskFinished { task, .. }) => Some(*task),
                _ => None,
            });
        } else {
            self.closing.clear();
        }
        match event {
            Event::Task(TaskEvent::TaskSkipped { task, .. }) => drop(self.skipped.insert(*task)),
            Event::Task(TaskEvent::TaskStarted { task }) => drop(self.at_work.insert(*task, at)),
            Event::Task(TaskEvent::TaskFinished { task, outcome, .. })
                if *outcome != Outcome::Stopped || self.skipped.contains(task) =>
            {
                self.ended.extend(self.at_work.remove(task).map(|first| (first, at)));
                // Later tasks cannot have been at work together with these.
                if self.at_work.is_empty() {
                    self.ended.clear();
                }
            }
            _ => {}
        }
    }

    /// Whether no task is at work after the last event, which is not one of a session's end.
    pub fn is_between_tasks(&self) -> bool {
        self.at_work.is_empty() && self.closing.is_empty()
    }

    /// The records from the first unfinished task on, or from a task that was still at work when that one began: no task
    /// is divided. Those that only the session's end wrote are not among them. Empty if no task is unfinished.
    pub fn range(mut self) -> Range<usize> {
        let is_end = |task: &&Option<TaskId>| task.is_none_or(|task| !self.skipped.contains(&task));
        let end = self.len - self.closing.iter().rev().take_while(is_end).count();
        let open = self.at_work.into_values().min().unwrap_or(end);
        // Later tasks first: a task that is included also includes those that were at work when it began.
        self.ended.sort_unstable();
        let ended = self.ended.iter().rev();
        let start =
            ended.fold(open, |at, (first, last)| if *last > at { at.min(*first) } else { at });
        start..end
    }
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
pub fn is_kept(event: &Event) -> bool {
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
