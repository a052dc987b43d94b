//! Tools whose schemas endpoints refuse, and roles that they refuse, on every wire. What they say is in field cases 1 and 19.

use serde_json::{Value, json};
use toolyard::domain::{Message, Request, Role, ToolCall, ToolDef};
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};
use toolyard::wire::WireFormat;

use super::{DONE, HELLO, STOP, request};
use crate::fake_endpoint::{Fake, Script, json as body, stream};

fn hello(format: WireFormat) -> Script {
    let whole = match format {
        WireFormat::Chat => return stream(&[HELLO, STOP, DONE]),
        WireFormat::Responses => json!({"object": "response", "status": "completed", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}]}),
        WireFormat::Gemini => {
            json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]})
        }
        WireFormat::Ollama => {
            json!({"message": {"role": "assistant", "content": "Hello"}, "done": true})
        }
        WireFormat::Generate => json!({"response": "Hello", "done": true}),
        WireFormat::Messages => {
            json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Hello"}], "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
    };
    body("200 OK", &whole.to_string())
}

fn refusal(text: &str) -> Script {
    let error = json!({"error": {"message": text, "type": "invalid_request_error", "param": null}});
    body("400 Bad Request", &error.to_string())
}

/// Asks so often; the bodies that were sent, and the notices.
async fn ask(
    format: WireFormat,
    refusals: &[&str],
    request: &Request,
    times: usize,
) -> (Vec<Value>, Vec<String>) {
    let scripts = refusals.iter().map(|text| refusal(text));
    let fake = Fake::start(scripts.chain((0..times).map(|_| hello(format))).collect()).await;
    let mut endpoint = Endpoint::new("m", &fake.url, "gpt-x");
    endpoint.format = format;
    endpoint.stream = format == WireFormat::Chat;
    endpoint.max_retries = 0;
    let model = Hosted::new(endpoint).unwrap();
    let mut notices = Vec::new();
    for _ in 0..times {
        let mut tell = |progress| {
            if let ModelProgress::Noticed(text) = progress {
                notices.push(text);
            }
        };
        assert_eq!(model.ask(request, &mut tell).await.unwrap().text, "Hello", "{format}");
    }
    (fake.bodies(), notices)
}

/// The names and schemas of the tools of a body.
fn tools(body: &Value) -> Vec<(String, Value)> {
    let tool = |tool: &Value| {
        let function = if tool["function"].is_object() { &tool["function"] } else { tool };
        let places = ["parameters", "input_schema", "parametersJsonSchema"];
        let schema = places.iter().find_map(|place| function.get(place)).unwrap();
        (function["name"].as_str().unwrap().to_owned(), schema.clone())
    };
    // Gemini's functions are a list inside of a tool.
    let inner = &body["tools"][0]["functionDeclarations"];
    let tools = if inner.is_array() { inner } else { &body["tools"] };
    tools.as_array().into_iter().flatten().map(tool).collect()
}

/// All formats but completions, which have no tools.
fn with_tools() -> impl Iterator<Item = WireFormat> {
    WireFormat::ALL.into_iter().filter(|format| *format != WireFormat::Generate)
}

fn offering(tools: &[(&str, Value)]) -> Request {
    let tool = |(name, parameters): &(&str, Value)| ToolDef {
        name: (*name).into(),
        description: "Odd.".into(),
        parameters: parameters.clone().into(),
    };
    let tools: Vec<ToolDef> = tools.iter().map(tool).collect();
    Request { tools: tools.into(), ..request() }
}

#[tokio::test]
async fn every_schema_that_is_sent_is_an_object_with_properties() {
    let object = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let city = |schema: Value| json!({"type": "object", "properties": {"city": schema}});
    let odd = [
        ("empty", json!({})),
        ("draft", json!({"$schema": "http://json-schema.org/draft-07/schema#"})),
        ("bare", json!({"type": "object"})),
        ("reference", json!({"$ref": "#/$defs/In", "$defs": {"In": object}})),
        ("choice", json!({"anyOf": [object, {"type": "object", "properties": {"at": {}}}]})),
        ("switch", city(json!({"type": "string", "required": true}))),
        ("text", json!({"type": "string"})),
        ("none", city(json!({"enum": []}))),
        ("any", city(json!({"type": "any"}))),
        ("numbers", city(json!({"type": "integer", "enum": ["1", "2"]}))),
    ];
    for format in with_tools() {
        let (bodies, notices) = ask(format, &[], &offering(&odd), 2).await;
        let sent = tools(&bodies[0]);
        assert_eq!(sent.len(), odd.len() - 1, "{format}");
        for (name, schema) in &sent {
            assert_eq!(schema["type"], "object", "{name}");
            assert!(schema["properties"].is_object(), "{name}: {schema}");
        }
        let of = |name: &str| &sent.iter().find(|(sent, _)| sent == name).unwrap().1;
        assert_eq!(of("reference")["properties"], object["properties"]);
        assert_eq!(of("choice")["properties"], json!({"city": {"type": "string"}, "at": {}}));
        assert_eq!(of("switch")["required"], json!(["city"]));
        assert_eq!(of("none")["properties"]["city"], json!({}));
        assert_eq!(of("any")["properties"]["city"], json!({}));
        let numbers = json!({"type": "integer", "enum": [1, 2]});
        assert_eq!(of("numbers")["properties"]["city"], numbers);
        let [notice] = notices.as_slice() else { panic!("{notices:?}") };
        assert!(notice.contains("leave out the tool `text`"), "{notice}");
    }
}

