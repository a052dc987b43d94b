//! The OpenAI-compatible client against a server that behaves as real ones do.

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolyard::domain::{
    Finish, Message, ModelError, ModelErrorKind, Reply, Request, Role, ToolCall, ToolDef,
};
use toolyard::model::secret::{HeaderSource, KeySource};
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};

use crate::fake_endpoint::{Fake, Script, Step, json as body, response, stream, stream_head};

mod bytes;
mod calls;
mod endings;
mod failing;
mod negotiating;
mod odd_tools;
mod refusals;
mod returned;
mod usage;

const HELLO: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}"#;
const DONE: &str = "[DONE]";

fn request() -> Request {
    let tool = |name: &str| ToolDef {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object"}).into(),
    };
    Request {
        tools: vec![tool("search"), tool("files.read")].into(),
        ..Request::new(Role::Actor, vec![Message::system("Be brief."), Message::user("Hi")])
    }
}

fn endpoint(fake: &Fake) -> Endpoint {
    let mut endpoint = Endpoint::new("m", &fake.url, "gpt-x");
    endpoint.silence_timeout = Duration::from_secs(1);
    endpoint.max_retries = 0;
    endpoint
}

/// Asks once, and gives what was reported on the way.
async fn ask(
    endpoint: Endpoint,
    request: &Request,
) -> (Result<Reply, ModelError>, Vec<ModelProgress>) {
    let model = Hosted::new(endpoint).unwrap();
    let mut seen = Vec::new();
    let reply = model.ask(request, &mut |progress| seen.push(progress)).await;
    (reply, seen)
}

async fn reply(script: Script) -> Reply {
    let fake = Fake::start(vec![script]).await;
    ask(endpoint(&fake), &request()).await.0.unwrap()
}

async fn error(script: Script) -> ModelError {
    let fake = Fake::start(vec![script]).await;
    ask(endpoint(&fake), &request()).await.0.unwrap_err()
}

fn delta(delta: Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
}

#[test]
fn a_request_is_a_command_of_curl_without_a_key() {
    let mut endpoint = Endpoint::new("m", "https://h/v1?api-version=2", "gpt-x");
    endpoint.key = KeySource::Env("LAB_KEY".into());
    endpoint.headers.insert("x-team".into(), HeaderSource::Literal("it's us".into()));
    endpoint.headers.insert("x-token".into(), HeaderSource::Env("TEAM_TOKEN".into()));
    let command = Hosted::curl(&endpoint, &request()).unwrap();
    let (head, body) = command.split_once("<<'JSON'\n").unwrap();
    let words = [
        "curl 'https://h/v1/chat/completions?api-version=2' \\\n",
        "  -H 'content-type: application/json' \\\n",
        "  -H 'x-team: it'\\''s us' \\\n",
        "  -H \"x-token: $TEAM_TOKEN\" \\\n",
        "  -H \"authorization: Bearer $LAB_KEY\" \\\n",
        "  --data-binary @- ",
    ];
    assert_eq!(head, words.concat());
    let body: Value = serde_json::from_str(body.strip_suffix("\nJSON\n").unwrap()).unwrap();
    assert_eq!((&body["model"], body["tools"].as_array().unwrap().len()), (&json!("gpt-x"), 2));
    assert_eq!(body["messages"][1]["content"], "Hi");
    endpoint.key = KeySource::Command(vec!["pass".into(), "show".into(), "a b".into()]);
    let command = Hosted::curl(&endpoint, &request()).unwrap();
    assert!(command.contains("Bearer $(pass show 'a b')\""), "{command}");
}

#[tokio::test]
async fn streams_text_and_counts() {
    let fake =
        Fake::start(vec![stream(&[HELLO, &delta(json!({"content": " you"})), STOP, USAGE, DONE])])
            .await;
    let (reply, seen) = ask(endpoint(&fake), &request()).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), ("Hello you", &Finish::Stop));
    assert_eq!((reply.usage.tokens_in, reply.usage.tokens_out), (9, 4));
    assert!(!reply.usage.estimated);
    assert_eq!(seen, [ModelProgress::Text("Hello".into()), ModelProgress::Text(" you".into())]);
}

#[tokio::test]
async fn survives_any_cut_of_the_network() {
    let event = delta(json!({"content": "é🦀"}));
    let text = format!(
        ": PROCESSING\r\n\r\ndata: {event}\r\n\r\ndata: {STOP}\r\n\r\ndata: [DONE]\r\n\r\n"
    );
    let mut script = vec![stream_head()];
    for byte in text.bytes() {
        script.push(Step::Send(vec![byte]));
        script.push(Step::Wait(Duration::from_micros(50)));
    }
    assert_eq!(reply(script).await.text, "é🦀");
}

