//! What plans for a budget are made of, besides the state.

use std::rc::Rc;

use crate::domain::{Embedding, KnownTool};
use crate::model::Model;
use crate::store::experience::{Same, SharedExperience};

/// What earlier sessions are remembered by.
pub(super) struct Memory {
    pub store: SharedExperience,
    /// Whether the past of the very task at work counts.
    pub same: Same,
    /// Its [`Model::embedder`] says what tasks mean; without one they are compared by their words.
    pub embedder: Option<Rc<dyn Model>>,
}

/// What plans are made of, besides the state.
#[derive(Default)]
pub(super) struct Budgeting {
    pub memory: Option<Memory>,
    /// What the task at work means, where that is known.
    pub meaning: Option<Embedding>,
    /// What is known of the candidates of the task at work.
    pub known: Vec<KnownTool>,
}
