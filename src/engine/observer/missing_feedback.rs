//! Reports that `+reflexion` lacks feedback: an answer is then never known to be wrong.

use super::Observer;
use crate::domain::{Event, Knob, Record, SessionEvent, State, TaskEvent};

const TEXT: &str = "+reflexion has no effect on answers: gold_feedback is off, so none counts as wrong; only \
                    tasks without an answer are retried";

/// Reports this once.
#[derive(Default)]
pub(crate) struct Unfed {
    told: bool,
}

impl Observer for Unfed {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let begins = matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. }));
        let is_unfed = state.strategy.reflexion && !state.knobs.is_on(Knob::GoldFeedback);
        if self.told || !begins || !is_unfed {
            return Vec::new();
        }
        self.told = true;
        vec![SessionEvent::Noticed { text: TEXT.to_owned() }.into()]
    }
}
