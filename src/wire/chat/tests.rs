//! Round trips: written requests and replies are read again, wherever the bytes are cut.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finish, Message, Messages, Reply, Request, Role, ToolCall, ToolDef, Usage};
use crate::learned::Learned;
use crate::{
    AnswerForm, Answering, Feed, FunctionNames, Report, WireFormat, WireSettings, changed,
    with_turns,
};

static LEARNT: Learned = Learned::new();

fn settings<'a>(
    names: &'a FunctionNames,
    extra: &'a Map<String, Value>,
    streams: bool,
) -> WireSettings<'a> {
    WireSettings {
        model: "m",
        source: "m at h",
        names,
        streams,
        max_tokens_field: "max_tokens",
        longest: 100,
        allowed_tools: true,
        caches: false,
        extra,
        learned: &LEARNT,
    }
}

fn written(request: &Request, streams: bool) -> String {
    write_request(request, &settings(&FunctionNames::of(request), &Map::new(), streams)).to_string()
}

fn some_text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\é\u{1F31E}]{1,8}"
}

fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-c]{1,2}", (any::<i32>(), some_text()), 0..3).prop_map(|map| {
        let fields =
            map.into_iter().map(|(name, (number, text))| (name, json!([number, text, null])));
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

/// A turn: what the user says, what the model answers, and what its calls return.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    (some_text(), any::<bool>(), some_text(), calls(), "[a-z\n ]{0,6}").prop_map(
        |(asked, with_image, said, calls, returned)| {
            let image =
                json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
            let blocks =
                vec![Block::Text { bytes: asked.len() }, Block::kept(BlockKind::Image, image)];
            let blocks = if with_image { blocks } else { Vec::new() };
            let mut messages = vec![Message::User { text: asked, blocks }];
            let results: Vec<_> = calls
                .iter()
                .map(|call| Message::result(call.id.clone(), call.tool.clone(), returned.clone()))
                .collect();
            let source = (!calls.is_empty()).then(Arc::default);
            messages.push(Message::Assistant { text: said, calls, source });
            messages.extend(results);
            messages
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let settings = (
        prop::option::of(0.0..2.0f64),
        prop::option::of(any::<i64>()),
        prop::option::of(1..10_000u32),
        prop::collection::vec(some_text(), 0..2),
        any::<bool>(),
    );
    (prop::option::of(some_text()), turn(), settings).prop_map(|(system, turn, settings)| {
        let (temperature, seed, max_tokens, stop, has_tools) = settings;
        let messages: Messages = system.map(Message::system).into_iter().chain(turn).collect();
        let tool = |name: &str| ToolDef {
            name: name.into(),
            description: "Does it.".to_owned(),
            parameters: json!({"type": "object", "properties": {"a": {"const": 1.5}}}).into(),
        };
        let mut request = Request::new(Role::Actor, messages);
        if has_tools {
            request.tools = vec![tool("weather"), tool("search-2")].into();
            request.allowed = vec!["weather".into()];
            request.schema = Some(json!({"type": "object"}));
        }
        request.temperature = temperature.map(Into::into);
        (request.seed, request.max_tokens, request.stop) = (seed, max_tokens, stop);
        request
    })
}

fn reply() -> impl Strategy<Value = Reply> {
    let usage = (0..9_000u64, 0..9_000u64, 0..100u64);
    ("[a-z\né\u{1F31E}]{0,9}", "[a-z ]{0,9}", calls(), 0..4u8, usage).prop_map(
        |(text, reasoning, calls, how, (more, tokens_out, cached))| {
            let finish = match how {
                _ if !calls.is_empty() => Finish::Calls,
                0 => Finish::Length,
                1 => Finish::Filtered,
                2 if !text.is_empty() => Finish::Refused,
                _ => Finish::Stop,
            };
            let tokens_in = 1 + cached + more;
            let usage = Usage { tokens_in, tokens_out, cached, ..Usage::default() };
            Reply { reasoning, calls, finish, usage, ..Reply::of_text(text) }
        },
    )
}

