//! Round trips: written requests and replies are read again, wherever the bytes are cut, and malformed input does no
//! harm.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::arbitrary::{reply, request};
use super::*;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finish, Message, Reply, Request, Role, ToolCall, Usage};
use crate::learned::Learned;
use crate::{
    AnswerFault, AnswerPiece, Answering, Feed, FunctionNames, Report, WireSettings, arguments,
};

fn written(request: &Request) -> String {
    let names = FunctionNames::of(request);
    let settings = WireSettings {
        model: "m",
        source: "",
        names: &names,
        streams: true,
        max_tokens_field: "",
        longest: 1,
        allowed_tools: true,
        caches: false,
        extra: &Map::new(),
        learned: &Learned::default(),
    };
    write_request(request, &settings).to_string()
}

/// A request that has the tools of this reply.
fn of(reply: &Reply) -> Request {
    let calls = reply.calls.clone();
    let past = Message::Assistant { text: String::new(), calls, source: None };
    Request::new(Role::Actor, vec![past])
}

fn answering(names: &FunctionNames) -> Answering<'_> {
    Answering { id: "1", model: "m", names, created: 1_700_000_000 }
}

/// The answer in these chunks, with the pieces that a person saw of it.
fn read<'a>(
    names: &Arc<FunctionNames>,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> Result<(Reply, Vec<AnswerPiece>), AnswerFault> {
    let mut seen = Vec::new();
    let mut feed = Feed::new(ResponsesAnswer::begin(names, Report::default()));
    for chunk in chunks {
        feed.feed(chunk, &mut |piece| seen.push(piece))?;
    }
    let answer = feed.end(&mut |piece| seen.push(piece))?;
    let text: String =
        seen.iter().map(|it| if let AnswerPiece::Text(it) = it { it } else { "" }).collect();
    assert_eq!(answer.text(), text);
    Ok((answer.reply(&Request::new(Role::Actor, Vec::new()), "here").0, seen))
}

fn read_text(text: &str) -> Result<Reply, AnswerFault> {
    read(&Arc::default(), [text.as_bytes()].into_iter()).map(|(reply, _)| reply)
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    #[test]
    fn a_request_is_read_as_it_was_written(request in request()) {
        let body = written(&request);
        let asked = read_request(body.as_bytes()).unwrap();
        prop_assert_eq!(&asked.request, &request);
        let is_known = |(what, _): (&String, &u32)| what == "input[].type=hologram";
        prop_assert!(asked.unknown.iter().all(is_known), "{:?}", asked.unknown);
        prop_assert!(asked.streams && asked.model == "m");
        let calls: Vec<&ToolCall> = crate::ids::calls(&request).collect();
        prop_assert_eq!(calls.len(), asked.calls.len());
        for (number, (call, spot)) in calls.iter().zip(&asked.calls).enumerate() {
            prop_assert_eq!(spot.number, number);
            let value = match serde_json::from_str(&body[spot.range.clone()]).unwrap() {
                Value::String(text) if !call.arguments.is_string() => arguments::read(&text),
                value => value,
            };
            prop_assert_eq!(&value, &call.arguments);
        }
        let mut results = asked.results.iter().enumerate();
        for message in &request.messages {
            if let Message::Tool { text, blocks, .. } = message {
                let (number, spot) = results.next().unwrap();
                prop_assert_eq!(spot.number, number);
                let value: Value = serde_json::from_str(&body[spot.range.clone()]).unwrap();
                if !spot.form.takes_text() || spot.form == crate::SpotForm::Shell {
                    continue;
                }
                prop_assert_eq!(value, content::write(text, blocks));
            }
        }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written_wherever_it_is_cut(
        reply in reply("here"),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let names = Arc::new(FunctionNames::of(&of(&reply)));
        let answering = answering(&names);
        for text in [write_stream(&reply, &answering), write_reply(&reply, &answering)] {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks = at.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
            let (read, seen) = read(&names, chunks).unwrap();
            prop_assert_eq!(&read, &reply);
            let thoughts: String =
                seen.iter().map(|it| if let AnswerPiece::Reasoning(it) = it { it } else { "" }).collect();
            prop_assert_eq!(thoughts, reply.reasoning.clone());
        }
    }

    #[test]
    fn the_events_of_calls_are_found(reply in reply("here")) {
        let names = Arc::new(FunctionNames::of(&of(&reply)));
        let answering = answering(&names);
        prop_assert_eq!(has_call(&write_reply(&reply, &answering)), !reply.calls.is_empty());
        let stream = write_stream(&reply, &answering);
        let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        let begun = data.filter(|data| data.contains("output_item.added") && has_call(data));
        prop_assert_eq!(begun.count(), reply.calls.len());
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,80}") {
        let _ = read_request(&bytes);
        let _ = read_request(text.as_bytes());
        let _ = read(&Arc::default(), [bytes.as_slice()].into_iter());
        has_call(&text);
    }

    /// Events and items of known types, whose fields are anything.
    #[test]
    fn odd_events_and_items_do_no_harm(events in prop::collection::vec(odd(), 0..12)) {
        let text = stream(&events) + "data: [DONE]\n\n";
        let _ = read_lenient(&text);
        let items: Vec<Value> = events.iter().map(|event| event["item"].clone()).collect();
        let body = json!({"object": "response", "output": items, "input": items}).to_string();
        let _ = read_lenient(&body);
        let asked = read_request(body.as_bytes()).unwrap();
        for spot in asked.calls.iter().chain(&asked.results) {
            prop_assert!(serde_json::from_str::<Value>(&body[spot.range.clone()]).is_ok());
        }
        written(&asked.request);
        has_call(&body);
        text.lines().filter_map(|line| line.strip_prefix("data: ")).for_each(|data| {
            has_call(data);
        });
    }
}

