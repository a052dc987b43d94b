//! Edits of a call in flight by a person: of its input, or of its outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::ToolCall;
use super::messages::Messages;

/// The new contents of a part of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// The arguments of a tool call, before it starts.
    Arguments(Value),
    /// The messages of a model call, before it starts.
    Messages(Messages),
    /// The result of a tool call, before the agent sees it.
    Result(String),
    /// The reply of a model, before the agent sees it.
    Reply { text: String, calls: Vec<ToolCall> },
}

impl Edit {
    /// Returns a word for the edited part, for a person.
    pub fn name(&self) -> &'static str {
        match self {
            Edit::Arguments(_) => "arguments",
            Edit::Messages(_) => "prompt",
            Edit::Result(_) => "result",
            Edit::Reply { .. } => "reply",
        }
    }
}
