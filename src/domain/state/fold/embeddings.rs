//! The fold of embeddings.

use super::Family;
use crate::event::EmbeddingEvent;
use crate::id::TaskId;
use crate::state::models::CallUsage;
use crate::state::{EffectIndex, EmbeddingState, State, What};

impl State {
    fn apply_embedding(&mut self, at: u64, event: &EmbeddingEvent) {
        match event {
            EmbeddingEvent::EmbeddingRequested { effect, task, model, text } => {
                let place = EffectIndex::Embedding(self.embeddings.len());
                let Some(effect) = self.request(at, *effect, *task, place) else { return };
                let (model, text) = (model.clone(), text.clone());
                let (error, ranking) = (None, None);
                self.embeddings.push(EmbeddingState { effect, model, text, error, ranking });
            }
            EmbeddingEvent::EmbeddingStarted { effect } => self.start(at, *effect),
            EmbeddingEvent::EmbeddingFinished { effect, usage, dollars, ranking, .. } => {
                self.end(at, *effect);
                let Some(embedding) = self.embedding_mut(effect.id) else { return };
                embedding.ranking.clone_from(ranking);
                let (task, micros) = (embedding.task, embedding.elapsed(at));
                let credits = self.rates.model(*dollars);
                let used = CallUsage { usage: *usage, dollars: *dollars, credits, micros };
                self.models.embedded(used);
                self.charge_model_call(task, credits, micros);
                self.count_tokens(task, *usage, *dollars, false);
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
