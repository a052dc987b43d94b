//! The places of the parts of calls in an answer.

use crate::CallPiece;
use crate::node::{JsonFields, JsonNode};

/// The parts of calls in the data of one event, or in a whole answer. Their key is the index of the block.
///
/// The endpoint's own calls send their arguments in the same events. So a piece belongs to a call only if an earlier
/// piece with this key began one.
pub fn calls_in(data: &str) -> Vec<CallPiece> {
    let Some(fields) = JsonNode::of(data).ok().and_then(|data| data.fields()) else {
        return Vec::new();
    };
    let index = || fields.number("index").unwrap_or(0);
    match fields.string("type").as_deref() {
        Some("content_block_start") => {
            let block = fields.fields("content_block");
            block.and_then(|block| call(index(), &block, false)).into_iter().collect()
        }
        Some("content_block_delta") => {
            let delta = fields.fields("delta");
            delta.and_then(|delta| piece(index(), &delta)).into_iter().collect()
        }
        Some("message") | None => {
            let blocks = fields.items("content");
            let calls = (0..).zip(&blocks).map(|(at, block)| call(at, &block.fields()?, true));
            calls.flatten().collect()
        }
        Some(_) => Vec::new(),
    }
}

/// Whether an event has the reason of the end, or is the last one.
pub fn is_end(data: &str) -> bool {
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    let kind = fields.as_ref().and_then(|fields| fields.string("type"));
    kind.is_some_and(|kind| kind == "message_delta" || kind == "message_stop")
}

/// A call. At the start of a stream its input is an empty object, a placeholder for the pieces that follow.
fn call(index: u64, block: &JsonFields<'_>, is_whole: bool) -> Option<CallPiece> {
    let kind = block.string("type");
    kind.filter(|kind| kind == "tool_use")?;
    let input = block.get("input");
    let is_some = |input: &JsonNode<'_>| input.fields().is_none_or(|it| it.iter().next().is_some());
    let input = input.filter(|input| is_whole || is_some(input));
    Some(CallPiece {
        key: index.to_string(),
        id: block.string("id").map(|id| id.into_owned()),
        name: block.get("name").map(|name| name.range()),
        is_whole: is_whole || input.is_some(),
        arguments: input.map(|input| input.range()),
    })
}

/// The next piece of a call's arguments.
fn piece(index: u64, delta: &JsonFields<'_>) -> Option<CallPiece> {
    let kind = delta.string("type");
    kind.filter(|kind| kind == "input_json_delta")?;
    let arguments = Some(delta.get("partial_json")?.range());
    Some(CallPiece { key: index.to_string(), arguments, ..CallPiece::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, id, name, arguments and whether they are whole, as in the text.
    fn shown(data: &str) -> Vec<(String, String, String, String, bool)> {
        let at = |range: Option<std::ops::Range<usize>>| {
            range.map_or("", |range| &data[range]).to_owned()
        };
        let show = |piece: CallPiece| {
            let id = piece.id.unwrap_or_default();
            (piece.key, id, at(piece.name), at(piece.arguments), piece.is_whole)
        };
        calls_in(data).into_iter().map(show).collect()
    }

    fn row(
        key: &str,
        id: &str,
        name: &str,
        arguments: &str,
        is_whole: bool,
    ) -> (String, String, String, String, bool) {
        (key.into(), id.into(), name.into(), arguments.into(), is_whole)
    }

    #[test]
    fn events_have_the_pieces_of_a_call() {
        let start = r#"{"type":"content_block_start","index":1, "content_block":{"type":"tool_use","id":"c","name":"w","input":{}}}"#;
        assert_eq!(shown(start), [row("1", "c", "\"w\"", "", false)]);
        let filled = start.replace("{}", r#"{"a": 1}"#);
        assert_eq!(shown(&filled), [row("1", "c", "\"w\"", r#"{"a": 1}"#, true)]);
        let delta = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#;
        assert_eq!(shown(delta), [row("1", "", "", r#""{\"a\":""#, false)]);
        for other in [
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","name":"w"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}}"#,
            r#"{"type":"ping"}"#,
            "[DONE]",
            "7",
            "",
        ] {
            assert_eq!(shown(other), [], "{other}");
        }
    }

    #[test]
    fn a_whole_answer_has_whole_calls() {
        let whole = r#"{"type":"message","content":[{"type":"text","text":"Hi"},
            {"type":"tool_use","id":"c","name":"w","input":{}},{"type":"tool_use","id":"d","name":"v"},1]}"#;
        let expected = [row("1", "c", "\"w\"", "{}", true), row("2", "d", "\"v\"", "", true)];
        assert_eq!(shown(whole), expected);
    }
}
