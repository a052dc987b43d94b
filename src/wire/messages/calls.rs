//! The events of an answer that have calls or its end.

use crate::node::{JsonFields, JsonNode};

/// Whether the data of one event, or a whole answer, has a part of a call. The endpoint's own calls send their arguments
/// in the same events, so a piece of arguments counts as one.
pub fn has_call(data: &str) -> bool {
    let Some(fields) = JsonNode::of(data).ok().and_then(|data| data.fields()) else { return false };
    match fields.string("type").as_deref() {
        Some("content_block_start") => {
            fields.fields("content_block").is_some_and(|it| is_call(&it))
        }
        Some("content_block_delta") => fields.fields("delta").is_some_and(|delta| {
            let is_piece = delta.string("type").is_some_and(|kind| kind == "input_json_delta");
            is_piece && delta.get("partial_json").is_some()
        }),
        Some("message") | None => {
            let blocks = fields.items("content");
            blocks.iter().filter_map(JsonNode::fields).any(|block| is_call(&block))
        }
        Some(_) => false,
    }
}

/// Whether a block is a call of a tool of the client.
pub(super) fn is_call(block: &JsonFields<'_>) -> bool {
    block.string("type").is_some_and(|kind| kind == "tool_use")
}

/// Whether an event has the reason of the end, or is the last one.
pub fn is_end(data: &str) -> bool {
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    let kind = fields.as_ref().and_then(|fields| fields.string("type"));
    kind.is_some_and(|kind| kind == "message_delta" || kind == "message_stop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_answers_have_calls() {
        let start = r#"{"type":"content_block_start","index":1, "content_block":{"type":"tool_use","id":"c","name":"w","input":{}}}"#;
        let delta = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#;
        let whole = r#"{"type":"message","content":[{"type":"text","text":"Hi"},1,{"type":"tool_use","id":"c","name":"w"}]}"#;
        for data in [start, delta, whole, &whole.replace(r#""type":"message","#, "")] {
            assert!(has_call(data), "{data}");
        }
        for other in [
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","name":"w"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}}"#,
            r#"{"type":"message","content":[{"type":"text","text":"tool_use"}]}"#,
            r#"{"type":"ping"}"#,
            "[DONE]",
            "7",
            "",
        ] {
            assert!(!has_call(other), "{other}");
        }
    }
}
