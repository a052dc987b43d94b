//! Facts about a model that are known before it reads a text.

use super::{error::ModelFileFault, gguf::Metadata, shape::Shape};

/// Facts of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The model's name in its file; empty if it has none. The text is not trusted.
    pub name: String,
    /// The number of layers.
    pub layers: usize,
    /// Numbers in a state.
    pub width: usize,
    /// Numbers inside a feed-forward network.
    pub feed_forward: usize,
    /// Tokens in the vocabulary.
    pub vocabulary: usize,
    /// The longest sequence that is read, in tokens.
    pub context: usize,
    /// The size of the file in bytes.
    pub size: u64,
}

impl Facts {
    pub(super) fn read(
        metadata: &Metadata,
        shape: &Shape,
        vocabulary: usize,
        size: u64,
    ) -> Result<Self, ModelFileFault> {
        Ok(Self {
            name: metadata.text("general.name")?.unwrap_or_default().to_owned(),
            layers: shape.layers,
            width: shape.width,
            feed_forward: shape.feed_forward,
            vocabulary,
            context: shape.context,
            size,
        })
    }
}
