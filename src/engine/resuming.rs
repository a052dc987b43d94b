//! Going on with a session that was cut short. Its events are the truth of it, so taking them up again
//! makes everything as it was at that moment: the state, what tools were called with, what was learned.
//! What follows is what would have followed, and a session that went on equals one that never stopped.

use crate::domain::{Event, Outcome, Record, TaskEvent};

/// A session as far as its last task that came to an end of its own; the task that was at work then is
/// in the queue again. Empty where there is no such task, and a new session is as good.
pub fn resumable(mut records: Vec<Record>) -> Vec<Record> {
    let finished = |record: &Record| match &record.event {
        Event::Task(TaskEvent::TaskFinished { outcome, .. }) => *outcome != Outcome::Stopped,
        _ => false,
    };
    let end = records.iter().rposition(finished).map_or(0, |last| last + 1);
    records.truncate(end);
    records
}
