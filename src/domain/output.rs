//! The output of a tool, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::finite::Finite;

/// Progress of a call, as its tool reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    pub done: Finite,
    /// Value of `done` at the end; `None`: the tool does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Finite>,
    /// For people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Output of a tool call for the agent. Its producer bounds the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// Number of bytes that the tool returned in all, if `text` is only their beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
    /// The whole result in the tool protocol's own form, where `text` does not say all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Arc<str>>,
}

impl ToolOutput {
    /// An output that is this text.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), cut_from: None, whole: None }
    }
}
