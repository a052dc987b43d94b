//! Requests and answers as clients and servers write them, and round trips.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{CODEC, body, request};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{
    Finish, Message, Messages, Reply, ReplySource, Request, Role, ToolCall, ToolDef, Usage,
};
use crate::learned::Learned;
use crate::{
    AnswerFault, AnswerForm, AnswerPiece, Answering, Feed, FunctionNames, IncomingRequest, Report,
    WireFormat, WireSettings, patch,
};

static LEARNT: Learned = Learned::new();

fn written(request: &Request, write: fn(&Request, &WireSettings<'_>) -> Value) -> String {
    let settings = WireSettings {
        model: "m",
        source: "",
        names: &FunctionNames::of(request),
        streams: true,
        max_tokens_field: "max_tokens",
        longest: 100,
        allowed_tools: true,
        caches: false,
        extra: &Map::new(),
        learned: &LEARNT,
    };
    write(request, &settings).to_string()
}

fn read_body(body: &Value) -> IncomingRequest {
    WireFormat::Ollama.read_request(body.to_string().as_bytes()).unwrap()
}

fn read(format: WireFormat, chunks: &[&[u8]]) -> Result<Reply, AnswerFault> {
    let mut feed = Feed::new(format.begin(&Arc::default(), Report::default()));
    let mut text = String::new();
    let mut seen = |piece| {
        if let AnswerPiece::Text(more) = piece {
            text += &more;
        }
    };
    chunks.iter().try_for_each(|chunk| feed.feed(chunk, &mut seen))?;
    let reply = feed.end(&mut seen)?.reply(&Request::new(Role::Actor, Vec::new()), "").0;
    assert_eq!(reply.text, text);
    Ok(reply)
}

#[test]
fn what_clients_send_is_read() {
    // The client for Python omits ids, and names the tool of a result. LangChain's names nothing.
    let asked = read_body(
        &json!({"model": "llama3.2", "stream": false, "keep_alive": "5m", "think": true, "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
        "format": {"type": "object"}, "options": {"temperature": 0.5, "num_predict": 9, "stop": ["x"], "seed": 3},
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "see", "images": ["AAAA"]},
            {"role": "assistant", "thinking": "hm", "tool_calls": [
                {"function": {"name": "weather", "arguments": {"city": "Oslo"}}},
                {"function": {"index": 1, "name": "time", "arguments": {}}}]},
            {"role": "tool", "content": "rain", "tool_name": "weather"},
            {"role": "tool", "content": "noon"},
            {"role": "assistant", "content": "", "images": [], "tool_calls": [
                {"id": "call_7", "function": {"name": "weather", "arguments": {"city": "Bergen"}}}]},
            {"role": "tool", "content": "sun", "tool_call_id": "call_7"},
        ]}),
    );
    assert_eq!((asked.model.as_str(), asked.streams, asked.unknown.len()), ("llama3.2", false, 0));
    let request = &asked.request;
    assert_eq!((request.max_tokens, request.seed, request.stop.len()), (Some(9), Some(3), 1));
    assert_eq!(request.schema, Some(json!({"type": "object"})));
    let all: Vec<&Message> = request.messages.iter().collect();
    let Message::User { text, blocks } = all[1] else { panic!("{all:?}") };
    assert_eq!((text.as_str(), blocks.len()), ("see", 2));
    let Message::Assistant { calls, .. } = all[2] else { panic!("{all:?}") };
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call00001", "call00002"]);
    assert_eq!(all[3], &Message::result("call00001", "weather".into(), "rain"));
    assert_eq!(all[4], &Message::result("call00002", "time".into(), "noon"));
    assert_eq!(all[6], &Message::result("call_7", "weather".into(), "sun"));
    assert_eq!((asked.calls.len(), asked.results.len()), (3, 3));
    assert!(WireFormat::Ollama.read_request(b"{\"prompt\": \"x\"}").is_err());
}