#[tokio::test]
async fn a_tool_that_an_endpoint_refuses_is_left_out_from_then_on_and_said_once() {
    let object = json!({"type": "object", "properties": {}});
    let request = Request {
        allowed: vec!["w__odd".into()],
        ..offering(&[("w__weather", object.clone()), ("w__odd", object.clone()), ("clock", object)])
    };
    let named = "Invalid schema for function 'w__odd': In context=('properties', 'stop'), 'x' is not permitted.";
    let placed = "tools.1.custom.input_schema.type: Input should be 'object'";
    for format in with_tools() {
        for text in [named, placed] {
            let (bodies, notices) = ask(format, &[text], &request, 2).await;
            let names = |body| tools(body).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
            assert_eq!(names(&bodies[0]), ["w__weather", "w__odd", "clock"]);
            assert_eq!(names(&bodies[1]), ["w__weather", "clock"], "{text}");
            assert_eq!(
                (names(&bodies[2]), bodies[1].get("tool_choice")),
                (names(&bodies[1]), None)
            );
            let [notice] = notices.as_slice() else { panic!("{notices:?}") };
            assert!(notice.contains("the tool `w__odd` from now on"), "{notice}");
        }
        // Each refusal names another tool; after the last one there are none.
        let all = ["function 'w__odd'", "tools[0].function", "tool clock: no"];
        let (bodies, notices) = ask(format, &all, &request, 1).await;
        assert_eq!((bodies[3].get("tools"), notices.len()), (None, 3));
    }
}

#[tokio::test]
async fn a_refusal_that_names_a_tool_for_ever_ends() {
    let scripts = (0..40).map(|_| refusal("function 'search' is bad")).collect();
    let fake = Fake::start(scripts).await;
    let mut endpoint = Endpoint::new("m", &fake.url, "gpt-x");
    endpoint.max_retries = 0;
    let model = Hosted::new(endpoint).unwrap();
    assert!(model.ask(&request(), &mut |_| {}).await.is_err());
    assert_eq!(fake.bodies().len(), 2);
}

#[tokio::test]
async fn the_system_is_said_in_front_of_the_user_where_its_role_is_refused() {
    for text in [
        "System role not supported",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Unexpected message role: developer",
        "Only user and assistant roles are supported!",
    ] {
        for format in with_tools() {
            let request = Request { tools: Vec::new().into(), ..request() };
            let (bodies, notices) = ask(format, &[text], &request, 2).await;
            assert_eq!(notices.len(), 1, "{notices:?}");
            for body in &bodies[1..] {
                let lists = ["messages", "input", "contents"];
                let list = lists.iter().find_map(|list| body.get(list)).unwrap();
                let content = list[0].get("content").or(list[0].get("parts")).unwrap();
                let said = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
                assert!(said.find("Be brief.") < said.find("Hi"), "{format} {text}: {body}");
                let system = body.get("system").or(body.get("systemInstruction"));
                assert_eq!((list.as_array().unwrap().len(), system), (1, None), "{body}");
            }
        }
    }
}

#[tokio::test]
async fn an_empty_result_is_sent_as_a_word() {
    for (result, sent) in [("", "(no output)"), (" \n", "(no output)"), ("x", "x")] {
        for format in WireFormat::ALL {
            let call = ToolCall { id: "abcdefgh1".into(), tool: "t".into(), arguments: json!({}) };
            let asks = Message::Assistant { text: String::new(), calls: vec![call], source: None };
            let result = Message::result("abcdefgh1", "t".into(), result);
            let request = Request::new(Role::Actor, vec![Message::user("Hi"), asks, result]);
            let body = ask(format, &[], &request, 1).await.0.remove(0);
            let place = match format {
                WireFormat::Chat => "/messages/2/content",
                WireFormat::Responses => "/input/2/output",
                WireFormat::Messages => "/messages/2/content/0/content",
                WireFormat::Gemini => "/contents/2/parts/0/functionResponse/response/result",
                WireFormat::Ollama => "/messages/2/content",
                WireFormat::Generate => continue,
            };
            assert_eq!(body.pointer(place), Some(&json!(sent)), "{body}");
        }
    }
}
