//! The places of the parts of calls in a frame.

use serde_json::json;

use super::calls::OLD;
use super::finish;
use crate::answering::CallPiece;
use crate::node::{JsonFields, JsonNode};

/// The parts of calls in the data of one event, or in a whole answer, in the order of the text. Empty if the data is
/// not JSON.
pub fn calls_in(data: &str) -> Vec<CallPiece> {
    let Some(chunk) = JsonNode::of(data).ok().and_then(|node| node.fields()) else {
        return Vec::new();
    };
    let choices = chunk.items("choices");
    let mut pieces = Vec::new();
    for choice in choices.iter().filter_map(JsonNode::fields) {
        let whole = choice.fields("message");
        let is_whole = whole.is_some();
        let Some(part) = whole.or_else(|| choice.fields("delta")) else { continue };
        for (place, call) in part.items("tool_calls").iter().enumerate() {
            let Some(call) = call.fields() else { continue };
            pieces.push(piece(&call, call.fields("function").as_ref(), (place, is_whole)));
        }
        let old = part.fields(OLD);
        pieces.extend(old.iter().map(|old| piece(old, Some(old), (0, is_whole))));
    }
    pieces
}

/// Whether a chunk has a finish reason.
pub fn is_end(data: &str) -> bool {
    let choices = JsonNode::of(data).ok().and_then(|chunk| Some(chunk.fields()?.items("choices")));
    let is_it = |choice: &JsonNode<'_>| {
        let reason = choice.fields().and_then(|choice| choice.get("finish_reason"));
        reason.is_some_and(|reason| is_finish(&reason))
    };
    choices.is_some_and(|choices| choices.iter().any(is_it))
}

/// Whether this is a reason. Some servers write null as a text.
pub(super) fn is_finish(reason: &JsonNode<'_>) -> bool {
    finish::reason(&json!({"finish_reason": reason.value()})).is_some()
}

fn piece(
    call: &JsonFields<'_>,
    function: Option<&JsonFields<'_>>,
    (place, is_whole): (usize, bool),
) -> CallPiece {
    let range = |name: &str| function.and_then(|it| it.get(name)).map(|it| it.range());
    let index = call.number("index");
    CallPiece {
        key: index.unwrap_or(place as u64).to_string(),
        id: call.string("id").map(|id| id.into_owned()),
        name: range("name"),
        arguments: range("arguments"),
        is_whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_found_where_it_stands() {
        let data = r#"{"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "c\u0031", "function":
            {"name": "weather", "arguments": "{\"a\":"}}, {"function": {"arguments": ""}}]}}]}"#;
        let pieces = calls_in(data);
        assert_eq!((pieces[0].key.as_str(), pieces[0].id.as_deref()), ("1", Some("c1")));
        assert_eq!(&data[pieces[0].name.clone().unwrap()], "\"weather\"");
        assert_eq!(&data[pieces[0].arguments.clone().unwrap()], r#""{\"a\":""#);
        assert_eq!((pieces[1].key.as_str(), &pieces[1].name), ("1", &None));
        for none in ["", "[DONE]", "{}", "[]", "{\"choices\":[1,{}]}"] {
            assert_eq!(calls_in(none), [], "{none}");
        }
    }
}
