//! Reads the tools that a server lists.

use rmcp::model::ListToolsResult;

use super::message::Message;
use crate::client::Definition;
use crate::domain::{ToolName, ToolSpec};

/// The tools of an answer to `tools/list`, by the server's own names.
pub fn tools(server: &str, message: &Message<'_>) -> Vec<ToolSpec> {
    let Some(result) = message.result else { return Vec::new() };
    let Ok(list) = serde_json::from_str::<ListToolsResult>(result.get()) else { return Vec::new() };
    let spec = |tool| {
        let definition = Definition::of(tool);
        let spec = definition.spec(ToolName::new(&definition.name), server);
        // Its client decides whether it is called, and how long that may take.
        ToolSpec { timeout_ms: 0, disabled: None, ..spec }
    };
    list.tools.iter().map(spec).collect()
}
