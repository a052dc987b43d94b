//! Models behind Anthropic's Messages and OpenAI's Responses: what they are sent, what is read of them, and what goes
//! back with the next request.

mod cache;

use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolyard::domain::blocks::Block;
use toolyard::domain::{Finish, Message, ModelErrorKind, Reply, Request, Role, ToolDef};
use toolyard::model::secret::KeySource;
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};
use toolyard::wire::{Answering, FunctionNames, WireFormat, messages, responses};

use crate::fake_endpoint::{Fake, Script, json as body, response, send, stream_head};

fn endpoint(fake: &Fake, format: WireFormat) -> Endpoint {
    let mut endpoint = Endpoint::new("m", &fake.url, "claude-sonnet-4-5");
    endpoint.format = format;
    endpoint.key = KeySource::Command(vec!["echo".into(), "hunter22-is-the-key".into()]);
    endpoint.max_retries = 1;
    endpoint
}

fn request() -> Request {
    let messages = vec![Message::system("Be brief."), Message::user("Weather in Oslo?")];
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = ToolDef {
        name: "weather.now".into(),
        description: "The weather.".into(),
        parameters: parameters.into(),
    };
    Request { tools: vec![tool].into(), ..Request::new(Role::Actor, messages) }
}

fn events(events: &[Value]) -> Script {
    let frame =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    vec![stream_head(), send(&events.iter().map(frame).collect::<String>())]
}

async fn ask(endpoint: Endpoint, request: &Request) -> (Reply, Vec<ModelProgress>) {
    let mut seen = Vec::new();
    let reply = Hosted::new(endpoint).unwrap().ask(request, &mut |news| seen.push(news)).await;
    (reply.unwrap(), seen)
}

/// The next request, in which every call has a result.
fn after(request: &Request, reply: &Reply) -> Request {
    // A journal keeps what an endpoint wants back.
    let reply: Reply = serde_json::from_value(serde_json::to_value(reply).unwrap()).unwrap();
    let mut request = request.clone();
    let results: Vec<_> = reply
        .calls
        .iter()
        .map(|call| Message::result(call.id.clone(), call.tool.clone(), "rain"))
        .collect();
    let Reply { text, calls, source, .. } = reply;
    request.messages.push(Message::Assistant { text, calls, source });
    request.messages.extend(results);
    request
}

/// An answer of Anthropic with thoughts, a text, and two calls with thoughts between them.
fn thoughtful(tool: &str) -> Script {
    let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let usage = json!({"input_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 3000, "output_tokens": 1});
    events(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
            "model": "claude", "content": [], "stop_reason": null, "usage": usage}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Two cities."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "I look."})),
        stop(1),
        start(2, call("toolu_1")),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"city\":"})),
        delta(2, json!({"type": "input_json_delta", "partial_json": " \"Oslo\"}"})),
        stop(2),
        start(3, json!({"type": "redacted_thinking", "data": "ZW5j"})),
        stop(3),
        start(4, call("toolu_2")),
        stop(4),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 42}}),
        json!({"type": "message_stop"}),
    ])
}

#[tokio::test]
async fn anthropic_gets_its_thoughts_back_in_their_place() {
    let request = request();
    let names = FunctionNames::of(&request);
    let tool = names.out(&"weather.now".into()).to_owned();
    let answer =
        || events_of(&messages::write_stream(&Reply::of_text("Rain."), &answering(&names)));
    let fake = Fake::start(vec![thoughtful(&tool), answer()]).await;
    let (reply, seen) = ask(endpoint(&fake, WireFormat::Messages), &request).await;
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("I look.", "Two cities."));
    assert_eq!(reply.finish, Finish::Calls);
    let calls: Vec<_> =
        reply.calls.iter().map(|call| (call.id.as_str(), &call.arguments)).collect();
    assert_eq!(calls, [("toolu_1", &json!({"city": "Oslo"})), ("toolu_2", &json!({}))]);
    assert!(reply.calls.iter().all(|call| call.tool.as_str() == "weather.now"));
    let usage = reply.usage;
    assert_eq!(
        (usage.tokens_in, usage.cached, usage.written, usage.tokens_out),
        (4020, 3000, 1000, 42)
    );
    assert!(seen.contains(&ModelProgress::Reasoning("Two cities.".into())), "{seen:?}");
    let labels: Vec<_> =
        reply.source.as_ref().unwrap().blocks.iter().filter_map(Block::label).collect();
    assert_eq!(labels, ["[thinking, signed]", "[thinking, encrypted]"]);

    ask(endpoint(&fake, WireFormat::Messages), &after(&request, &reply)).await;
    let heads: Vec<String> = fake.seen.lock().unwrap().iter().map(|it| it.head.clone()).collect();
    assert!(heads[0].starts_with("post /v1/messages "), "{}", heads[0]);
    assert!(heads[0].contains("\r\nx-api-key: hunter22-is-the-key"), "{}", heads[0]);
    assert!(heads[0].contains("\r\nanthropic-version: 2023-06-01"), "{}", heads[0]);
    let bodies = fake.bodies();
    let (first, second) = (&bodies[0], &bodies[1]);
    assert_eq!((&first["max_tokens"], &first["stream"]), (&json!(8192), &json!(true)));
    assert_eq!(first["system"][0]["text"], "Be brief.");
    assert_eq!(second["messages"][0], first["messages"][0], "the prefix stays");
    let expected = json!([
        {"type": "thinking", "thinking": "Two cities.", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"city": "Oslo"}},
        {"type": "redacted_thinking", "data": "ZW5j"},
        {"type": "tool_use", "id": "toolu_2", "name": tool, "input": {}},
    ]);
    assert_eq!(second["messages"][1], json!({"role": "assistant", "content": expected}));
    let results = second["messages"][2]["content"].as_array().unwrap();
    let ids: Vec<_> = results.iter().map(|it| it["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["toolu_1", "toolu_2"], "both results are in one message");

    // To another endpoint go only what everybody understands.
    let other = Fake::start(vec![answer()]).await;
    ask(endpoint(&other, WireFormat::Messages), &after(&request, &reply)).await;
    let sent = other.bodies()[0]["messages"].to_string();
    assert!(!sent.contains("thinking") && !sent.contains("c2ln"), "{sent}");
}

fn answering(names: &FunctionNames) -> Answering<'_> {
    Answering { id: "a1", model: "m", names, created: 1 }
}

