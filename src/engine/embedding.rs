//! Embeddings of planned tasks, so that they are compared with past tasks by more than words (sim
//! of BTP, eq. 3 and 4). Embeddings are stored with the past uses, so that each text is paid for
//! once. `toolyard experience embed` embeds tasks that were not planned. Without an embedding,
//! words are compared.

use std::rc::Rc;

use super::effect::{self, Effect, EmbeddingCall, Outcome};
use super::lanes::Waits;
use super::{handle::Handle, session::Session};
use crate::domain::TaskId;

/// Ensures that the engine has the embedding of the task's text, if one is possible.
pub(super) async fn embed(handle: &Handle, task: TaskId) {
    let Some(call) = handle.write(|session| session.unknown_meaning(task)) else { return };
    let requested = handle.write(|session| {
        effect::request(session, task, Effect::Embedding(call), None, Waits::Agent)
    });
    if let (Outcome::Embedded(Ok(embedded)), _) = effect::perform(handle, requested).await {
        handle.write(|session| session.budgeting.meaning = embedded.embedding);
    }
}

impl Session {
    /// The call that embeds this task; `None` without an embedder, or if the embedding is known.
    fn unknown_meaning(&mut self, task: TaskId) -> Option<EmbeddingCall> {
        self.budgeting.meaning = None;
        if !self.policy().has_candidates(task) {
            return None;
        }
        let memory = self.budgeting.memory.as_ref()?;
        let model = Rc::clone(memory.embedder.as_ref()?);
        let store = memory.store.lock();
        let query = store.query(&self.state.task(task)?.task.text);
        // An unreadable store is reported when the plan is made.
        self.budgeting.meaning =
            store.embedding(query.text(), model.embedder()?.model()).ok().flatten();
        let text = query.text().to_owned();
        (self.budgeting.meaning.is_none() && !text.is_empty()).then_some(EmbeddingCall {
            model,
            text,
            ranker: None,
        })
    }
}
