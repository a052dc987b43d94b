//! The fold of consent: the rules, and the calls that wait for a person's decision.

use super::Family;
use crate::domain::event::ConsentEvent;
use crate::domain::id::TaskId;
use crate::domain::state::{State, What};

impl Family for ConsentEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            ConsentEvent::ConsentAsked { effect, .. } => state.control.asks.push(effect.id),
            ConsentEvent::ConsentGiven { effect, .. } => {
                state.control.asks.retain(|id| *id != effect.id);
            }
            ConsentEvent::ApprovalSet { approval, .. } => state.approval.clone_from(approval),
        }
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        What::told(self.clone())
    }
}