#[test]
fn a_result_and_arguments_change_in_their_places_alone() {
    let body = r#"{"x": 1.00, "messages": [ {"role":"assistant","tool_calls":[{"function":{"name":"t","arguments": {"n": 1.0} }}]}, {"role":"tool","content":"o\u006be"}]}"#;
    let asked = WireFormat::Ollama.read_request(body.as_bytes()).unwrap();
    let arguments = WireFormat::Ollama.arguments_at(&asked.calls[0], &json!({"n": 2}));
    let result = asked.results[0].written("no", true);
    let places =
        [(asked.calls[0].range.clone(), &*arguments), (asked.results[0].range.clone(), &*result)];
    let patched = String::from_utf8(patch(body.as_bytes(), &places).unwrap()).unwrap();
    let expected = body.replace(r#"{"n": 1.0}"#, r#"{"n":2}"#).replace(r#""o\u006be""#, r#""no""#);
    assert_eq!(patched, expected);
}

#[test]
fn a_completion_is_one_message() {
    let body = json!({"model": "m", "prompt": "### User:\nhi", "system": "S", "images": ["AA"], "options": {}});
    let asked = WireFormat::Generate.read_request(body.to_string().as_bytes()).unwrap();
    let all: Vec<&Message> = asked.request.messages.iter().collect();
    assert_eq!((all.len(), all[0].text(), all[1].text()), (2, "S", "### User:\nhi"));
    assert!(asked.streams && asked.unknown.is_empty());
    let lines = b"{\"response\":\"Hel\",\"done\":false}\n{\"response\":\"lo\",\"done\":false}\n{\"response\":\"\",\"done\":true,\"done_reason\":\"length\",\"context\":[1,2],\"prompt_eval_count\":26,\"eval_count\":2}\n";
    let reply = read(WireFormat::Generate, &[lines]).unwrap();
    assert_eq!((reply.text.as_str(), &reply.finish), ("Hello", &Finish::Length));
    assert_eq!((reply.usage.tokens_in, reply.usage.tokens_out), (26, 2));
    assert!(WireFormat::Generate.read_request(b"{}").is_err());
}

#[test]
fn what_servers_send_is_read() {
    let whole = br#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"hm",
        "tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},{"id":"c","function":{"index":0,"name":"b","arguments":"{}"}}]},
        "done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":7}"#;
    let reply = read(WireFormat::Ollama, &[whole]).unwrap();
    let calls: Vec<(&str, &Value)> =
        reply.calls.iter().map(|call| (call.tool.as_str(), &call.arguments)).collect();
    assert_eq!(calls, [("a", &json!({"x": 1})), ("b", &json!({}))]);
    assert_eq!((reply.reasoning.as_str(), &reply.finish), ("hm", &Finish::Calls));
    // Two calls in two lines are two calls, whatever their index.
    let line = |name: &str| {
        format!(
            "{{\"message\":{{\"tool_calls\":[{{\"function\":{{\"index\":0,\"name\":\"{name}\",\"arguments\":{{}}}}}}]}},\"done\":false}}\n"
        )
    };
    let end = "{\"message\":{\"content\":\"\"},\"done\":true}\n";
    let reply = read(WireFormat::Ollama, &[(line("a") + &line("b") + end).as_bytes()]).unwrap();
    assert_eq!(reply.calls.len(), 2);
    assert!(reply.usage.estimated);
    let error = read(WireFormat::Ollama, &[b"{\"error\":\"model not found\"}\n"]).unwrap_err();
    assert!(matches!(error, AnswerFault::Said(_)), "{error:?}");
    let open = read(WireFormat::Ollama, &[line("a").as_bytes()]).unwrap_err();
    assert_eq!(open, AnswerFault::Missing("end"));
    let long = format!("{{\"message\":{{\"content\":\"{}", "x".repeat(17 << 20));
    let long = read(WireFormat::Ollama, &[long.as_bytes()]).unwrap_err();
    assert_eq!(long, AnswerFault::TooLarge(16));
}

fn text() -> impl Strategy<Value = String> {
    "[a-zé\u{1F31E}\"\\\\ \n]{0,6}[a-z]"
}

fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-c]{1,2}", (any::<i32>(), text()), 0..3).prop_map(|map| {
        let fields = map.into_iter().map(|(name, (number, text))| (name, json!([number, text])));
        Value::Object(fields.collect())
    })
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let call = (prop::sample::select(&["weather", "search-2"][..]), arguments());
    prop::collection::vec(call, 0..3).prop_map(|calls| {
        let named = |(at, (tool, arguments)): (usize, (&str, Value))| ToolCall {
            id: format!("callid{at:03}"),
            tool: tool.into(),
            arguments,
        };
        calls.into_iter().enumerate().map(named).collect()
    })
}

