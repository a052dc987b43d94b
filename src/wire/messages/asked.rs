//! A request of a client: its settings and its tools.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::past::MessageHistory;
use crate::asked::{IncomingRequest, NotRead, Unknown, list_of};
use crate::body::RequestBody;
use crate::domain::{Finite, Request, Role, ToolDef, ToolName};
use crate::node::{JsonFields, JsonItem};
use crate::schema::tool_without_schema;

/// Fields of a request. Some have no place in a [`Request`] but are known.
const KNOWN: [&str; 31] = [
    "model",
    "max_tokens",
    "system",
    "messages",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
    "metadata",
    "thinking",
    "output_config",
    "output_format",
    "mcp_servers",
    "service_tier",
    "container",
    "context_management",
    "cache_control",
    "inference_geo",
    "speed",
    "thread",
    "diagnostics",
    "compaction",
    "billing_policy",
    "fallbacks",
    "user_profile_id",
    "workspace_id",
    // Of clouds, which take no such headers.
    "anthropic_version",
    "anthropic_beta",
];
/// Fields of a tool that a client runs.
const OF_TOOL: [&str; 10] = [
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "defer_loading",
    "eager_input_streaming",
    "input_examples",
    "allowed_callers",
];

/// Reads the body of a request.
///
/// # Errors
/// The body is not a JSON object, or has no list of messages.
pub fn read_request(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let mut body = RequestBody::read(str::from_utf8(bytes)?)?;
    let messages = body.list("messages");
    let messages = messages.ok_or(NotRead::NoRequest("expected a list `messages`"))?;
    let tools = body.list("tools").unwrap_or_default();
    let body = body.fields;
    let mut past = MessageHistory::default();
    past.unknown.fields("", &body, &KNOWN);
    if let Some(system) = body.get("system") {
        past.system(&system);
    }
    let (list, before) = (list_of(&messages), past.messages.len());
    messages.iter().for_each(|message| past.message(message));
    let MessageHistory { messages, calls, results, failures, mut unknown, .. } = past;
    let mut request = Request {
        tools: tools.iter().filter_map(|def| tool(def, &mut unknown)).collect(),
        temperature: number(&body, "temperature"),
        top_p: number(&body, "top_p"),
        max_tokens: body.get("max_tokens").and_then(|most| u32::try_from(most.u64()?).ok()),
        stop: texts(&body, "stop_sequences"),
        schema: schema(&body),
        allowed: allowed(&body).into_iter().collect(),
        ..Request::new(Role::Actor, messages)
    };
    request.messages.name_results();
    let model = body.string("model").unwrap_or_default().into_owned();
    let streams = body.get("stream").and_then(|streams| streams.bool()).unwrap_or(false);
    let unknown = unknown.0;
    Ok(IncomingRequest {
        request,
        model,
        streams,
        forces_call: forces_call(&body),
        prepares: false,
        calls,
        results,
        failures,
        list,
        before,
        // The endpoint holds the messages of a thread, and the client sends only the new ones.
        previous: body
            .fields("thread")
            .and_then(|thread| thread.string("previous_message_id"))
            .map(Cow::into_owned),
        unknown,
    })
}

fn number(body: &JsonFields<'_>, name: &str) -> Option<Finite> {
    body.get(name).and_then(|number| number.f64()).map(Finite::from)
}

fn texts(body: &JsonFields<'_>, name: &str) -> Vec<String> {
    let items = body.items(name);
    items.iter().filter_map(|item| item.string()).map(|text| text.into_owned()).collect()
}

/// The schema of the answer, at its current place or at that of the beta.
fn schema(body: &JsonFields<'_>) -> Option<Value> {
    let config = body.fields("output_config").and_then(|config| config.fields("format"));
    let format = config.or_else(|| body.fields("output_format"))?;
    Some(format.get("schema")?.value())
}

