//! Embeddings, from the request to the end.

use super::{EffectRef, family::family};
use std::sync::Arc;

use crate::finite::Finite;
use crate::{chat::Usage, error::ModelError, id::TaskId, retrieve::Ranking};

family! {
    /// Embeddings, from the request to the end.
    pub enum EmbeddingEvent {
        /// The embedding of a text is requested: of a task before its first budget plan (BTP, section 2.2), or of the
        /// text by which tools are searched (CoTools, eq. 6).
        EmbeddingRequested {
            effect: EffectRef,
            task: TaskId,
            /// The embedding model, as its endpoint calls it.
            model: String,
            text: String,
        },
        EmbeddingStarted {
            effect: EffectRef,
        },
        EmbeddingFinished {
            effect: EffectRef,
            usage: Usage,
            /// The cost; `None` if the price is unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            dollars: Option<Finite>,
            /// The vector for comparison with past tasks; only its direction counts.
            vector: Vec<i8>,
            /// How well tools fit the text, if it was embedded to find tools.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            ranking: Option<Arc<Ranking>>,
        },
        /// Past tasks, or tools, are compared by their words instead.
        EmbeddingFailed {
            effect: EffectRef,
            error: ModelError,
        },
    }
}
