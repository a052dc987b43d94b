//! The fold of a person's changes to calls in flight.

use std::sync::Arc;

use super::Family;
use crate::chat::{Reply, Request};
use crate::edit::Edit;
use crate::event::{By, EditEvent};
use crate::id::{EffectId, TaskId};
use crate::output::ToolOutput;
use crate::state::{ModelCallPhase, State, ToolCallPhase, What};

impl State {
    /// Keeps a tool's output that a model has read, before the output changes.
    fn withhold(&mut self, id: EffectId) {
        let Some(call) = self.tool_call_mut(id).filter(|call| call.withheld.is_none()) else {
            return;
        };
        let text = call.observation().unwrap_or_default().to_owned();
        call.withheld = Some(Arc::new(ToolOutput::of(text)));
    }

    fn edit(&mut self, id: EffectId, edit: &Edit, shown: bool, by: By) {
        if let Some(effect) = self.effect_mut(id) {
            effect.edits = match by {
                By::Undo(_) => effect.edits.saturating_sub(1),
                _ => effect.edits.saturating_add(1),
            };
        }
        match edit {
            Edit::Arguments(arguments) => {
                let Some(call) = self.tool_call_mut(id) else { return };
                let own = std::mem::replace(&mut call.arguments, arguments.clone());
                call.own.get_or_insert(own);
                call.shows_own = !shown;
            }
            Edit::Messages(messages) => {
                let Some(call) = self.model_call_mut(id) else { return };
                let messages = messages.clone();
                call.request = Arc::new(Request { messages, ..(*call.request).clone() });
            }
            Edit::Result(text) => {
                let Some(call) = self.tool_call_mut(id) else { return };
                let output = Arc::new(ToolOutput::of(text.clone()));
                call.phase = ToolCallPhase::Done { output };
            }
            Edit::Reply { text, calls } => {
                let Some(call) = self.model_call_mut(id) else { return };
                let reply = call.reply().cloned().unwrap_or_else(|| Reply::of_text(""));
                let (text, calls) = (text.clone(), calls.clone());
                call.phase =
                    ModelCallPhase::Done { reply: Arc::new(Reply { text, calls, ..reply }) };
            }
        }
    }
}

impl Family for EditEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            EditEvent::CallEdited { effect, edit, shown, past, by, .. } => {
                if *past {
                    state.withhold(effect.id);
                }
                state.edit(effect.id, edit, *shown, *by);
            }
            EditEvent::CallAnswered { .. } | EditEvent::CallRepeated { .. } => {}
        }
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        What::told(self.clone())
    }
}
