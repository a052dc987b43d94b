//! The output of a tool, as data.

use serde::{Deserialize, Serialize};

/// What a call returns to the agent. Its producer bounds the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// How many bytes the tool returned in all, when `text` is only the beginning of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}
