//! What a tool gives back, as data.

use serde::{Deserialize, Serialize};

/// What a call gives back to the agent. Bounded in size by whoever produced it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// How many bytes the tool gave in all, when `text` is only the beginning of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}
