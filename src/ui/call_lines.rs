//! Calls as the command lines that make them again.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{ModelName, Request, ToolName};

/// A call that a person wants to make again by hand.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    Model {
        model: ModelName,
        request: Arc<Request>,
    },
    /// `workspace`: where the session's tools are from.
    Tool {
        tool: ToolName,
        arguments: Value,
        workspace: String,
    },
}

/// Gives the command line that makes a call. An error says why there is none.
pub type AsCommand = Box<dyn Fn(&Called) -> Result<String, String>>;
