//! The fold of a reader's reports.

use super::Family;
use crate::event::ReaderEvent;
use crate::id::TaskId;
use crate::state::{ReaderState, State, What};

impl Family for ReaderEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            ReaderEvent::HeadsLoaded { reader } => {
                let known = state.reader.take().unwrap_or_default();
                state.reader = Some(ReaderState { about: reader.clone(), failed: None, ..known });
            }
            ReaderEvent::ToolEncoded { encoded, tools } => {
                let Some(reader) = &mut state.reader else { return };
                (reader.encoded, reader.tools) = (*encoded, *tools);
            }
            ReaderEvent::ToolsMapped {} => {}
            ReaderEvent::ReaderFailed { error } => {
                state.reader.get_or_insert_default().failed = Some(error.clone());
            }
            ReaderEvent::TokenJudged { effect, pieces } => {
                let Some(call) = state.model_call_mut(effect.id) else { return };
                call.judged.extend(pieces);
            }
        }
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ReaderEvent::HeadsLoaded { .. } | ReaderEvent::ReaderFailed { .. } => {
                What::told(self.clone())
            }
            ReaderEvent::ToolEncoded { .. }
            | ReaderEvent::ToolsMapped {}
            | ReaderEvent::TokenJudged { .. } => None,
        }
    }
}
