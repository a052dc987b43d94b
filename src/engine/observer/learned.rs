//! Saves the knowledge about the tool graph beyond the session, after every task and at the end.

use super::Observer;
use crate::domain::{Event, Learning, Record, SessionEvent, State, TaskEvent};

/// Saves the learned knowledge beyond the session.
pub type Keep = Box<dyn FnMut(&Learning) -> Result<(), String>>;

pub(crate) struct Learned(pub Keep);

impl Observer for Learned {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        match &record.event {
            Event::Task(TaskEvent::TaskFinished { .. }) => self.close(state),
            _ => Vec::new(),
        }
    }

    /// Includes scores that the user set after the last task. A failure loses nothing, since the journal has them.
    fn close(&mut self, state: &State) -> Vec<Event> {
        match self.0(&state.learning) {
            Ok(()) => Vec::new(),
            Err(error) => {
                let text = format!("could not save what was learned: {error}");
                vec![SessionEvent::Noticed { text }.into()]
            }
        }
    }
}
