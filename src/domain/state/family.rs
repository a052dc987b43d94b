//! What each family of events does to the state, and how an event finds its family.

use super::{State, What};
use crate::domain::event::Event;
use crate::domain::{command::Command, id::TaskId};

/// What a family of events does to the state of a session.
pub(super) trait Family {
    /// Changes the state by an event that happened at this moment, in microseconds since the session was
    /// opened.
    fn fold(&self, state: &mut State, at: u64);

    /// The line of the transcript that the event makes, if any, with its task if that is not the one at
    /// work. The state has folded the event.
    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        None
    }

    /// The command that takes the event back; `None` where undoing means nothing.
    fn opposite(&self) -> Option<Command> {
        None
    }
}

impl Event {
    /// Changes the state by this event.
    pub(super) fn fold(&self, state: &mut State, at: u64) {
        match self.family() {
            Some(family) => family.fold(state, at),
            None => state.unknown_events += 1,
        }
    }

    /// The line of the transcript that the event makes, if any.
    pub(super) fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self.family() {
            Some(family) => family.line(state),
            None => What::told(self.clone()),
        }
    }

    /// The command that takes the event back; `None` where undoing means nothing.
    pub(super) fn opposite(&self) -> Option<Command> {
        self.family()?.opposite()
    }

    /// Whether a command can take the event back.
    pub fn is_undoable(&self) -> bool {
        self.opposite().is_some()
    }

    /// `None` for a kind that this version does not know.
    fn family(&self) -> Option<&dyn Family> {
        Some(match self {
            Event::Session(event) => event,
            Event::Task(event) => event,
            Event::ModelCall(event) => event,
            Event::ToolCall(event) => event,
            Event::Embedding(event) => event,
            Event::Fault(event) => event,
            Event::Budget(event) => event,
            Event::Plan(event) => event,
            Event::Search(event) => event,
            Event::Graph(event) => event,
            Event::Change(event) => event,
            Event::Control(event) => event,
            Event::Unknown { .. } => return None,
        })
    }
}
