//! Going on with a session that was cut short. Its events are the truth of it, so taking them up again
//! makes everything as it was at that moment: the state, what tools were called with, what was learned.
//! What follows is what would have followed, and a session that went on equals one that never stopped.

use super::{calling, core::Core};
use crate::domain::event::{Event, Outcome, Record};

/// A session as far as its last task that came to an end of its own; the task that was at work then is
/// in the queue again. Empty where there is no such task, and a new session is as good.
pub fn resumable(mut records: Vec<Record>) -> Vec<Record> {
    let finished = |record: &Record| match &record.event {
        Event::TaskFinished { outcome, .. } => *outcome != Outcome::Stopped,
        _ => false,
    };
    let end = records.iter().rposition(finished).map_or(0, |last| last + 1);
    records.truncate(end);
    records
}

impl Core {
    /// Takes up what happened, as if it had just happened here, but for models and tools: none of them
    /// is asked or called again. The memory must be what it was before the session.
    pub fn take_up(&mut self, past: Vec<Record>) {
        self.resumed_at = past.last().map_or(0, |record| record.at);
        for record in past {
            let event = record.event.clone();
            self.put_down(record);
            match event {
                Event::ToolCallStarted { call } => {
                    if let Some(call) = self.state.call(call) {
                        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
                        calling::occurrence(self, &tool, &arguments);
                    }
                }
                Event::Judged { call, .. } => self.judged.push(call),
                Event::TaskFinished { .. } => self.remember(),
                _ => {}
            }
        }
    }
}
