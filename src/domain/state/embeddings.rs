//! Embeddings, from the request to the end.

use std::ops::Deref;

use serde::Serialize;

use super::{EffectState, State, What, effects::Place, family::Family};
use crate::domain::error::ModelError;
use crate::domain::event::EmbeddingEvent;
use crate::domain::id::{EffectId, TaskId};

/// One request to an embedding model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmbeddingState {
    #[serde(flatten)]
    pub effect: EffectState,
    /// As its endpoint calls it.
    pub model: String,
    pub text: String,
    pub error: Option<ModelError>,
}

impl Deref for EmbeddingState {
    type Target = EffectState;

    /// An embedding is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
    }
}

impl State {
    pub(super) fn apply_embedding(&mut self, at: u64, event: &EmbeddingEvent) {
        match event {
            EmbeddingEvent::EmbeddingRequested { effect, task, model, text } => {
                let place = Place::Embedding(self.embeddings.len());
                let id = effect.id;
                let Some(effect) = self.request(at, *effect, *task, place) else { return };
                let (model, text) = (model.clone(), text.clone());
                self.embeddings.push(EmbeddingState { effect, model, text, error: None });
                self.count_occasions(id);
            }
            EmbeddingEvent::EmbeddingStarted { effect } => self.start(at, *effect),
            EmbeddingEvent::EmbeddingFinished { effect, usage, dollars, .. } => {
                self.end(at, *effect);
                let Some(embedding) = self.embedding(effect.id) else { return };
                let (task, micros) = (embedding.task, embedding.elapsed(at));
                self.charge_model_call(task, self.rates.model(*dollars), micros);
                self.count_tokens(task, *usage, *dollars);
            }
            EmbeddingEvent::EmbeddingFailed { effect, error } => {
                self.end(at, *effect);
                let Some(embedding) = self.embedding_mut(effect.id) else { return };
                embedding.error = Some(error.clone());
                let (task, micros) = (embedding.task, embedding.elapsed(at));
                // Its cost besides time is unknown; refused requests cost nothing.
                self.charge_model_call(task, 0.0, micros);
            }
        }
    }

    fn embedding_mut(&mut self, id: EffectId) -> Option<&mut EmbeddingState> {
        match self.place(id)? {
            Place::Embedding(at) => self.embeddings.get_mut(at),
            Place::ModelCall(_) | Place::ToolCall(_) => None,
        }
    }
}

impl Family for EmbeddingEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_embedding(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            EmbeddingEvent::EmbeddingFinished { .. } | EmbeddingEvent::EmbeddingFailed { .. } => {
                What::told(self.clone())
            }
            EmbeddingEvent::EmbeddingRequested { .. } | EmbeddingEvent::EmbeddingStarted { .. } => {
                None
            }
        }
    }
}
