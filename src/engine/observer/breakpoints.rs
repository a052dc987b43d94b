//! Saves the breakpoints beyond the session, whenever they change.

use super::Observer;
use crate::domain::{BreakpointEvent, Event, Record, SessionEvent, State};

/// Saves the breakpoints of a state beyond the session.
pub type KeepBreakpoints = Box<dyn FnMut(&State) -> Result<(), String>>;

pub(crate) struct KeptBreakpoints(pub KeepBreakpoints);

impl Observer for KeptBreakpoints {
    fn on(&mut self, record: &Record, state: &State) -> Vec<Event> {
        let is_change = match &record.event {
            Event::Breakpoint(BreakpointEvent::BreakpointSet { temporary, .. }) => !temporary,
            Event::Breakpoint(BreakpointEvent::BreakpointHit { breakpoint, holds, .. }) => {
                // A breakpoint that holds once is off from now on.
                *holds && state.breakpoints.get(breakpoint).is_some_and(|known| known.spec.once)
            }
            Event::Breakpoint(_) => true,
            _ => false,
        };
        match is_change.then(|| self.0(state)) {
            Some(Err(error)) => {
                let text = format!("could not save the breakpoints: {error}");
                vec![SessionEvent::Noticed { text }.into()]
            }
            _ => Vec::new(),
        }
    }
}
