//! The events of an answer that have calls or its end.

use super::kinds::ClientCallKind;
use crate::node::{JsonFields, JsonNode};

/// Whether the data of one event, or a whole response, has a part of a call.
pub fn has_call(data: &str) -> bool {
    let Some(fields) = JsonNode::of(data).ok().and_then(|node| node.fields()) else { return false };
    let kind = fields.string("type").unwrap_or_default();
    let part = kind.strip_prefix("response.").and_then(|kind| kind.rsplit_once('.'));
    match (fields.fields("response"), part) {
        (Some(response), _) => has_call_item(&response),
        (None, Some(("output_item", _))) => fields.fields("item").is_some_and(|it| is_call(&it)),
        (None, Some(("function_call_arguments" | "custom_tool_call_input", step))) => {
            step == "delta" || step == "done"
        }
        (None, _) => !kind.starts_with("response.") && has_call_item(&fields),
    }
}

fn has_call_item(response: &JsonFields<'_>) -> bool {
    let items = response.items("output");
    items.iter().filter_map(JsonNode::fields).any(|item| is_call(&item))
}

fn is_call(item: &JsonFields<'_>) -> bool {
    ClientCallKind::of_fields(item).is_some()
}

/// Whether an event has the whole response.
pub fn is_end(data: &str) -> bool {
    const ENDS: [&str; 5] = ["completed", "done", "incomplete", "failed", "cancelled"];
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    let kind = fields.as_ref().and_then(|fields| fields.string("type")).unwrap_or_default();
    kind.strip_prefix("response.").is_some_and(|kind| ENDS.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_responses_have_calls() {
        let item = r#"{"type": "function_call", "id": "fc_1", "call_id": "c\u0031", "name": "weather", "arguments": "{\"a\":1}"}"#;
        let output = format!(r#"{{"output":[{{"type":"message"}},7,{item}]}}"#);
        for data in [
            format!(r#"{{"type":"response.output_item.added","output_index":2,"item":{item}}}"#),
            format!(r#"{{"type":"response.output_item.done","item":{item}}}"#),
            r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{"}"#
                .to_owned(),
            r#"{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","input":"x"}"#
                .to_owned(),
            format!(r#"{{"type":"response.completed","response":{output}}}"#),
            output,
        ] {
            assert!(has_call(&data), "{data}");
        }
    }

    #[test]
    fn where_no_call_is_none_is_found() {
        for none in [
            "",
            "[DONE]",
            "{}",
            "[]",
            r#"{"type":"response.output_text.delta","delta":"function_call"}"#,
            r#"{"type":"response.output_item.done","item":7}"#,
            r#"{"type":"response.created","response":{"output":[]}}"#,
            r#"{"type":"response.function_call_arguments","delta":"x"}"#,
            r#"{"output":[1,{},{"type":"message"}]}"#,
        ] {
            assert!(!has_call(none), "{none}");
        }
    }
}