/// The only tool that may be called, if the client chose one.
fn allowed(body: &JsonFields<'_>) -> Option<ToolName> {
    let choice = body.fields("tool_choice")?;
    let name = choice.string("name").filter(|_| choice.string("type").as_deref() == Some("tool"));
    Some(name?.as_ref().into())
}

/// Whether the model must call a tool.
fn forces_call(body: &JsonFields<'_>) -> bool {
    let choice = body.fields("tool_choice");
    choice.is_some_and(|choice| matches!(choice.string("type").as_deref(), Some("any" | "tool")))
}

/// A tool. A tool that the endpoint runs has a type of its own, and no schema.
fn tool(def: &JsonItem<'_>, unknown: &mut Unknown) -> Option<ToolDef> {
    let Some(fields) = &def.fields else {
        unknown.add("tools[]");
        return None;
    };
    let kind = fields.string("type").filter(|kind| kind != "custom");
    if kind.is_none() {
        unknown.fields("tools[].", fields, &OF_TOOL);
    }
    let name = fields.string("name").or_else(|| fields.string("mcp_server_name")).or(kind)?;
    let mut tool = tool_without_schema(&name);
    tool.description = fields.string("description").unwrap_or_default().into_owned();
    if let Some(schema) = fields.get("input_schema") {
        tool.parameters = Arc::new(schema.value());
    }
    Some(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Message;
    use crate::domain::blocks::{Block, BlockKind};
    use crate::patch;

    fn read(body: &Value) -> IncomingRequest {
        read_request(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn settings_and_tools_are_read() {
        let asked = read(&json!({
            "model": "claude-sonnet-4-5", "max_tokens": 64, "stream": true, "temperature": 0.5, "top_p": 0.9,
            "top_k": 3, "stop_sequences": ["END"], "metadata": {"user_id": "u"}, "mcp_servers": [],
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "hologram": 1,
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
            "tool_choice": {"type": "tool", "name": "weather"},
            "tools": [
                {"name": "weather", "description": "W.", "input_schema": {"type": "object"}, "colour": 1},
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
                {"type": "mcp_toolset", "mcp_server_name": "files"}, 7,
            ],
            "system": [{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "B"}],
            "messages": [{"role": "user", "content": "Hi"}],
        }));
        assert_eq!((asked.model.as_str(), asked.streams), ("claude-sonnet-4-5", true));
        let request = asked.request;
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["weather", "web_search", "files"]);
        assert_eq!(*request.tools[1].parameters, json!({"type": "object", "properties": {}}));
        assert_eq!((request.max_tokens, request.stop), (Some(64), vec!["END".to_owned()]));
        assert_eq!(request.temperature, Some(0.5.into()));
        assert_eq!(request.schema, Some(json!({"type": "object"})));
        assert_eq!(request.allowed, ["weather".into()]);
        let expected = [Message::system("A"), Message::system("B"), Message::user("Hi")];
        assert_eq!(request.messages, expected);
        let unknown: Vec<_> = asked.unknown.keys().map(String::as_str).collect();
        assert_eq!(unknown, ["hologram", "tools[]", "tools[].colour"]);
    }

    #[test]
    fn a_thread_names_the_answer_that_it_goes_on_from() {
        let begun = json!({"thread": {"type": "create"}, "messages": []});
        assert_eq!(read(&begun).previous, None);
        let on = json!({"thread": {"type": "continue", "previous_message_id": "msg_1"}, "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}]});
        let asked = read(&on);
        assert_eq!((asked.previous.as_deref(), asked.unknown), (Some("msg_1"), [].into()));
    }

    #[test]
    fn a_conversation_is_read_with_its_places() {
        let body = json!({"system": "S", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "See"},
                {"type": "image", "source": {"type": "url", "url": "u"}}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1.50}},
                {"type": "tool_use", "id": "c2", "name": "b", "input": {}, "caller": {"type": "direct"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "is_error": true,
                    "content": [{"type": "text", "text": "two"}, {"type": "hologram"}]},
                {"type": "tool_result", "tool_use_id": "c3"},
                {"type": "text", "text": "Go on"}]},
        ]});
        let text = body.to_string();
        let asked = read(&body);
        let all: Vec<&Message> = asked.request.messages.iter().collect();
        let [system, user, assistant, one, two, three, last] = all[..] else {
            panic!("{:?}", asked.request.messages)
        };
        assert_eq!((system, last), (&Message::system("S"), &Message::user("Go on")));
        assert_eq!((user.text(), user.blocks().len()), ("See", 2));
        let Message::Assistant { calls, source: Some(source), .. } = assistant else { panic!() };
        assert_eq!((calls.len(), source.blocks.len(), source.calls.len()), (2, 3, 1));
        assert_eq!(one, &Message::result("c1", "a".into(), "one"));
        let Message::Tool { tool, text: said, blocks, failed: true, .. } = two else { panic!() };
        assert_eq!((tool.as_str(), said.as_str()), ("b", "two"));
        assert!(matches!(blocks[1], Block::Kept { kind: BlockKind::Unknown, .. }));
        assert_eq!(three, &Message::result("c3", "".into(), ""));
        let places = asked.calls.iter().chain(&asked.results);
        let places: Vec<_> = places.map(|it| (it.number, &text[it.range.clone()])).collect();
        let list = "[{\"type\":\"text\",\"text\":\"two\"},{\"type\":\"hologram\"}]";
        // The last one has no content; that can be added.
        let expected = [(0, "{\"x\":1.5}"), (1, "{}"), (0, "\"one\""), (1, list), (2, "")];
        assert_eq!(places, expected);
        let failures = asked.failures.iter().map(|it| (it.number, &text[it.range.clone()]));
        assert_eq!(failures.collect::<Vec<_>>(), [(0, ""), (1, "true"), (2, "")]);
        let replacements = [(asked.results[2].range.clone(), asked.results[2].written("x", false))];
        let replacements =
            replacements.each_ref().map(|(range, new)| (range.clone(), new.as_str()));
        let patched = patch(text.as_bytes(), &replacements).unwrap();
        let read = read_request(&patched).unwrap();
        assert_eq!(read.request.messages[5], Message::result("c3", "".into(), "x"));
        assert_eq!(
            asked.unknown.keys().collect::<Vec<_>>(),
            ["messages[].content[].content[].type=hologram"]
        );
    }

    #[test]
    fn only_what_has_no_messages_is_no_request() {
        assert!(matches!(read_request(b"\xFF"), Err(NotRead::NotText(_))));
        assert!(matches!(read_request(b"{"), Err(NotRead::NotJson(_))));
        for text in ["[]", "{}", "{\"messages\": 1}", "null"] {
            assert!(matches!(read_request(text.as_bytes()), Err(NotRead::NoRequest(_))), "{text}");
        }
        let odd = json!({"model": 1, "max_tokens": -1, "system": 7, "tools": {}, "stop_sequences": [1], "stream": "x",
            "messages": [1, {}, {"role": "judge", "content": {"a": 1}}, {"role": "user", "content": [[], "x", {}]},
                {"role": "assistant", "content": [{"type": "tool_use"}, 3]}]});
        let asked = read(&odd);
        assert!(asked.request.messages.iter().any(|message| message.text() == "x"));
        assert!(asked.unknown.contains_key("messages[].role=judge"), "{:?}", asked.unknown);
    }

    #[test]
    fn deep_nesting_does_no_harm() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        let call =
            format!("{{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"t\",\"input\":{deep}}}");
        let text = format!(
            "{{\"messages\":[{{\"role\":\"assistant\",\"content\":[{call},{deep}]}}],\"x\":{deep}}}"
        );
        let asked = read_request(text.as_bytes()).unwrap();
        let Message::Assistant { calls, .. } = &asked.request.messages[0] else { panic!() };
        assert_eq!(calls[0].arguments, Value::String(deep.clone()));
        assert_eq!(text[asked.calls[0].range.clone()], deep);
    }
}
