//! The places of the parts of calls in an event or in a whole response.

use std::ops::Range;

use super::kinds::ClientCallKind;
use crate::answering::CallPiece;
use crate::node::{JsonFields, JsonNode};

/// The parts of calls in the data of one event, or in a whole response, in the order of the text. Empty if the data is
/// not JSON. Their key is the index of the item, or its id if a server sends no index.
pub fn calls_in(data: &str) -> Vec<CallPiece> {
    let Some(fields) = JsonNode::of(data).ok().and_then(|node| node.fields()) else {
        return Vec::new();
    };
    let kind = fields.string("type").unwrap_or_default();
    if let Some(response) = fields.fields("response") {
        let is_end = ["response.created", "response.in_progress", "response.queued"]
            .iter()
            .all(|begin| kind != *begin);
        return in_output(&response, is_end);
    }
    match kind.strip_prefix("response.") {
        Some(kind) => in_part(kind, &fields).into_iter().collect(),
        None => in_output(&fields, true),
    }
}

/// Whether an event has the whole response.
pub fn is_end(data: &str) -> bool {
    const ENDS: [&str; 5] = ["completed", "done", "incomplete", "failed", "cancelled"];
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    let kind = fields.as_ref().and_then(|fields| fields.string("type")).unwrap_or_default();
    kind.strip_prefix("response.").is_some_and(|kind| ENDS.contains(&kind))
}

/// The calls of a response.
fn in_output(response: &JsonFields<'_>, is_whole: bool) -> Vec<CallPiece> {
    let output = response.items("output");
    let items = output.iter().enumerate();
    items.filter_map(|(at, item)| of_item(at.to_string(), &item.fields()?, is_whole)).collect()
}

/// The part of a call in an event of one item.
fn in_part(kind: &str, event: &JsonFields<'_>) -> Option<CallPiece> {
    let (stem, step) = kind.rsplit_once('.')?;
    let index = event.number("output_index");
    let index = index.map(|index| index.to_string());
    let of_id = |fields: &JsonFields<'_>, name: &str| fields.string(name).map(|id| id.into_owned());
    if stem == "output_item" {
        let item = event.fields("item")?;
        let key = index.or_else(|| of_id(&item, "id")).unwrap_or_default();
        return of_item(key, &item, step == "done");
    }
    let call = match stem {
        "function_call_arguments" => ClientCallKind::Function,
        "custom_tool_call_input" => ClientCallKind::Custom,
        _ => return None,
    };
    let range = |name: &str| event.get(name).map(|node| node.range());
    let (arguments, is_whole): (Option<Range<usize>>, bool) = match step {
        "delta" => (range("delta"), false),
        "done" => (range(call.input(|_| true)), true),
        _ => return None,
    };
    let key = index.or_else(|| of_id(event, "item_id")).unwrap_or_default();
    Some(CallPiece { key, id: of_id(event, "call_id"), name: range("name"), arguments, is_whole })
}

fn of_item(key: String, item: &JsonFields<'_>, is_whole: bool) -> Option<CallPiece> {
    let call = ClientCallKind::of_fields(item)?;
    let range = |name: &str| item.get(name).map(|node| node.range());
    let id = item.string("call_id").map(|id| id.into_owned());
    let arguments = range(call.input(|name| item.get(name).is_some()));
    Some(CallPiece { key, id, name: range("name"), arguments, is_whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(data: &str) -> Vec<(String, Option<String>, &str, &str, bool)> {
        let text = |range: Option<Range<usize>>| range.map_or("", |range| &data[range]);
        let piece = |it: CallPiece| (it.key, it.id, text(it.name), text(it.arguments), it.is_whole);
        calls_in(data).into_iter().map(piece).collect()
    }

    #[test]
    fn each_part_of_a_call_is_found_where_it_stands() {
        let item = r#"{"type": "function_call", "id": "fc_1", "call_id": "c\u0031", "name": "weather", "arguments": "{\"a\":1}"}"#;
        let custom =
            r#"{"type":"custom_tool_call","id":"ctc_1","call_id":"c2","name":"patch","input":"x"}"#;
        let c1 = Some("c1".to_owned());
        let of =
            |key: &str, whole| (key.to_owned(), c1.clone(), "\"weather\"", r#""{\"a\":1}""#, whole);
        let added =
            format!(r#"{{"type":"response.output_item.added","output_index":2,"item":{item}}}"#);
        assert_eq!(pieces(&added), [of("2", false)]);
        let done = format!(r#"{{"type":"response.output_item.done","item":{item}}}"#);
        assert_eq!(pieces(&done), [of("fc_1", true)]);
        let delta = r#"{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{"}"#;
        assert_eq!(pieces(delta), [("2".to_owned(), None, "", "\"{\"", false)]);
        let end =
            r#"{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","input":"x"}"#;
        assert_eq!(pieces(end), [("ctc_1".to_owned(), None, "", "\"x\"", true)]);
        let output = format!(r#"{{"output":[{{"type":"message"}},{item},{custom}]}}"#);
        let both =
            [of("1", true), ("2".to_owned(), Some("c2".to_owned()), "\"patch\"", "\"x\"", true)];
        assert_eq!(pieces(&output), both);
        let completed = format!(r#"{{"type":"response.completed","response":{output}}}"#);
        assert_eq!(pieces(&completed), both);
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
            assert_eq!(calls_in(none), [], "{none}");
        }
    }
}
