//! Observers of a session's records, one file each: persistence beyond the session is done here,
//! not in the engine.

pub(super) mod breakpoints;
pub(super) mod classes;
pub(super) mod experience;
pub(super) mod hidden_tools;
pub(super) mod in_text;
pub(super) mod journal;
pub(super) mod learned;
pub(super) mod loops;
pub(super) mod missing_feedback;
pub(super) mod pairs;
pub(super) mod schemas;
pub(super) mod silent_losses;

use crate::domain::{Event, Record, State};

/// Listens to the records of a session.
pub(super) trait Observer {
    /// Returns events about a record that the state has folded.
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event>;

    /// Returns last events at the end of the session.
    fn close(&mut self, _state: &State) -> Vec<Event> {
        Vec::new()
    }
}