#[tokio::test]
async fn reads_usage_wherever_it_stands() {
    let usage = r#""usage":{"prompt_tokens":9,"completion_tokens":4}"#;
    let beside_delta = format!(r#"{{"choices":[{{"index":0,"delta":{{}}}}],{usage}}}"#);
    let on_finish = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],{usage}}}"#);
    let last: [&[&str]; 4] =
        [&[STOP, USAGE, DONE], &[STOP, &beside_delta, DONE], &[&on_finish], &[STOP, USAGE]];
    for events in last {
        let reply = reply(stream(&[&[HELLO], events].concat())).await;
        assert_eq!((reply.usage.tokens_in, reply.usage.estimated), (9, false), "{events:?}");
    }
    let none = reply(stream(&[HELLO, STOP, DONE])).await.usage;
    assert!(none.estimated && none.tokens_in > 10 && none.tokens_out == 1, "{none:?}");
}

#[tokio::test]
async fn an_open_connection_after_the_end_does_not_hold_the_answer() {
    let mut script = stream(&[HELLO, STOP]);
    script.push(Step::Hang);
    let start = Instant::now();
    assert_eq!(reply(script).await.text, "Hello");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn puts_tool_calls_together_by_index() {
    let call = |index: u32, rest: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        delta(json!({"tool_calls": [call]}))
    };
    let read = {
        let fake = Fake::start(vec![stream(&[HELLO, STOP])]).await;
        ask(endpoint(&fake), &request()).await.0.unwrap();
        fake.bodies()[0]["tools"][1]["function"]["name"].as_str().unwrap().to_owned()
    };
    assert!(read.starts_with("files_read_"), "{read}");
    let events = [
        delta(json!({"content": "I look."})),
        call(0, json!({"id": "c/1", "function": {"name": "search", "arguments": "{\"q\":"}})),
        call(1, json!({"id": "c/2", "function": {"name": read, "arguments": ""}})),
        call(0, json!({"function": {"arguments": " \"é\"}"}})),
        call(1, json!({"function": {"name": read, "arguments": "not json"}})),
        call(2, json!({"function": {"name": "search"}})),
        STOP.to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let reply = reply(stream(&events)).await;
    let expected = vec![
        ToolCall { id: "c/1".into(), tool: "search".into(), arguments: json!({"q": "é"}) },
        ToolCall { id: "c/2".into(), tool: "files.read".into(), arguments: json!("not json") },
        ToolCall { id: "call00001".into(), tool: "search".into(), arguments: json!({}) },
    ];
    assert_eq!(reply.calls, expected);
    assert_eq!((reply.text.as_str(), reply.finish), ("I look.", Finish::Calls));
}

#[tokio::test]
async fn servers_that_number_every_call_zero_are_understood() {
    let call = |id: &str, q: i32| {
        let arguments = json!({"q": q}).to_string();
        let function = json!({"name": "search", "arguments": arguments});
        delta(json!({"tool_calls": [{"index": 0, "id": id, "function": function}]}))
    };
    let reply = reply(stream(&[&call("a", 1), &call("b", 2), &call("b", 3), STOP])).await;
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(reply.calls[0].arguments, json!({"q": 1}));
}

#[tokio::test]
async fn keeps_reasoning_and_refusals_apart() {
    for field in ["reasoning_content", "reasoning"] {
        let reply = reply(stream(&[&delta(json!({field: "Hm."})), HELLO, STOP])).await;
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Hello", "Hm."));
    }
    let parts = json!({"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Hello"}]});
    let mistral = reply(stream(&[&delta(parts), STOP])).await;
    assert_eq!((mistral.text.as_str(), mistral.reasoning.as_str()), ("Hello", "Hm."));

    let refused = reply(stream(&[&delta(json!({"refusal": "I can't."})), STOP])).await;
    assert_eq!((refused.text.as_str(), refused.finish), ("I can't.", Finish::Refused));
    for (reason, finish) in [
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
        ("tool_calls", Finish::Stop),
        ("model_length", Finish::Length),
        ("odd", Finish::Other("odd".into())),
    ] {
        let end = STOP.replace("stop", reason);
        assert_eq!(reply(stream(&[HELLO, &end])).await.finish, finish);
    }
}

