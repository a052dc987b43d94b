//! The output of a tool, as data.

use serde::{Deserialize, Serialize};

use crate::finite::Finite;

/// How far a call is, as its tool says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    pub done: Finite,
    /// What `done` is at the end; `None`: the tool does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Finite>,
    /// For people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What a call returns to the agent. Its producer bounds the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// How many bytes the tool returned in all, when `text` is only the beginning of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}
