//! Parts of a model's reply that were read differently from how the endpoint sent them. Nothing here is a guess.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::ToolName;

/// Part of a reply that was read differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Repair {
    /// The endpoint left the calls of these tools in the text.
    FromText { tools: Vec<ToolName> },
    /// The text has a call that cannot be read, or of a tool that was not offered: the text is not an answer.
    Unread {
        /// The beginning of the call.
        excerpt: String,
    },
    /// A tool was called by another name.
    Name { from: String, to: ToolName },
    /// The arguments of a call were not valid JSON.
    Arguments {
        tool: ToolName,
        /// Error in the arguments, such as `a comma too many`.
        wrong: String,
    },
}

impl Repair {
    /// Whether the endpoint does not recognise calls in its model's text.
    pub fn is_of_text(&self) -> bool {
        matches!(self, Repair::FromText { .. } | Repair::Unread { .. })
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::FromText { tools } => {
                let tools: Vec<_> = tools.iter().map(ToolName::as_str).collect();
                write!(f, "read from text: the call of {}", tools.join(", "))
            }
            Repair::Unread { excerpt } => write!(f, "a call in the text was not read: {excerpt}"),
            Repair::Name { from, to } => write!(f, "repaired: the name {from} was read as {to}"),
            Repair::Arguments { tool, wrong } => {
                write!(f, "repaired: the arguments of {tool} had {wrong}")
            }
        }
    }
}