/// Reads bytes in pieces of these sizes, which repeat.
fn read(bytes: &[u8], sizes: &[usize]) -> Reply {
    let mut feed = Feed::new(ChatAnswer::begin(&Arc::default(), Report::default()));
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
        let (piece, after) = rest.split_at(size);
        feed.feed(piece, &mut |_| {}).unwrap();
        rest = after;
    }
    let reply = feed.end(&mut |_| {}).unwrap().reply(&Request::new(Role::Actor, Vec::new()), "h").0;
    // The source of the reply is not compared.
    Reply { source: None, ..reply }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    #[test]
    fn a_request_is_read_as_it_was_written(request in request(), streams: bool) {
        let text = written(&request, streams);
        let asked = read_request(text.as_bytes()).unwrap();
        prop_assert_eq!(&asked.request, &request);
        prop_assert_eq!((asked.model.as_str(), asked.streams), ("m", streams));
        prop_assert_eq!(asked.unknown, Default::default());
        for (spot, call) in asked.calls.iter().zip(request.messages.iter().flat_map(calls_of)) {
            let arguments: String = serde_json::from_str(&text[spot.range.clone()]).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), call.arguments.clone());
        }
        let results = request.messages.iter().filter(|it| matches!(it, Message::Tool { .. }));
        for (spot, result) in asked.results.iter().zip(results) {
            let content: String = serde_json::from_str(&text[spot.range.clone()]).unwrap();
            prop_assert_eq!(content.as_str(), result.text());
        }
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(
        reply in reply(), sizes in prop::collection::vec(1..40usize, 1..5),
    ) {
        let answering = Answering { id: "a1", model: "m", names: &FunctionNames::default(), created: 1 };
        let stream = write_stream(&reply, &answering);
        prop_assert_eq!(&read(stream.as_bytes(), &sizes), &reply);
        prop_assert_eq!(&read(stream.as_bytes(), &[1]), &reply);
        let whole = write_reply(&reply, &answering);
        prop_assert_eq!(&read(whole.as_bytes(), &sizes), &reply);
        prop_assert_eq!(has_call(&whole), !reply.calls.is_empty());
        let mut data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        prop_assert_eq!(data.any(has_call), !reply.calls.is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_request(&bytes);
        let mut feed = Feed::new(ChatAnswer::begin(&Arc::default(), Report::default()));
        let _ = feed.feed(&bytes, &mut |_| {});
        let _ = feed.end(&mut |_| {});
        let _ = has_call(&String::from_utf8_lossy(&bytes));
    }
}

fn calls_of(message: &Message) -> &[ToolCall] {
    if let Message::Assistant { calls, .. } = message { calls } else { &[] }
}

#[test]
fn what_is_not_known_is_kept_and_counted() {
    let text = r#"{"model": "m", "hologram": 1, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "smell", "data": "x"}], "mood": 2},
        {"role": "assistant", "reasoning_content": "hm", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "extra_content": {"s": 1}, "function": {"name": "f", "arguments": "{"}},
            {"id": "c1", "type": "custom", "custom": {}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"}, 7],
        "tools": [{"type": "web_search"}], "stream": true}"#;
    let asked = read_request(text.as_bytes()).unwrap();
    let unknown: Vec<_> =
        asked.unknown.iter().map(|(what, count)| format!("{what} {count}")).collect();
    assert_eq!(
        unknown,
        [
            "hologram 1",
            "messages[] 1",
            "messages[].content[].type=smell 1",
            "messages[].mood 1",
            "messages[].tool_calls[] 1",
            "tools[].type=web_search 1",
        ]
    );
    assert_eq!(
        asked.request.messages[0].blocks()[1].label().unwrap(),
        "[smell, not understood 1 B]"
    );
    let Message::Assistant { calls, source: Some(source), .. } = &asked.request.messages[1] else {
        panic!("{:?}", asked.request.messages)
    };
    assert_eq!(calls[0].arguments, json!("{"));
    assert_eq!(source.message["reasoning_content"], "hm");
    assert_eq!(source.calls["c1"]["extra_content"], json!({"s": 1}));
    assert!(
        matches!(&asked.request.messages[2], Message::Tool { tool, .. } if tool.as_str() == "f")
    );
    assert_eq!(asked.request.tools[0].name.as_str(), "web_search");
}

