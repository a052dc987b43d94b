//! Kinds of blocks in a message, by their types.

use serde_json::Value;

use crate::domain::blocks::BlockKind;

/// The kind of a block of this type, for blocks other than texts, calls and results.
pub(super) fn kind(name: &str) -> BlockKind {
    match name {
        "thinking" | "redacted_thinking" => BlockKind::Thinking,
        "image" => BlockKind::Image,
        "document" | "search_result" | "container_upload" => BlockKind::Document,
        "server_tool_use" | "mcp_tool_use" | "tool_reference" | "compaction" => BlockKind::Server,
        // Each tool of the endpoint has its own type of result.
        name if name.ends_with("_tool_result") => BlockKind::Server,
        _ => BlockKind::Unknown,
    }
}

/// The field of a source that has the citations of each text block.
pub(super) const CITATIONS: &str = "citations";

/// The type of a block; an empty text if it has none.
pub(super) fn type_of(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

/// Whether this format has blocks of this type.
pub(super) fn is_known(block: &Value) -> bool {
    kind(type_of(block)) != BlockKind::Unknown
}

/// A block to send. Cache marks move on with every request, and an endpoint accepts only four of them.
pub(super) fn unmarked(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut() {
        fields.shift_remove("cache_control");
    }
    block
}