/// Requests that the format can express.
fn requests() -> impl Strategy<Value = Request> {
    let settings = (
        prop::option::of(0.0..2.0f64),
        prop::option::of(any::<i64>()),
        prop::option::of(1..10_000u32),
        prop::collection::vec(text(), 0..2),
        any::<bool>(),
    );
    let turn = (text(), any::<bool>(), text(), calls(), text(), prop::option::of(text()));
    (prop::option::of(text()), turn, settings).prop_map(|(system, turn, settings)| {
        let (asked, with_image, said, calls, returned, thought) = turn;
        let image = Block::kept(BlockKind::Image, json!({"type": "base64", "data": "AAAA"}));
        let blocks = vec![Block::Text { bytes: asked.len() }, image];
        let blocks = if with_image { blocks } else { Vec::new() };
        let mut messages: Messages = system.map(Message::system).into_iter().collect();
        messages.push(Message::User { text: asked, blocks });
        let results: Vec<Message> = calls
            .iter()
            .map(|call| Message::result(call.id.clone(), call.tool.clone(), returned.clone()))
            .collect();
        let mut source = ReplySource::default();
        source.message.extend(thought.map(|thought| ("thinking".to_owned(), thought.into())));
        let has_some = !calls.is_empty() || source != ReplySource::default();
        let source = has_some.then(|| Arc::new(source));
        messages.push(Message::Assistant { text: said, calls, source });
        results.into_iter().for_each(|result| messages.push(result));
        let (temperature, seed, max_tokens, stop, has_tools) = settings;
        let mut request = Request::new(Role::Actor, messages);
        if has_tools {
            let parameters = json!({"type": "object", "properties": {"a": {"const": 1.5}}}).into();
            let name = "weather".into();
            let tool = ToolDef { name, description: "Does it.".to_owned(), parameters };
            request.tools = vec![tool].into();
            request.schema = Some(json!({"type": "object"}));
        }
        request.temperature = temperature.map(Into::into);
        (request.seed, request.max_tokens, request.stop) = (seed, max_tokens, stop);
        request
    })
}

fn replies() -> impl Strategy<Value = Reply> {
    let usage = (1..9_000u64, 1..9_000u64);
    ("[a-z\né\u{1F31E}]{0,9}", "[a-z ]{0,9}", calls(), 0..2u8, usage).prop_map(
        |(text, reasoning, calls, how, (tokens_in, tokens_out))| {
            let finish = match how {
                _ if !calls.is_empty() => Finish::Calls,
                0 => Finish::Length,
                _ => Finish::Stop,
            };
            let usage = Usage { tokens_in, tokens_out, ..Usage::default() };
            Reply { reasoning, calls, finish, usage, ..Reply::of_text(text) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    #[test]
    fn a_request_is_read_as_it_was_written(request in requests()) {
        let text = written(&request, body::write_request);
        let asked = request::chat(text.as_bytes()).unwrap();
        prop_assert_eq!(&asked.request, &request, "{}", text);
        prop_assert!(asked.unknown.is_empty() && asked.streams, "{:?}", asked.unknown);
        let calls = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => &calls[..],
            _ => &[],
        });
        for (call, spot) in calls.zip(&asked.calls) {
            let value: Value = serde_json::from_str(&text[spot.range.clone()]).unwrap();
            prop_assert_eq!(&value, &call.arguments);
        }
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(reply in replies(), at: prop::sample::Index) {
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 7 };
        for form in [AnswerForm::Whole, AnswerForm::Lines] {
            let text = WireFormat::Ollama.write_answer(&reply, &answering, form);
            let (first, second) = text.as_bytes().split_at(at.index(text.len() + 1));
            let read = read(WireFormat::Ollama, &[first, second]).unwrap();
            prop_assert_eq!(Reply { source: None, ..read }, reply.clone(), "{}", text);
            let has_call = text.lines().any(|line| (CODEC.has_call)(line));
            prop_assert_eq!(has_call, !reply.calls.is_empty());
            prop_assert!(text.lines().last().is_some_and(CODEC.is_end));
        }
    }

    #[test]
    fn any_bytes_do_no_harm(bytes: Vec<u8>) {
        for format in [WireFormat::Ollama, WireFormat::Generate] {
            let _ = format.read_request(&bytes);
            let _ = read(format, &[&bytes]);
            format.has_call(&String::from_utf8_lossy(&bytes));
        }
    }
}