/// Like [`read_text`], for streams whose texts may be replaced at the end.
fn read_lenient(text: &str) -> Result<Reply, AnswerFault> {
    let mut feed = Feed::new(ResponsesAnswer::begin(&Arc::default(), Report::default()));
    feed.feed(text.as_bytes(), &mut |_| {})?;
    let reply = feed.end(&mut |_| {})?.reply(&Request::new(Role::Actor, Vec::new()), "here").0;
    let names = FunctionNames::of(&of(&reply));
    write_stream(&reply, &answering(&names));
    Ok(reply)
}

fn odd() -> impl Strategy<Value = Value> {
    let value = || {
        prop_oneof![
            Just(Value::Null),
            (0..3_u64).prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from),
            Just(json!([{"type": "output_text", "text": "t"}, {"type": "odd"}, 1, "s"])),
            Just(json!({"type": "refusal", "refusal": "no"})),
            Just(json!({"text": "t", "id": 3})),
        ]
    };
    let kinds = "(output_text|refusal|reasoning_text|reasoning_summary_text|function_call_arguments|custom_tool_call_input|output_item|content_part|odd)\\.(added|delta|done)|completed|in_progress";
    let items = "message|function_call|custom_tool_call|reasoning|function_call_output|web_search_call|computer_call_output|odd|";
    let of_item = ["id", "call_id", "name", "arguments", "input", "output", "content", "summary"];
    let of_event =
        ["output_index", "item_id", "content_index", "delta", "text", "part", "response"];
    let item = (items, prop::collection::vec(value(), 8)).prop_map(move |(kind, values)| {
        let mut item = json!({"type": kind, "role": "assistant"});
        of_item.iter().zip(values).for_each(|(name, value)| item[name] = value);
        item
    });
    (kinds, item, prop::collection::vec(value(), 7)).prop_map(move |(kind, item, values)| {
        let mut event = json!({"type": format!("response.{kind}"), "item": item});
        of_event.iter().zip(values).for_each(|(name, value)| event[name] = value);
        event
    })
}

