//! What a language model that reads along, the reader, says of itself and of the text that it reads.

use serde::{Deserialize, Serialize};

use crate::finite::Finite;

/// The reader of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderAbout {
    /// Its name.
    pub model: String,
    /// Where its states are taken, such as `layer 14 mean`.
    pub states: String,
    /// What the heads that compare queries and tools have learned from; none: untrained states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<String>,
    /// What the judge of texts has learned from, if there is a trained one.
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
