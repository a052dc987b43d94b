//! What a planned task means, so that past tasks are compared with it by more than their words (sim of BTP,
//! eq. 3 and 4). What an embedding model made of a text is kept with the past uses, so that no text is paid
//! for twice. Tasks that are not planned are read by `toolyard experience embed`. Where there is no embedding,
//! words are compared.

use std::{rc::Rc, time::Duration};

use super::{
    effect::{self, Effect, EmbeddingCall, Outcome},
    session::{Handle, Session},
};
use crate::domain::{chat::Usage, id::TaskId, spec::ModelSpec, state::budget::CENT, tokens};

/// Makes sure that the engine knows what the task's text means, if it can be known.
pub(super) async fn embed(handle: &Handle, task: TaskId) {
    let Some(call) = handle.write(|session| session.unknown_meaning(task)) else { return };
    let requested =
        handle.write(|session| effect::request(session, task, Effect::Embedding(call), None, true));
    if let Outcome::Embedded(Ok(embedded)) = effect::perform(handle, requested).await {
        handle.write(|session| session.meaning = embedded.embedding);
    }
}

impl Session {
    /// The call that says what this task means; `None` where nobody can say, or where it is known.
    fn unknown_meaning(&mut self, task: TaskId) -> Option<EmbeddingCall> {
        self.meaning = None;
        if !self.has_candidates(task) {
            return None;
        }
        let memory = self.memory.as_ref()?;
        let model = Rc::clone(memory.embedder.as_ref()?);
        let store = memory.store.borrow();
        let query = store.query(&self.state.task(task)?.task.text);
        // A store that cannot be read is said when it is planned from.
        self.meaning = store.embedding(query.text(), model.embedder()?.model()).ok().flatten();
        let text = query.text().to_owned();
        (self.meaning.is_none() && !text.is_empty()).then_some(EmbeddingCall { model, text })
    }

    /// Whether the budget pays for an embedding and for finishing behind it. A price that is not known
    /// counts as that of any request.
    pub fn affords_embedding(
        &self,
        task: TaskId,
        model: &ModelSpec,
        text: &str,
    ) -> Result<(), String> {
        let cost = self.embedding_cost(model, text);
        let (reserve, left) = (self.beside_uses(task), self.state.credits_left());
        if cost + reserve + self.least_time() > left + CENT {
            return Err(format!(
                "asking the embedding model costs about {cost:.2} credits, {reserve:.2} are kept to \
                 finish, and {left:.2} are left"
            ));
        }
        Ok(())
    }

    /// How long an embedding may take; `None` where seconds are free.
    pub fn embedding_time(&self, task: TaskId, model: &ModelSpec, text: &str) -> Option<Duration> {
        self.reading_time(task, self.embedding_cost(model, text))
    }

    fn embedding_cost(&self, model: &ModelSpec, text: &str) -> f64 {
        let usage = Usage::estimate(tokens::count(text), 0);
        self.state.rates.model(model.price(&usage))
    }
}
