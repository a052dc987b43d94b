//! What plans for a budget are made of, besides the state.

use std::rc::Rc;

use super::Session;
use crate::domain::{Embedding, KnownTool, TaskId};
use crate::engine::{Memory, effect::EmbeddingCall};

/// What plans are made of, besides the state.
#[derive(Default)]
pub struct Budgeting {
    pub memory: Option<Memory>,
    /// What the task at work means, where that is known.
    pub meaning: Option<Embedding>,
    /// What is known of the candidates of the task at work.
    pub known: Vec<KnownTool>,
}

impl Session {
    /// Notes what the task at work means.
    pub fn take_meaning(&mut self, meaning: Option<Embedding>) {
        self.budgeting.meaning = meaning;
    }

    /// The call that embeds this task; `None` without an embedder, or if the embedding is known.
    pub fn unknown_meaning(&mut self, task: TaskId) -> Option<EmbeddingCall> {
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
        let is_unknown = self.budgeting.meaning.is_none() && !text.is_empty();
        is_unknown.then_some(EmbeddingCall { model, text })
    }
}
