//! Continues an interrupted session. Its events restore everything: the state, the arguments of
//! calls, the learned knowledge. A continued session equals one that was never interrupted.

use std::collections::BTreeSet;

use crate::domain::{Event, Outcome, Record, TaskEvent, TaskId};

/// The records up to the last task that ended by itself, or was skipped; the task that was current then is queued
/// again. Empty if there is no such task: then a new session is as good.
pub fn resumable(mut records: Vec<Record>) -> Vec<Record> {
    let skipped = records.iter().filter_map(|record| match record.event {
        Event::Task(TaskEvent::TaskSkipped { task, .. }) => Some(task),
        _ => None,
    });
    let skipped: BTreeSet<TaskId> = skipped.collect();
    let finished = |record: &Record| match &record.event {
        Event::Task(TaskEvent::TaskFinished { task, outcome, .. }) => {
            *outcome != Outcome::Stopped || skipped.contains(task)
        }
        _ => false,
    };
    let end = records.iter().rposition(finished).map_or(0, |last| last + 1);
    records.truncate(end);
    records
}
