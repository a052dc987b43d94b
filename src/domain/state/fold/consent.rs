//! The fold of consent: the rules, and the calls that wait for a person's decision.

use super::Family;
use crate::chance::canonical;
use crate::event::ConsentEvent;
use crate::id::{EffectId, TaskId, ToolName};
use crate::state::{State, What};

impl State {
    /// Returns the tool and the canonical arguments of a call.
    fn made_by(&self, call: EffectId) -> Option<(ToolName, String)> {
        let call = self.tool_call(call)?;
        Some((call.tool.clone(), canonical(&call.arguments)))
    }

    /// Whether the same call ran when the session was interrupted and may have changed something. Consent of a person
    /// ends this.
    pub fn is_unknown(&self, call: EffectId) -> bool {
        !self.unknown.is_empty()
            && self.made_by(call).is_some_and(|made| self.unknown.contains(&made))
    }
}

impl Family for ConsentEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            ConsentEvent::ConsentAsked { effect, .. } => state.control.asks.push(effect.id),
            ConsentEvent::OutcomeUnknown { effect } => {
                if let Some(made) =
                    state.made_by(effect.id).filter(|_| !effect.class.is_repeatable())
                {
                    state.unknown.insert(made);
                }
            }
            ConsentEvent::ConsentGiven { effect, allowed, .. } => {
                state.control.asks.retain(|id| *id != effect.id);
                if let Some(made) = state.made_by(effect.id).filter(|_| *allowed) {
                    state.unknown.remove(&made);
                }
            }
            ConsentEvent::ApprovalSet { approval, .. } => state.approval.clone_from(approval),
        }
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        What::told(self.clone())
    }
}
