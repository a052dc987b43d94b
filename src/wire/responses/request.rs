//! Reads a request, as a client wrote it.

use std::borrow::Cow;

use super::items::Items;
use super::tools;
use crate::asked::{IncomingRequest, NotRead};
use crate::body::RequestBody;
use crate::domain::{Finite, Message, Request, Role};
use crate::node::{JsonFields, JsonNode};

/// Fields of a request that are read, or that do not affect the conversation.
const FIELDS: [&str; 35] = [
    // Of a frame on a websocket.
    "type",
    "generate",
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_output_tokens",
    "text",
    "stream",
    "stream_options",
    "store",
    "include",
    "previous_response_id",
    "conversation",
    "prompt",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "parallel_tool_calls",
    "max_tool_calls",
    "reasoning",
    "truncation",
    "service_tier",
    "user",
    "safety_identifier",
    "background",
    "top_logprobs",
    "context_management",
    "moderation",
    "client_metadata",
    "verbosity",
];
/// Contents of a request, which needs at least one of them. A prompt or a past is at the endpoint.
const CONTENTS: [&str; 5] =
    ["input", "instructions", "prompt", "previous_response_id", "conversation"];

/// Reads the body of a request.
///
/// # Errors
/// The body is not JSON, or not an object with an input.
pub fn read_request(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let text = str::from_utf8(bytes)?;
    let mut body = RequestBody::read(text)?;
    if !CONTENTS.iter().any(|name| body.has(name)) {
        return Err(NotRead::NoRequest("expected `input`"));
    }
    let (list, own_tools) = (body.list("input"), body.list("tools").unwrap_or_default());
    let fields = body.fields;
    let mut items = Items::default();
    items.unknown.fields("", &fields, &FIELDS);
    instructions(fields.get("instructions"), &mut items);
    match list {
        Some(list) => list.iter().for_each(|item| items.read(item)),
        None => input(fields.get("input"), &mut items),
    }
    let read = items.finish();
    let mut unknown = read.unknown;
    let number = |name: &str| fields.get(name).and_then(|node| node.f64()).map(Finite::from);
    let limit = fields.number("max_output_tokens");
    let format = fields.fields("text").and_then(|text| text.fields("format"));
    let mut request = Request::new(Role::Actor, read.messages);
    request.messages.name_results();
    let mut defined = read.tools;
    own_tools.iter().for_each(|item| tools::read(item, &mut defined, &mut unknown));
    request.tools = defined.into();
    request.temperature = number("temperature");
    request.top_p = number("top_p");
    request.max_tokens = limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
    request.schema = format.and_then(|it| it.get("schema")).map(|schema| schema.value());
    request.allowed = tools::allowed(&fields);
    Ok(IncomingRequest {
        request,
        model: fields.string("model").unwrap_or_default().into_owned(),
        streams: fields.get("stream").and_then(|node| node.bool()).unwrap_or_default(),
        forces_call: forces_call(&fields),
        prepares: fields.get("generate").and_then(|node| node.bool()) == Some(false),
        calls: read.calls,
        results: read.results,
        failures: read.failures,
        // An answer is several items, so their ends do not show where a request continues.
        list: 0..0,
        before: 0,
        previous: previous(&fields),
        unknown: unknown.0,
    })
}

/// The past that is at the endpoint: an answer, or a conversation by its id or as an object with it.
fn previous(fields: &JsonFields<'_>) -> Option<String> {
    let conversation = || {
        let conversation = fields.get("conversation")?;
        conversation.string().or_else(|| conversation.fields()?.string("id"))
    };
    fields.string("previous_response_id").or_else(conversation).map(Cow::into_owned)
}

/// Whether the model must call a tool. A choice without a word names one.
fn forces_call(fields: &JsonFields<'_>) -> bool {
    match fields.fields("tool_choice") {
        Some(choice) => choice.string("mode").is_none_or(|mode| mode == "required"),
        None => fields.string("tool_choice").as_deref() == Some("required"),
    }
}

/// Reads instructions: a text, or items of their own in responses that are sent again.
fn instructions(node: Option<JsonNode<'_>>, items: &mut Items) {
    let Some(node) = node else { return };
    match node.string() {
        Some(text) => items.push(Message::system(text)),
        None => input(Some(node), items),
    }
}