#[test]
fn what_is_no_request_is_refused_with_a_reason() {
    for (text, why) in [
        (&b"\xFF"[..], "not UTF-8"),
        (b"{", "not JSON: EOF while parsing an object at line 1 column 1"),
        (b"[]", "no request: expected an object"),
        (b"{}", "no request: expected a list `messages`"),
    ] {
        assert_eq!(read_request(text).unwrap_err().to_string(), why);
    }
    let deep = format!("{{\"messages\": [{}{}]}}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(read_request(deep.as_bytes()).unwrap().unknown["messages[]"], 1);
}

/// A streamed answer of these chunks' choices.
fn streamed(choices: &[Value]) -> String {
    let events = choices.iter().map(|choice| format!("data: {}\n\n", json!({"choices": [choice]})));
    events.collect::<String>() + "data: [DONE]\n\n"
}

#[test]
fn a_call_in_the_form_before_tools_is_read() {
    let delta = |name: Option<&str>, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"index": 0, "delta": {"content": null, "function_call": function}})
    };
    let end = json!({"index": 0, "delta": {}, "finish_reason": "function_call"});
    let choices =
        [delta(Some("weather"), ""), delta(None, "{\"city\": "), delta(None, "\"Lisbon\"}"), end];
    let reply = read(streamed(&choices).as_bytes(), &[40]);
    let [call] = &reply.calls[..] else { panic!("{reply:?}") };
    assert_eq!((call.tool.as_str(), &call.arguments), ("weather", &json!({"city": "Lisbon"})));
    assert_eq!(reply.finish, Finish::Calls);
    let message = json!({"content": "", "tool_calls": [], "function_call":
        {"name": "clock", "arguments": "{}"}});
    let whole = json!({"choices": [{"message": message, "finish_reason": "function_call"}]});
    assert_eq!(read(whole.to_string().as_bytes(), &[40]).calls[0].tool.as_str(), "clock");
}

#[test]
fn an_empty_error_is_none_and_an_error_may_be_a_text() {
    for error in [json!({}), json!([]), json!(""), json!(null)] {
        let said =
            json!({"index": 0, "delta": {"content": "Sunny.", "error": error}, "error": error});
        let end = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
        let reply = read(streamed(&[said, end]).as_bytes(), &[40]);
        assert_eq!((reply.text.as_str(), reply.finish), ("Sunny.", Finish::Stop), "{error}");
    }
    let mut feed = Feed::new(ChatAnswer::begin(&Arc::default(), Report::default()));
    let fed = feed.feed(b"event: error\ndata: Slow down.\n\n", &mut |_| {});
    assert_eq!(fed, Err(crate::AnswerFault::Said("Slow down.".into())));
}

#[test]
fn ids_that_are_numbers_equal_or_missing_still_name_their_calls() {
    let call =
        |id: Value, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
    let result = |id: Value| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let cases = [
        (json!([5, 6]), json!([6, 5]), ["clock", "weather"]),
        (json!(["0", "0"]), json!(["0", "0"]), ["weather", "clock"]),
        (json!([null, null]), json!([null, null]), ["weather", "clock"]),
    ];
    for (ids, answers, expected) in cases {
        let calls = [call(ids[0].clone(), "weather"), call(ids[1].clone(), "clock")];
        let body = json!({"model": "m", "messages": [
            {"role": "assistant", "content": null, "tool_calls": calls},
            result(answers[0].clone()), result(answers[1].clone()),
        ]});
        let asked = read_request(body.to_string().as_bytes()).unwrap();
        let tools = asked.request.messages.iter().filter_map(|message| match message {
            Message::Tool { tool, .. } => Some(tool.as_str()),
            _ => None,
        });
        assert_eq!(tools.collect::<Vec<_>>(), expected, "{ids}");
    }
}

#[test]
fn a_choice_of_tools_may_force_a_call() {
    let forced = |more: Value| {
        let mut body = json!({"model": "m", "messages": []});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read_request(body.to_string().as_bytes()).unwrap().forces_call
    };
    for choice in [
        json!("auto"),
        json!("none"),
        json!(null),
        json!({"type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": []}}),
    ] {
        assert!(!forced(json!({"tool_choice": choice})), "{choice}");
    }
    let named = json!({"type": "function", "function": {"name": "weather"}});
    for choice in [
        json!("required"),
        json!("any"),
        named,
        json!({"type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": []}}),
    ] {
        assert!(forced(json!({"tool_choice": choice})), "{choice}");
    }
    assert!(forced(json!({"function_call": {"name": "weather"}})));
}

