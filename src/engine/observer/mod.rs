//! Who listens to the records of a session, a file each: what is kept beyond it is a matter of listening, not
//! of the engine.

pub(super) mod classes;
pub(super) mod experience;
pub(super) mod journal;
pub(super) mod learned;
pub(super) mod pairs;

use crate::domain::{Event, Record, State};

/// Listens to the records of a session.
pub(super) trait Observer {
    /// What is to be said of a record, which the state has folded.
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event>;

    /// The session ends; what is still to be said.
    fn close(&mut self, _state: &State) -> Vec<Event> {
        Vec::new()
    }
}
