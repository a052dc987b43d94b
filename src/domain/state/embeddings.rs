//! Embeddings, from the request to the end.

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use super::effects::EffectState;
use crate::{error::ModelError, retrieve::Ranking};

/// Request to an embedding model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingState {
    #[serde(flatten)]
    pub effect: EffectState,
    /// As its endpoint calls it.
    pub model: String,
    pub text: String,
    pub error: Option<ModelError>,
    /// Fit of tools to the text, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Arc<Ranking>>,
}

impl Deref for EmbeddingState {
    type Target = EffectState;

    /// An embedding is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
    }
}
