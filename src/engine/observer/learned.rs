//! What was learned of the tool graph is kept beyond the session, after every task and at the end.

use super::Observer;
use crate::domain::{Event, Learning, Record, SessionEvent, State, TaskEvent};

/// Keeps what was learned beyond the session.
pub type Keep = Box<dyn FnMut(&Learning) -> Result<(), String>>;

pub(in crate::engine) struct Learned(pub Keep);

impl Observer for Learned {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        match &record.event {
            Event::Task(TaskEvent::TaskFinished { .. }) => self.close(state),
            _ => Vec::new(),
        }
    }

    /// Scores that the user set after the last task count as well. A failure loses nothing: the journal has
    /// it.
    fn close(&mut self, state: &State) -> Vec<Event> {
        match self.0(&state.learning) {
            Ok(()) => Vec::new(),
            Err(error) => {
                let text = format!("what was learned was not saved: {error}");
                vec![SessionEvent::Noticed { text }.into()]
            }
        }
    }
}