#[tokio::test]
async fn reads_a_whole_completion_too() {
    let whole = json!({
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "content": null, "reasoning_content": "Hm.",
            "tool_calls": [{"id": "c1", "type": "function",
                "function": {"name": "search", "arguments": "{\"q\": 1}"}}]}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.5,
            "prompt_tokens_details": {"cached_tokens": 3}},
    });
    let fake = Fake::start(vec![body("200 OK", &whole.to_string())]).await;
    let mut endpoint = endpoint(&fake);
    endpoint.stream = false;
    let reply = ask(endpoint, &request()).await.0.unwrap();
    assert_eq!(reply.calls.len(), 1);
    assert_eq!((reply.reasoning.as_str(), reply.usage.cached), ("Hm.", 3));
    assert_eq!(reply.usage.dollars, Some(0.5.into()));
    assert_eq!(fake.bodies()[0].get("stream"), None);
}

#[tokio::test]
async fn litellm_says_the_cost_in_a_header() {
    let head = "content-type: application/json\r\nx-litellm-response-cost: 0.0025\r\n";
    let whole = r#"{"choices":[{"message":{"content":"Hello"}}]}"#;
    let reply = reply(response("200 OK", head, whole)).await;
    assert_eq!(reply.usage.dollars, Some(0.0025.into()));
    assert!(reply.usage.estimated);
}

#[tokio::test]
async fn sends_what_was_asked() {
    let fake = Fake::start(vec![stream(&[HELLO, STOP])]).await;
    let mut endpoint = endpoint(&fake);
    endpoint.max_tokens_field = "max_completion_tokens".into();
    endpoint.extra.insert("user".into(), json!("me"));
    endpoint.headers.insert("X-Title".into(), HeaderSource::Literal("toolyard".into()));
    let mut request = request();
    request.temperature = Some(0.5.into());
    (request.top_p, request.seed) = (Some(0.25.into()), Some(7));
    request.max_tokens = Some(64);
    request.stop = vec!["\nObservation:".into()];
    request.tools = request.tools[..1].into();
    request.schema = Some(json!({"type": "object"}));
    let call = |id: &str, arguments| ToolCall { id: id.into(), tool: "search".into(), arguments };
    request.messages.push(Message::Assistant {
        text: String::new(),
        calls: vec![call("aaaaaaaa1", json!({"q": 1})), call("b23456789", json!("broken {"))],
        source: None,
    });
    request.messages.push(Message::result("aaaaaaaa1", "search".into(), "x"));
    ask(endpoint, &request).await.0.unwrap();
    let tool = json!({"type": "function", "function": {
        "name": "search", "description": "Does search.",
        "parameters": {"type": "object", "properties": {}}}});
    let function = |arguments: &str| json!({"name": "search", "arguments": arguments});
    let expected = json!({
        "model": "gpt-x",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "aaaaaaaa1", "type": "function", "function": function("{\"q\":1}")},
                {"id": "b23456789", "type": "function", "function": function("{\"not_valid_json\":\"broken {\"}")}]},
            {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "x"}],
        "tools": [tool],
        "temperature": 0.5,
        "top_p": 0.25,
        "seed": 7,
        "max_completion_tokens": 64,
        "stop": ["\nObservation:"],
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "answer", "strict": true, "schema": {"type": "object"}}},
        "stream": true,
        "stream_options": {"include_usage": true},
        "user": "me",
    });
    assert_eq!(fake.bodies(), [expected]);
    let head = fake.seen.lock().unwrap()[0].head.clone();
    assert!(head.contains("x-title: toolyard") && !head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn tools_that_may_be_called_now_are_named_where_the_endpoint_takes_them() {
    for takes_them in [false, true] {
        let fake = Fake::start(vec![stream(&[HELLO, STOP])]).await;
        let mut endpoint = endpoint(&fake);
        endpoint.allowed_tools = takes_them;
        let request = Request { allowed: vec!["files.read".into()], ..request() };
        ask(endpoint, &request).await.0.unwrap();
        let body = fake.bodies().remove(0);
        assert_eq!(body["tools"].as_array().unwrap().len(), 2, "all stay defined");
        let name = &body["tools"][1]["function"]["name"];
        let tool = json!({"type": "function", "function": {"name": name}});
        let allowed = json!({"type": "allowed_tools", "allowed_tools": {
            "mode": "auto", "tools": [tool]}});
        assert_eq!(body.get("tool_choice"), takes_them.then_some(&allowed));
    }
}

#[tokio::test]
async fn keys_are_sent_and_never_shown() {
    let echo = r#"{"error":{"message":"no access for Bearer hunter22"}}"#;
    let fake = Fake::start(vec![body("401 Unauthorized", echo)]).await;
    let mut endpoint = endpoint(&fake);
    endpoint.key = KeySource::Command(vec!["printf".into(), "hunter%s\n".into(), "22".into()]);
    endpoint.headers.insert("X-Path".into(), HeaderSource::Env("PATH".into()));
    let (result, _) = ask(endpoint, &request()).await;
    let error = result.unwrap_err();
    assert!(!error.text.contains("hunter22"), "{error}");
    assert!(error.text.contains("the output of the key command"), "{error}");
    let head = fake.seen.lock().unwrap()[0].head.clone();
    assert!(head.contains("authorization: bearer hunter22\r\n"), "{head}");
    assert!(head.contains("x-path: "), "{head}");
}

#[tokio::test]
async fn a_missing_key_is_said_before_anything_is_sent() {
    let fake = Fake::start(vec![]).await;
    let mut endpoint = endpoint(&fake);
    endpoint.max_retries = 3;
    endpoint.key = KeySource::Env("TOOLYARD_NO_SUCH_KEY".into());
    let error = ask(endpoint.clone(), &request()).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.text.contains("set the environment variable TOOLYARD_NO_SUCH_KEY"), "{error}");
    endpoint.key = KeySource::None;
    endpoint.headers.insert("X-Org".into(), HeaderSource::Env("TOOLYARD_NO_SUCH_ORG".into()));
    let error = ask(endpoint, &request()).await.0.unwrap_err();
    assert!(
        error.text.contains("header \"X-Org\"") && error.text.contains("TOOLYARD_NO_SUCH_ORG"),
        "{error}"
    );
    assert!(fake.bodies().is_empty());
}