fn events_of(frames: &str) -> Script {
    vec![stream_head(), send(frames)]
}

#[tokio::test]
async fn responses_get_their_encrypted_thoughts_back_and_are_not_stored() {
    let request = request();
    let names = Arc::new(FunctionNames::of(&request));
    let tool = names.out(&"weather.now".into()).to_owned();
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "ZW5j",
        "summary": [{"type": "summary_text", "text": "One city."}]});
    let call = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": tool,
        "arguments": "{\"city\":\"Oslo\"}", "status": "completed"});
    let whole = json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m",
        "output": [reasoning, call], "usage": {"input_tokens": 50, "output_tokens": 9, "total_tokens": 59,
            "input_tokens_details": {"cached_tokens": 30}, "output_tokens_details": {"reasoning_tokens": 4}}});
    let answer = responses::write_stream(&Reply::of_text("Rain."), &answering(&names));
    let fake = Fake::start(vec![body("200 OK", &whole.to_string()), events_of(&answer)]).await;
    let (reply, _) = ask(endpoint(&fake, WireFormat::Responses), &request).await;
    assert_eq!((reply.reasoning.as_str(), reply.calls[0].id.as_str()), ("One city.", "call_1"));
    assert_eq!((reply.usage.tokens_in, reply.usage.cached), (50, 30));
    ask(endpoint(&fake, WireFormat::Responses), &after(&request, &reply)).await;
    let seen = fake.seen.lock().unwrap();
    assert!(seen[0].head.starts_with("post /v1/responses "), "{}", seen[0].head);
    assert!(seen[0].head.contains("\r\nauthorization: bearer hunter22"), "{}", seen[0].head);
    let second = &seen[1].body;
    assert_eq!(
        (&second["store"], &second["include"]),
        (&json!(false), &json!(["reasoning.encrypted_content"]))
    );
    assert!(second.get("previous_response_id").is_none());
    let items = second["input"].as_array().unwrap();
    let thought = items.iter().position(|item| item["encrypted_content"] == "ZW5j").unwrap();
    assert_eq!(items[thought + 1]["type"], "function_call");
    assert_eq!(items[thought + 2]["output"], "rain");
}

#[tokio::test]
async fn an_overloaded_endpoint_is_asked_again_before_and_after_its_head() {
    let names = FunctionNames::default();
    let overloaded = messages::write_error(529, "Overloaded");
    let answer = messages::write_stream(&Reply::of_text("Rain."), &answering(&names));
    for first in [
        response("529 Overloaded", "", &overloaded),
        events_of(&messages::write_error_event(529, "Overloaded")),
    ] {
        let fake = Fake::start(vec![first, events_of(&answer)]).await;
        let (reply, seen) = ask(endpoint(&fake, WireFormat::Messages), &request()).await;
        assert_eq!(reply.text, "Rain.");
        assert!(
            matches!(&seen[0], ModelProgress::Retrying { why, .. } if why.contains("Overloaded"))
        );
    }
    // A text that was seen is not silently written again.
    let begun = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It"}});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let mut script = events(&[start, begun]);
    script.push(send(&messages::write_error_event(529, "Overloaded")));
    let fake = Fake::start(vec![script]).await;
    let model = Hosted::new(endpoint(&fake, WireFormat::Messages)).unwrap();
    let error = model.ask(&request(), &mut |_| {}).await.unwrap_err();
    assert_eq!((error.kind, error.partial.as_str()), (ModelErrorKind::Endpoint, "It"));
}

#[tokio::test]
async fn what_anthropic_needs_is_never_given_up() {
    let refusal = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku"}});
    let fake = Fake::start(vec![response("400 Bad Request", "", &refusal.to_string())]).await;
    let model = Hosted::new(endpoint(&fake, WireFormat::Messages)).unwrap();
    let error = model.ask(&request(), &mut |_| {}).await.unwrap_err();
    assert!(error.text.contains("maximum allowed number of output tokens"), "{error}");
    assert_eq!(fake.bodies().len(), 1);
}

#[test]
fn a_request_can_be_repeated_by_hand_on_every_format() {
    for (format, path, header) in [
        (WireFormat::Messages, "/v1/messages", "x-api-key: $MY_KEY"),
        (WireFormat::Responses, "/v1/responses", "authorization: Bearer $MY_KEY"),
    ] {
        let mut endpoint = Endpoint::new("m", "https://h/v1", "x");
        (endpoint.format, endpoint.key) = (format, KeySource::Env("MY_KEY".into()));
        let command = Hosted::curl(&endpoint, &request()).unwrap();
        assert!(command.contains(path) && command.contains(header), "{command}");
    }
}