#[test]
fn a_stream_may_be_cut_at_every_byte() {
    let reply = Reply {
        text: "Sün 🌞".into(),
        reasoning: "Hm.".into(),
        calls: vec![call("c1", "a.b", json!({"x": "é"})), call("c2", "f", json!("{broken"))],
        finish: Finish::Calls,
        usage: Usage { tokens_in: 3, tokens_out: 2, ..Usage::default() },
        source: Some(Arc::new(crate::domain::ReplySource {
            endpoint: "here".into(),
            ..crate::domain::ReplySource::default()
        })),
        repairs: Vec::new(),
    };
    let names = Arc::new(FunctionNames::of(&of(&reply)));
    let text = write_stream(&reply, &answering(&names));
    for at in 0..=text.len() {
        let (before, after) = text.as_bytes().split_at(at);
        let (read, seen) = self::read(&names, [before, after].into_iter()).unwrap();
        assert_eq!(read, reply, "{at}");
        let expected = [AnswerPiece::Reasoning("Hm.".into()), AnswerPiece::Text("Sün 🌞".into())];
        assert_eq!(seen, expected, "{at}");
    }
    let (read, _) = self::read(&names, text.as_bytes().chunks(1)).unwrap();
    assert_eq!(read, reply);
    // A stream that stops before its end is not an answer.
    let end = text.rfind("event: response.completed").unwrap();
    for cut in [&text[..end], &text[..end + 60], &text[..200]] {
        assert!(read_text(cut).is_err());
    }
}

#[test]
fn an_answer_of_the_vendor_is_read() {
    let encrypted = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": "**Plan**"}, {"type": "summary_text", "text": "Look."}]});
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed",
        "action": {"type": "search", "query": "x"}});
    let begun = json!({"id": "msg_1", "type": "message", "status": "in_progress", "content": [], "role": "assistant"});
    let message = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "I look."}]});
    let function = json!({"id": "fc_1", "type": "function_call", "status": "completed",
        "arguments": "{\"city\":\"Oslo\"}", "call_id": "call_1", "name": "weather"});
    let usage = json!({"input_tokens": 75, "input_tokens_details": {"cached_tokens": 32},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 9}, "total_tokens": 95});
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0,
            "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0, "item_id": "rs_1"}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "item_id": "rs_1", "delta": "**Pl"}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "item_id": "rs_1", "delta": "an**"}),
        json!({"type": "response.reasoning_summary_text.done", "output_index": 0, "summary_index": 0, "item_id": "rs_1", "text": "**Plan**"}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "item_id": "rs_1", "delta": "Look."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": encrypted}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"id": "ws_1", "type": "web_search_call"}}),
        json!({"type": "response.web_search_call.searching", "output_index": 1, "item_id": "ws_1"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": search}),
        json!({"type": "response.output_item.added", "output_index": 2, "item": begun}),
        json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 2, "content_index": 0,
            "part": {"type": "output_text", "annotations": [], "text": ""}}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 2, "content_index": 0, "delta": "I "}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 2, "content_index": 0, "delta": "look."}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": message}),
        json!({"type": "response.output_item.added", "output_index": 3, "item": {"id": "fc_1",
            "type": "function_call", "status": "in_progress", "arguments": "", "call_id": "call_1", "name": "weather"}}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 3, "delta": "{\"city\":\"Oslo\"}"}),
        json!({"type": "response.output_item.done", "output_index": 3, "item": function}),
        json!({"type": "keepalive"}),
    ];
    let whole = json!({"id": "resp_1", "object": "response", "status": "completed", "error": null,
        "output": [encrypted, search, message, function], "usage": usage});
    // Codex's endpoint sends no items at the end.
    let hollow = json!({"id": "resp_1", "status": "completed", "output": [], "usage": usage});
    for end in [whole.clone(), hollow] {
        events.push(json!({"type": "response.completed", "response": end}));
        let (reply, seen) =
            read(&Arc::default(), [stream(&events).as_bytes()].into_iter()).unwrap();
        events.pop();
        assert_eq!(
            (reply.text.as_str(), reply.reasoning.as_str()),
            ("I look.", "**Plan**\n\nLook.")
        );
        assert_eq!(reply.calls, [call("call_1", "weather", json!({"city": "Oslo"}))]);
        assert_eq!(reply.finish, Finish::Calls);
        assert_eq!(
            (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.cached),
            (75, 20, 32)
        );
        let source = reply.source.as_deref().unwrap();
        let blocks = [
            Block::kept(BlockKind::Thinking, encrypted.clone()),
            Block::kept(BlockKind::Server, search.clone()),
            Block::Text { bytes: 7 },
            Block::Call { id: "call_1".into() },
        ];
        assert_eq!(source.blocks, blocks);
        assert_eq!(source.message, Map::from_iter([("phase".to_owned(), json!(["commentary"]))]));
        let pieces = ["**Pl", "an**", "\n\nLook."].map(|it| AnswerPiece::Reasoning(it.into()));
        assert_eq!(seen[..3], pieces);
        assert_eq!(read_text(&whole.to_string()).unwrap(), reply);
    }
}

