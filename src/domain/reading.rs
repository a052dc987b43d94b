//! Reports of the reader, a language model that reads along, about itself and about the text that it reads.

use serde::{Deserialize, Serialize};

use crate::finite::Finite;

/// The reader of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderAbout {
    /// Name of the model.
    pub model: String,
    /// Where its states are taken, such as `layer 14 mean`.
    pub states: String,
    /// Training data of the heads that compare queries and tools; empty: the states are untrained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<String>,
    /// Training data of the judge of texts, if there is a trained one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// A piece of written text with the judge's probability of a call after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedPiece {
    /// Where it ends in the text, in bytes; it begins where the piece before ends.
    pub end: usize,
    /// The probability that a call starts after it, 0 to 1.
    pub p: Finite<f32>,
}
