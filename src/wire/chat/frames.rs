//! The events of an answer that have calls or its end.

use serde_json::json;

use super::calls::OLD;
use super::finish;
use crate::node::{JsonFields, JsonNode};

/// Whether the data of one event, or a whole answer, has a part of a call.
pub fn has_call(data: &str) -> bool {
    let choices = choices(data);
    choices.iter().filter_map(JsonNode::fields).any(|choice| is_calling(&choice))
}

/// Whether a choice has a part of a call.
pub(super) fn is_calling(choice: &JsonFields<'_>) -> bool {
    let part = choice.fields("message").or_else(|| choice.fields("delta"));
    part.is_some_and(|part| {
        let calls = part.items("tool_calls");
        part.fields(OLD).is_some() || calls.iter().any(|call| call.fields().is_some())
    })
}

/// The choices of a chunk; empty if the data is not JSON.
fn choices(data: &str) -> Vec<JsonNode<'_>> {
    let chunk = JsonNode::of(data).ok().and_then(|chunk| chunk.fields());
    chunk.map(|chunk| chunk.items("choices")).unwrap_or_default()
}

/// Whether a chunk has a finish reason.
pub fn is_end(data: &str) -> bool {
    choices(data).iter().any(|choice| {
        let reason = choice.fields().and_then(|choice| choice.get("finish_reason"));
        reason.is_some_and(|reason| is_finish(&reason))
    })
}

/// Whether this is a reason. Some servers write null as a text.
pub(super) fn is_finish(reason: &JsonNode<'_>) -> bool {
    finish::reason(&json!({"finish_reason": reason.value()})).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_answers_have_calls_in_either_form() {
        for data in [
            r#"{"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "c"}]}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": ""}}]}}]}"#,
            r#"{"choices": [{}, {"message": {"function_call": {"name": "f"}}}]}"#,
        ] {
            assert!(has_call(data), "{data}");
        }
        for none in [
            "",
            "[DONE]",
            "{}",
            "[]",
            r#"{"choices":[1,{}]}"#,
            r#"{"choices":[{"delta":{"content":"tool_calls","tool_calls":[],"function_call":null}}]}"#,
        ] {
            assert!(!has_call(none), "{none}");
        }
    }
}
