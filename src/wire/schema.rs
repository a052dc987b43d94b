//! Definitions of tools that are not functions.

use serde_json::json;

use crate::domain::ToolDef;

/// A tool that the endpoint has built in: its arguments are not known.
pub fn tool_without_schema(kind: &str) -> ToolDef {
    let parameters = json!({"type": "object", "properties": {}}).into();
    ToolDef { name: kind.into(), description: String::new(), parameters }
}