/// An answer with a call in the form before tools: whole, and in pieces.
fn old_answers() -> [String; 2] {
    let choice = |part: &str, value: Value, finish: Value| json!({"id": "x", "choices": [{"index": 0, part: value, "finish_reason": finish}]});
    let call = json!({"role": "assistant", "content": null,
        "function_call": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}});
    let piece = |call: Value| choice("delta", json!({ "function_call": call }), Value::Null);
    let events = [
        piece(json!({"name": "weather", "arguments": ""})),
        piece(json!({"arguments": "{\"city\": "})),
        piece(json!({"arguments": "\"Oslo\"}"})),
        choice("delta", json!({}), "function_call".into()),
    ];
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    [choice("message", call, "function_call".into()).to_string(), stream + "data: [DONE]\n\n"]
}

#[test]
fn calls_before_tools_have_places_and_ids_of_their_own() {
    let call = json!({"role": "assistant", "content": null,
        "function_call": {"name": "weather", "arguments": "{}"}});
    let result = |text: &str| json!({"role": "function", "name": "weather", "content": text});
    let functions =
        json!([{"name": "weather", "description": "W.", "parameters": {"type": "object"}}]);
    let user = json!({"role": "user", "content": "Oslo?"});
    let body = json!({"model": "m", "functions": functions, "function_call": "auto",
        "messages": [user, call, result("sun"), call, result("rain"), result("none")]});
    let text = body.to_string();
    let asked = WireFormat::Chat.read_request(text.as_bytes()).unwrap();
    assert_eq!(asked.request.tools[0].name.as_str(), "weather");
    assert_eq!(asked.unknown, [].into());
    let places = asked.results.iter().map(|it| (it.number, &text[it.range.clone()]));
    let expected = [(0, "\"sun\""), (1, "\"rain\""), (2, "\"none\"")];
    assert_eq!(places.collect::<Vec<_>>(), expected);
    let ids: Vec<&str> = crate::ids::calls(&asked.request).map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["call00001", "call00002"]);
    assert_eq!(asked.request.messages[4], Message::result("call00002", "weather".into(), "rain"));
    // The next answer has the id that the next request gives its call.
    let mut feed = Feed::new(WireFormat::Chat.begin(&Arc::default(), Report::default()));
    feed.feed(old_answers()[1].as_bytes(), &mut |_| {}).unwrap();
    let reply = feed.end(&mut |_| {}).unwrap().reply(&asked.request, "e").0;
    assert_eq!(reply.calls[0].id, "call00003");
    let more = Message::Assistant { text: String::new(), calls: reply.calls, source: reply.source };
    let more = [more, Message::result("call00003", "weather".into(), "fog")];
    let longer = with_turns(WireFormat::Chat, text.as_bytes(), &[(None, &more)]).unwrap();
    let longer: Value = serde_json::from_slice(&longer).unwrap();
    assert_eq!(longer["messages"][6]["function_call"]["name"], "weather");
    assert_eq!(longer["messages"][7], result("fog"));
}

#[test]
fn calls_before_tools_are_held_changed_and_written() {
    for answer in old_answers() {
        let read = |bytes: &[u8]| {
            let begun = WireFormat::Chat.begin(&Arc::default(), Report::default());
            let mut feed = Feed::new(begun);
            feed.feed(bytes, &mut |_| {}).unwrap();
            feed.end(&mut |_| {}).unwrap().reply(&Request::new(Role::Actor, Vec::new()), "e").0
        };
        let first = answer.lines().next().unwrap();
        let data = first.strip_prefix("data: ").unwrap_or(first);
        assert!(WireFormat::Chat.has_call(data), "{data}");
        let reply = read(answer.as_bytes());
        let mut calls = reply.calls.clone();
        calls[0].arguments = json!({"city": "Bergen"});
        let edited = changed(WireFormat::Chat, answer.as_bytes(), "", &calls);
        let edited = String::from_utf8(edited).unwrap();
        assert_eq!(read(edited.as_bytes()).calls, calls);
        assert!(!edited.contains("tool_calls") && !edited.contains("Oslo"), "{edited}");
        let none =
            String::from_utf8(changed(WireFormat::Chat, answer.as_bytes(), "", &[])).unwrap();
        assert!(read(none.as_bytes()).calls.is_empty() && none.contains("\"stop\""), "{none}");
        let names = FunctionNames::default();
        let answering = Answering { id: "x", model: "m", names: &names, created: 1 };
        for streams in [true, false] {
            let written =
                WireFormat::Chat.write_answer(&reply, &answering, AnswerForm::of_stream(streams));
            assert!(written.contains("\"function_call\":{") && !written.contains("tool_calls"));
            assert_eq!(read(written.as_bytes()).calls, reply.calls);
        }
    }
}
