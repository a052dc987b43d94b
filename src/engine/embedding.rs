//! What a planned task means, so that past tasks are compared with it by more than their words (sim of BTP,
//! eq. 3 and 4). What an embedding model made of a text is kept with the past uses, so that no text is paid
//! for twice. Tasks that are not planned are read by `toolyard experience embed`. Where there is no embedding,
//! words are compared.

use std::rc::Rc;

use super::effect::{self, Effect, EmbeddingCall, Outcome};
use super::{handle::Handle, session::Session};
use crate::domain::TaskId;

/// Makes sure that the engine knows what the task's text means, if it can be known.
pub(super) async fn embed(handle: &Handle, task: TaskId) {
    let Some(call) = handle.write(|session| session.unknown_meaning(task)) else { return };
    let requested =
        handle.write(|session| effect::request(session, task, Effect::Embedding(call), None, true));
    if let Outcome::Embedded(Ok(embedded)) = effect::perform(handle, requested).await {
        handle.write(|session| session.budgeting.meaning = embedded.embedding);
    }
}

impl Session {
    /// The call that says what this task means; `None` where nobody can say, or where it is known.
    fn unknown_meaning(&mut self, task: TaskId) -> Option<EmbeddingCall> {
        self.budgeting.meaning = None;
        if !self.policy().has_candidates(task) {
            return None;
        }
        let memory = self.budgeting.memory.as_ref()?;
        let model = Rc::clone(memory.embedder.as_ref()?);
        let store = memory.store.borrow();
        let query = store.query(&self.state.task(task)?.task.text);
        // A store that cannot be read is said when it is planned from.
        self.budgeting.meaning =
            store.embedding(query.text(), model.embedder()?.model()).ok().flatten();
        let text = query.text().to_owned();
        (self.budgeting.meaning.is_none() && !text.is_empty())
            .then_some(EmbeddingCall { model, text })
    }
}
