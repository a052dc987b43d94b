//! The memory of earlier sessions.

use std::rc::Rc;

use crate::model::Model;
use crate::store::experience::{Same, SharedExperience};

/// Access to the experience of earlier sessions.
pub struct Memory {
    pub store: SharedExperience,
    /// Whether the store outlives the session, so that it has the uses of one that goes on.
    pub is_kept: bool,
    /// Whether past uses of the identical task count.
    pub same: Same,
    /// The model whose [`Model::embedder`] computes embeddings of tasks; without one, tasks are compared by their
    /// words.
    pub embedder: Option<Rc<dyn Model>>,
}
