//! Continues an interrupted session. Its events restore everything: the state, the arguments of
//! calls, the learned knowledge. A continued session equals one that was never interrupted.

use crate::domain::{Event, Outcome, Record, TaskEvent};

/// The records up to the last task that ended by itself; the task that was current then is queued
/// again. Empty if there is no such task: then a new session is as good.
pub fn resumable(mut records: Vec<Record>) -> Vec<Record> {
    let finished = |record: &Record| match &record.event {
        Event::Task(TaskEvent::TaskFinished { outcome, .. }) => *outcome != Outcome::Stopped,
        _ => false,
    };
    let end = records.iter().rposition(finished).map_or(0, |last| last + 1);
    records.truncate(end);
    records
}