#[test]
fn servers_that_send_only_some_events_are_read() {
    let done = json!({"type": "response.completed", "response": {"status": "completed"}});
    let delta = |at: u64, id: &str, text: &str| json!({"type": "response.output_text.delta", "output_index": at, "item_id": id, "delta": text});
    // An item that never began; only the end of a text; only the end of an item; only the end.
    for events in [
        vec![delta(4, "m", "a"), delta(4, "m", "b")],
        vec![json!({"type": "response.output_text.done", "text": "ab"})],
        vec![
            json!({"type": "response.output_item.done", "item": {"type": "message", "content": "ab"}}),
        ],
        vec![
            json!({"type": "response.content_part.done", "part": {"type": "output_text", "text": "ab"}}),
        ],
        // Ids that differ in each event, as GitHub's endpoint sends them.
        vec![delta(0, "x1", "a"), delta(0, "x2", "b")],
    ] {
        let text = stream(&events) + &stream(std::slice::from_ref(&done));
        assert_eq!(read_text(&text).unwrap().text, "ab", "{text}");
        let text = stream(&events) + "data: [DONE]\n\n";
        assert_eq!(read_text(&text).unwrap().finish, Finish::Stop, "{text}");
    }
    let end = json!({"type": "response.completed", "response": {"output": [
        {"type": "message", "content": [{"type": "output_text", "text": "ab"}]}]}});
    assert_eq!(read_text(&stream(&[end])).unwrap().text, "ab");
    // Halves of a character in two pieces.
    let halves = r#"data: {"type":"response.output_text.delta","delta":"Sun \ud83c"}

data: {"type":"response.output_text.delta","delta":"\udf1e"}

data: [DONE]"#;
    assert_eq!(read_text(halves).unwrap().text, "Sun 🌞");
    // Half of a call is not an answer.
    let half = json!({"type": "response.function_call_arguments.delta", "delta": "{\"a"});
    assert!(read_text(&(stream(&[half]) + "data: [DONE]\n\n")).is_err());
}

#[test]
fn calls_keep_apart_and_get_ids_of_their_own() {
    let added = |id: &str, call: &str| {
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call",
            "id": id, "call_id": call, "name": "f", "arguments": ""}})
    };
    let delta = |id: &str, text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": id, "delta": text});
    // One index for all items, and one call id for two of them.
    let events = [
        added("fc_1", "same"),
        added("fc_2", "same"),
        delta("fc_2", "{\"x\":2}"),
        delta("fc_1", "no JSON"),
        json!({"type": "response.output_item.done", "item": {"type": "function_call", "name": "g"}}),
        json!({"type": "response.completed", "response": {}}),
        // Nothing counts after the end.
        added("fc_3", "late"),
    ];
    let reply = read_text(&stream(&events)).unwrap();
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids[0], "same");
    assert_eq!(reply.calls[0].arguments, "no JSON");
    assert_eq!(reply.calls[1].arguments, json!({"x": 2}));
    assert!(ids.len() == 2 && ids[1] != "same", "{ids:?}");
}