fn input(node: Option<JsonNode<'_>>, items: &mut Items) {
    match node.map(|node| node.string()) {
        None => {}
        Some(Some(text)) => items.push(Message::user(text)),
        Some(None) => items.unknown.add("input"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::blocks::{Block, BlockKind};

    fn read(body: &Value) -> IncomingRequest {
        read_request(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_text_is_what_the_user_says() {
        let asked = read(&json!({"model": "m", "input": "Hi", "instructions": "Be brief.",
            "stream": true, "max_output_tokens": 5_000_000_000_u64, "hologram": 1}));
        assert_eq!(asked.request.messages, [Message::system("Be brief."), Message::user("Hi")]);
        assert_eq!((asked.model.as_str(), asked.streams), ("m", true));
        assert_eq!(asked.request.max_tokens, Some(u32::MAX));
        assert_eq!(asked.unknown, [("hologram".to_owned(), 1)].into());
        let prepares = |generate: Value| read(&json!({"input": [], "generate": generate})).prepares;
        assert_eq!(
            (asked.prepares, [false, true].map(|it| prepares(it.into()))),
            (false, [true, false])
        );
    }

    #[test]
    fn tools_that_are_no_functions_are_tools_too() {
        let tools = json!([{"type": "web_search"}, {"type": "mcp", "server_label": "wiki"},
            {"type": "custom", "name": "patch", "description": "Edits."}, {"name": "f", "x": 1}, 1]);
        let choice = json!({"type": "allowed_tools", "mode": "auto", "tools": [
            {"type": "function", "name": "f"}, {"type": "web_search"}]});
        let asked = read(&json!({"input": [], "tools": tools, "tool_choice": choice}));
        let names: Vec<&str> = asked.request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["web_search", "wiki", "patch", "f"]);
        assert_eq!(asked.request.tools[2].description, "Edits.");
        assert_eq!(asked.request.allowed, ["f".into(), "web_search".into()]);
        let unknown = ["tools[]", "tools[].x"].map(|what| (what.to_owned(), 1));
        assert_eq!(asked.unknown, unknown.into());
        let forced = json!({"type": "function", "name": "f"});
        assert!(read(&json!({"input": "", "tool_choice": forced})).request.allowed.is_empty());
    }

    #[test]
    fn tools_of_a_namespace_and_of_an_item_are_tools() {
        let shop = json!({"type": "namespace", "name": "mcp__shop", "tools": [
            {"type": "function", "name": "in_stock", "parameters": {"type": "object"}}]});
        let more = json!({"type": "additional_tools", "role": "developer", "tools": [
            {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]});
        let input = json!([more, {"role": "user", "content": "Hi"}]);
        let asked = read(&json!({"input": input, "tools": [shop]}));
        let names: Vec<&str> = asked.request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["exec", "in_stock"]);
        assert_eq!(asked.request.messages, [Message::user("Hi")]);
        assert_eq!(asked.unknown, Default::default());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in ["", "[]", "{}", "{\"model\":\"m\"}", "nix"] {
            assert!(read_request(text.as_bytes()).is_err(), "{text}");
        }
        assert!(matches!(read_request(b"\xFF"), Err(NotRead::NotText(_))));
        let asked = read(&json!({"previous_response_id": "resp_1", "input": {"odd": 1}}));
        assert_eq!(asked.unknown, [("input".to_owned(), 1)].into());
    }

    #[test]
    fn brackets_without_end_are_kept_as_nothing() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        for body in [
            format!("{{\"input\":{deep}}}"),
            format!("{{\"input\":[{{\"type\":\"hologram\",\"x\":{deep}}}]}}"),
            format!("{{\"input\":\"\",\"tools\":[{{\"name\":\"a\",\"parameters\":{deep}}}]}}"),
        ] {
            let asked = read_request(body.as_bytes()).unwrap();
            let kept = asked.request.messages.iter().flat_map(Message::blocks);
            let raw = Block::kept(BlockKind::Unknown, Value::Null);
            assert!(kept.into_iter().all(|block| *block == raw));
        }
        assert!(read_request("[".repeat(10_000).as_bytes()).is_err());
    }
}