#[tokio::test]
async fn dropping_the_question_closes_the_connection() {
    let mut script = stream(&[HELLO]);
    script.push(Step::Hang);
    let fake = Fake::start(vec![script]).await;
    let mut endpoint = endpoint(&fake);
    endpoint.silence_timeout = Duration::from_secs(60);
    let model = Hosted::new(endpoint).unwrap();
    let request = request();
    let began = tokio::sync::Notify::new();
    let mut progress = |_| began.notify_one();
    tokio::select! {
        _ = model.ask(&request, &mut progress) => panic!("the server never finishes"),
        () = began.notified() => {}
    }
    let left = tokio::time::timeout(Duration::from_secs(5), fake.left.notified()).await;
    assert!(left.is_ok(), "the connection stayed open");
}

#[tokio::test]
async fn reachable_without_spending_tokens() {
    let list = r#"{"data":[{"id":"gpt-x"},{"id":"gpt-y"}]}"#;
    let other = r#"{"data":[{"id":"gpt-y"}]}"#;
    let cases = [
        (body("200 OK", list), true, "answers and has \"gpt-x\""),
        (body("200 OK", other), false, "does not list \"gpt-x\"; it has gpt-y"),
        (body("404 Not Found", "{}"), false, "is unchecked, and its `url` too"),
        (body("200 OK", "{}"), false, "answers, but lists no models"),
        // Case 8.5: a list alone, that of Ollama, and that of Gemini.
        (body("200 OK", r#"[{"id":"gpt-x"}]"#), true, "answers and has"),
        (body("200 OK", r#"{"models":[{"name":"gpt-x"}]}"#), true, "answers and has"),
        (body("200 OK", r#"{"models":[{"name":"other","model":"gpt-x"}]}"#), true, "has"),
        (body("200 OK", r#"{"data":[{"id":"models/gpt-x"}]}"#), true, "answers and has"),
        (body("200 OK", "\u{FEFF}[\"gpt-x\"]"), true, "answers and has"),
    ];
    for (script, is_sure, phrase) in cases {
        let fake = Fake::start(vec![script]).await;
        let reached = Hosted::new(endpoint(&fake)).unwrap().reachable().await.unwrap();
        assert_eq!(reached.is_sure, is_sure, "{reached:?}");
        assert!(reached.text.contains(phrase), "{reached:?}");
        assert!(fake.seen.lock().unwrap()[0].head.starts_with("get /v1/models "));
    }
    for (status, kind) in [
        ("401 Unauthorized", ModelErrorKind::Auth),
        ("308 Permanent Redirect", ModelErrorKind::Refused),
        ("503 Service Unavailable", ModelErrorKind::Endpoint),
    ] {
        let fake = Fake::start(vec![body(status, "{}")]).await;
        let error = Hosted::new(endpoint(&fake)).unwrap().reachable().await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
    }
}

#[tokio::test]
async fn an_explicit_proxy_is_used() {
    let fake = Fake::start(vec![stream(&[HELLO, STOP])]).await;
    let proxy = fake.url.trim_end_matches("/v1").to_owned();
    let mut endpoint = Endpoint::new("m", "http://model.invalid/v1", "gpt-x");
    endpoint.proxy = Some(proxy);
    assert_eq!(ask(endpoint, &request()).await.0.unwrap().text, "Hello");
    let head = fake.seen.lock().unwrap()[0].head.clone();
    assert!(head.starts_with("post http://model.invalid/v1/chat/completions "), "{head}");
}