#[test]
fn an_answer_ends_as_its_endpoint_says() {
    let whole = |status: &str, reason: Value, part: Value| {
        json!({"object": "response", "status": status, "incomplete_details": {"reason": reason},
            "output": [{"type": "message", "content": [part]}]})
    };
    let text = json!({"type": "output_text", "text": "Su"});
    for (reason, finish) in [
        (json!("max_output_tokens"), Finish::Length),
        (json!("content_filter"), Finish::Filtered),
        (json!("steered"), Finish::Other("steered".into())),
        (json!(null), Finish::Other("incomplete".into())),
    ] {
        let document = whole("incomplete", reason, text.clone());
        assert_eq!(read_text(&document.to_string()).unwrap().finish, finish);
        let event = json!({"type": "response.incomplete", "response": document});
        assert_eq!(read_text(&stream(&[event])).unwrap().finish, finish);
    }
    let refusal = json!({"type": "refusal", "refusal": "No."});
    let reply = read_text(&whole("completed", json!(null), refusal).to_string()).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("No.", Finish::Refused));
    let failed = json!({"object": "response", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "Down."}});
    let cancelled = whole("cancelled", json!(null), text.clone()).to_string();
    assert_eq!(read_text(&cancelled), Err(AnswerFault::Ended("cancelled".into())));
    let said = Err(AnswerFault::Said(failed.clone()));
    assert_eq!(read_text(&failed.to_string()), said);
    assert_eq!(read_text(&stream(&[json!({"type": "response.failed", "response": failed})])), said);
    for event in [
        json!({"type": "error", "code": "server_error", "message": "Down."}),
        json!({"error": {"message": "Down."}}),
    ] {
        assert_eq!(read_text(&stream(std::slice::from_ref(&event))), Err(AnswerFault::Said(event)));
    }
    let error = write_error_event(503, "Down.");
    assert!(
        matches!(read_text(&error), Err(AnswerFault::Said(said)) if said["message"] == "Down.")
    );
    assert!(matches!(read_text(&write_error(429, "Slow.")), Err(AnswerFault::Said(_))));
    assert!(matches!(read_text("{\"choices\":[]}"), Err(AnswerFault::Other(_))));
    assert_eq!(read_text("{\"object\":\"response\"}"), Err(AnswerFault::Missing("output")));
    assert!(matches!(read_text("data: {\"choices\":[]}\n\n"), Err(AnswerFault::Other(_))));
    assert!(matches!(read_text("data: nix\n\n"), Err(AnswerFault::NotJson(_))));
}

#[test]
fn the_items_at_the_end_have_the_last_word() {
    let item = |text: &str, more: &str| {
        json!({"type": "message", "id": "m", "content": [
            {"type": "output_text", "text": text}, {"type": "output_text", "text": more}]})
    };
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "delta": "Rain"});
    let gone =
        json!({"type": "response.function_call_arguments.delta", "item_id": "f", "delta": "{}"});
    let output = json!([{"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Sun"}]}]);
    let end = json!({"type": "response.completed", "response": {"output": output}});
    let first = json!({"type": "response.output_item.added", "item": item("Ra", "in")});
    let reply = read_lenient(&stream(&[first, delta, gone, end])).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("Sun", 0));
    // Texts that the items lack were in the pieces.
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "delta": "Rain"});
    let output = json!([{"type": "message", "id": "m", "content": []}]);
    let end = json!({"type": "response.completed", "response": {"output": output}});
    assert_eq!(read_text(&stream(&[delta, end])).unwrap().text, "Rain");
    // The fields of the response may be those of the event.
    let usage = json!({"input_tokens": 3, "output_tokens": 4});
    let end = json!({"type": "response.completed", "output": output, "usage": usage});
    assert_eq!(read_text(&stream(&[end])).unwrap().usage.tokens_in, 3);
}

#[test]
fn an_answer_without_end_is_refused() {
    let item = |at: usize| {
        json!({"type": "response.output_item.added", "output_index": at,
            "item": {"type": "function_call", "call_id": at.to_string(), "name": "f"}})
    };
    let events: Vec<Value> = (0..10_000).map(item).collect();
    assert_eq!(read_text(&stream(&events)), Err(AnswerFault::TooLarge(16)));
    let output: Vec<Value> = events.iter().map(|event| event["item"].clone()).collect();
    let whole = json!({"object": "response", "output": output});
    assert_eq!(read_text(&whole.to_string()), Err(AnswerFault::TooLarge(16)));
    let parts: Vec<Value> = (0..10_000)
        .map(|at| json!({"type": "response.output_text.delta", "content_index": at, "delta": ""}))
        .collect();
    assert_eq!(read_text(&stream(&parts)), Err(AnswerFault::TooLarge(16)));
    let long =
        stream(&[json!({"type": "response.output_text.delta", "delta": "x".repeat(1 << 20)})]);
    let many = std::iter::repeat_n(long.as_bytes(), 20);
    assert_eq!(read(&Arc::default(), many).unwrap_err(), AnswerFault::TooLarge(16));
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let event = format!("data: {{\"type\":\"response.output_item.done\",\"item\":{deep}}}\n\n");
    assert!(matches!(read_text(&event), Err(AnswerFault::NotJson(_))));
    assert!(!has_call(&deep));
}
