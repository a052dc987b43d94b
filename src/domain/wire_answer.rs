//! An endpoint's answer as it came, so that an agent that runs again gets the same bytes.

use serde::{Deserialize, Serialize};

/// An answer of an endpoint as its client got it: without a coding, and without the headers of the connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireAnswer {
    pub status: u16,
    /// The headers that clients act on, by their names in small letters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    pub body: WireBody,
    /// Whether the connection broke before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The body of an answer. The events of a stream repeat most of their text, so that packed they take a tenth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WireBody {
    Text(String),
    Packed {
        /// The text, compressed with deflate, in base64.
        deflate: String,
    },
}
