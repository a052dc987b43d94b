//! Round trips: written requests and replies are read again, in pieces of any size, and malformed input does no harm.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::made::{body, replies, requests};
use super::*;
use crate::domain::blocks::Block;
use crate::domain::{Finish, Message, Reply, Request, Role, Usage};
use crate::{AnswerFault, AnswerPiece, Answering, Feed, FunctionNames, Report};

fn answering(names: &FunctionNames) -> Answering<'_> {
    Answering { id: "a1", model: "claude-sonnet-4-5", names, created: 0 }
}

/// Reads an answer that arrives in these chunks.
fn taken<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    seen: &mut dyn FnMut(AnswerPiece),
) -> Result<Reply, AnswerFault> {
    let mut feed = Feed::new(MessagesAnswer::begin(&Arc::default(), Report::default()));
    chunks.into_iter().try_for_each(|chunk| feed.feed(chunk, seen))?;
    let answer = feed.end(seen)?;
    Ok(answer.reply(&Request::new(Role::Actor, Vec::new()), "e").0)
}

/// Reads an answer, and checks that the reported pieces make up its text and reasoning.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Reply, AnswerFault> {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let reply = taken(chunks, &mut |piece| match piece {
        AnswerPiece::Text(more) => text.push_str(&more),
        AnswerPiece::Reasoning(more) => reasoning.push_str(&more),
    })?;
    assert_eq!((&reply.text, &reply.reasoning), (&text, &reasoning));
    Ok(reply)
}

/// Reads an answer from a stream of these events. The reported pieces are not checked: if blocks grow in turns, their
/// order differs from the order of the blocks.
fn streamed(events: &[Value]) -> Result<Reply, AnswerFault> {
    let frames: String = events.iter().map(reply::frame).collect();
    taken([frames.as_bytes()], &mut |_| {})
}

fn cut<'a>(text: &'a str, cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let bytes = text.as_bytes();
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect()
}

fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    #[test]
    fn a_request_is_read_as_it_was_written(request in requests(), caches: bool) {
        let text = body(&request, caches).to_string();
        let asked = read_request(text.as_bytes()).unwrap();
        prop_assert_eq!(&asked.request, &request);
        prop_assert!(asked.streams && asked.model == "claude-sonnet-4-5");
        prop_assert!(text.matches("\"cache_control\"").count() <= 4);
        let is_known = |name: &String| name == "messages[].content[].type=hologram";
        prop_assert!(asked.unknown.keys().all(is_known), "{:?}", asked.unknown);
        let (mut calls, mut results) = (asked.calls.iter().enumerate(), asked.results.iter().enumerate());
        for message in &request.messages {
            match message {
                Message::Assistant { calls: expected, .. } => for call in expected {
                    let (number, spot) = calls.next().unwrap();
                    prop_assert_eq!(spot.number, number);
                    let value: Value = serde_json::from_str(&text[spot.range.clone()]).unwrap();
                    prop_assert_eq!(&value, &call.arguments);
                },
                Message::Tool { text: expected, blocks, .. } => {
                    let (number, spot) = results.next().unwrap();
                    let value: Value = serde_json::from_str(&text[spot.range.clone()]).unwrap();
                    prop_assert_eq!(spot.number, number);
                    if blocks.is_empty() {
                        prop_assert_eq!(value.as_str(), Some(expected.as_str()));
                    } else {
                        prop_assert_eq!(value.as_array().map(Vec::len), Some(blocks.len()));
                    }
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        prop_assert!(calls.next().is_none() && results.next().is_none());
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(reply in replies(), cuts: Vec<prop::sample::Index>) {
        let names = FunctionNames::default();
        for text in [write_stream(&reply, &answering(&names)), write_reply(&reply, &answering(&names))] {
            prop_assert_eq!(read(cut(&text, &cuts)).unwrap(), reply.clone(), "{}", text);
        }
    }

    #[test]
    fn the_events_of_calls_are_found(reply in replies()) {
        let names = FunctionNames::default();
        prop_assert_eq!(has_call(&write_reply(&reply, &answering(&names))), !reply.calls.is_empty());
        let stream = write_stream(&reply, &answering(&names));
        let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        let begun = data.filter(|data| data.contains("content_block_start") && has_call(data));
        prop_assert_eq!(begun.count(), reply.calls.len());
    }

    #[test]
    fn any_bytes_do_no_harm(bytes: Vec<u8>) {
        let _ = read_request(&bytes);
        let _ = read([bytes.as_slice()]);
        has_call(&String::from_utf8_lossy(&bytes));
    }

    /// The beginning of a stream, or a stream with some bytes changed, is refused or read.
    #[test]
    fn broken_answers_do_no_harm(reply in replies(), at: prop::sample::Index, bytes: [u8; 2], is_whole: bool) {
        let names = FunctionNames::default();
        let write = if is_whole { write_reply } else { write_stream };
        let mut text = write(&reply, &answering(&names)).into_bytes();
        let at = at.index(text.len());
        let _ = read([&text[..at]]);
        for (place, byte) in (at..text.len()).zip(bytes) {
            text[place] = byte;
        }
        let _ = read([text.as_slice()]);
        let _ = read_request(&text);
        has_call(&String::from_utf8_lossy(&text));
    }

    /// Blocks and deltas of any types in any order.
    #[test]
    fn any_order_of_events_does_no_harm(events in prop::collection::vec((0..7_usize, 0..3_u64, 0..9_usize), 0..20)) {
        const BLOCKS: [&str; 6] = ["text", "tool_use", "thinking", "redacted_thinking", "server_tool_use", "x"];
        const DELTAS: [&str; 7] = ["text_delta", "input_json_delta", "thinking_delta", "signature_delta",
            "citations_delta", "compaction_delta", "x"];
        let made = events.iter().map(|(what, index, kind)| match what {
            0 | 1 => start(*index, &json!({"type": BLOCKS[kind % BLOCKS.len()], "text": "s", "name": "n"})),
            2 => json!({"type": "content_block_stop", "index": index}),
            3 => start(*index, &[json!(null), json!(1), json!("x"), json!([])][kind % 4]),
            _ => delta(*index, &json!({"type": DELTAS[kind % DELTAS.len()], "text": "t", "thinking": "h",
                "partial_json": "{", "signature": "s", "citation": {}, "content": "c"})),
        });
        let mut made: Vec<Value> = made.collect();
        made.extend(end("end_turn"));
        let reply = streamed(&made).unwrap();
        let names = FunctionNames::default();
        let again = read([write_stream(&reply, &answering(&names)).as_bytes()]).unwrap();
        prop_assert_eq!(&again.text, &reply.text);
    }
}

#[test]
fn a_stream_may_be_cut_at_every_byte() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 5, "output_tokens": 1}}}),
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm é"})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
        json!({"type": "content_block_stop", "index": 0}),
        start(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "Sun 🌞"})),
        start(2, &json!({"type": "tool_use", "id": "toolu_1", "name": "w", "input": {}})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "{\"a\": \"é"})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "\"}"})),
        json!({"type": "content_block_stop", "index": 2}),
    ];
    let frames = events.iter().chain(&end("tool_use")).map(reply::frame).collect::<String>();
    let expected = read([frames.as_bytes()]).unwrap();
    assert_eq!((expected.text.as_str(), expected.reasoning.as_str()), ("Sun 🌞", "Hm é"));
    assert_eq!(expected.calls[0].arguments, json!({"a": "é"}));
    let usage = Usage { tokens_in: 12, tokens_out: 5, cached: 5, written: 4, ..Usage::default() };
    assert_eq!((&expected.finish, expected.usage), (&Finish::Calls, usage));
    let source = expected.source.as_deref().unwrap();
    let signed = json!({"type": "thinking", "thinking": "Hm é", "signature": "c2ln"});
    assert!(matches!(&source.blocks[0], Block::Kept { raw, .. } if *raw == signed));
    for at in 0..frames.len() {
        let (before, after) = frames.as_bytes().split_at(at);
        assert_eq!(read([before, after]).unwrap(), expected, "{at}");
    }
    assert_eq!(read(frames.as_bytes().chunks(1)).unwrap(), expected);
}

#[test]
fn half_a_character_waits_for_the_other() {
    let frame = |text: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        )
    };
    let ends: String = end("end_turn").iter().map(reply::frame).collect();
    let text = frame("Sun \\ud83c") + &frame("\\udf1e out.") + &frame("\\ud83c") + &ends;
    assert_eq!(read([text.as_bytes()]).unwrap().text, "Sun 🌞 out.\u{FFFD}");
}

#[test]
fn an_answer_without_its_end_is_none() {
    let begin = [start(0, &json!({"type": "text", "text": "Su"}))];
    assert!(matches!(streamed(&begin), Err(AnswerFault::Missing(_))));
    let [reason, stop] = end("end_turn");
    assert_eq!(streamed(&[begin[0].clone(), reason]).unwrap().text, "Su");
    assert_eq!(streamed(&[begin[0].clone(), stop.clone()]).unwrap().finish, Finish::Stop);
    // Half of a call is not a call, even if the server says that it is done.
    let half = [
        start(0, &json!({"type": "tool_use", "id": "c", "name": "w", "input": {}})),
        delta(0, &json!({"type": "input_json_delta", "partial_json": "{\"a\""})),
        stop,
    ];
    assert!(matches!(streamed(&half), Err(AnswerFault::Missing(_))));
    let reply = Reply::of_text("Hello");
    let text = write_stream(&reply, &answering(&FunctionNames::default()));
    let at = text.find("message_delta").unwrap() + 40;
    assert!(matches!(read([&text.as_bytes()[..at]]), Err(AnswerFault::NotJson(_))));
}

#[test]
fn errors_are_said_and_strangers_are_no_answers() {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(streamed(std::slice::from_ref(&error)), Err(AnswerFault::Said(error.clone())));
    assert_eq!(
        read([write_error_event(529, "Overloaded").as_bytes()]),
        Err(AnswerFault::Said(error.clone()))
    );
    assert_eq!(read([write_error(529, "Overloaded").as_bytes()]), Err(AnswerFault::Said(error)));
    assert_eq!(read([&b"{\"type\":\"message\"}"[..]]), Err(AnswerFault::Missing("content")));
    assert_eq!(read([&b"{\"choices\":[]}"[..]]), Err(AnswerFault::Other(json!({"choices": []}))));
    assert_eq!(
        read([&b"data: {\"choices\":[]}\n\n"[..]]),
        Err(AnswerFault::Other(json!({"choices": []})))
    );
    assert!(matches!(read([&b"data: nix\n\n"[..]]), Err(AnswerFault::NotJson(_))));
    assert!(matches!(read([]), Err(AnswerFault::Missing(_))));
}

#[test]
fn servers_that_do_it_otherwise_are_understood() {
    let call =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "w", "input": input});
    let [reason, stop] = end("tool_use");
    // Two calls of one id, input at the start of a block, broken input, and a reason before its calls.
    let reply = streamed(&[
        reason,
        start(0, &call("c", json!({"a": 1}))),
        start(1, &call("c", json!({}))),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"a\":"})),
        start(2, &call("", json!("{\"b\": 2}"))),
        stop,
    ]);
    let reply = reply.unwrap();
    let arguments: Vec<&Value> = reply.calls.iter().map(|call| &call.arguments).collect();
    assert_eq!(arguments, [&json!({"a": 1}), &json!("{\"a\":"), &json!({"b": 2})]);
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["c", "call00001", "call00002"]);
    assert_eq!(reply.finish, Finish::Calls);
    // A whole message in one event, blocks as texts, and a name of the event instead of a type.
    let whole = "event: message\ndata: {\"content\": [\"Hi\"], \"stop_reason\": null}\n\n";
    assert_eq!(read([whole.as_bytes()]).unwrap().text, "Hi");
    let done = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\ndata: [DONE]\n\n";
    assert_eq!(read([done.as_bytes()]).unwrap().text, "Hi");
    // Deltas of two blocks in turns.
    let say = |index, text: &str| delta(index, &json!({"type": "text_delta", "text": text}));
    let mut events = vec![say(0, "a"), say(1, "c"), say(0, "b"), say(1, "d")];
    events.extend(end("end_turn"));
    assert_eq!(streamed(&events).unwrap().text, "abcd");
}

#[test]
fn an_answer_has_a_limit() {
    let call = json!({"type": "tool_use", "id": "c", "name": "w", "input": {}});
    let calls: Vec<Value> = (0..10_000).map(|at| start(at, &call)).collect();
    assert_eq!(streamed(&calls), Err(AnswerFault::TooLarge(16)));
    let whole =
        json!({"type": "message", "content": vec![call; 10_000], "stop_reason": "tool_use"});
    assert_eq!(read([whole.to_string().as_bytes()]), Err(AnswerFault::TooLarge(16)));
    let more = "x".repeat(1024 * 1024);
    for (kind, field) in [
        ("text_delta", "text"),
        ("thinking_delta", "thinking"),
        ("input_json_delta", "partial_json"),
    ] {
        let frame = reply::frame(&delta(0, &json!({"type": kind, field: more})));
        let chunks = std::iter::repeat_n(frame.as_bytes(), 20);
        assert_eq!(read(chunks), Err(AnswerFault::TooLarge(16)), "{kind}");
    }
    let deep = format!(
        "{{\"type\":\"message\",\"content\":{}{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(matches!(read([deep.as_bytes()]), Err(AnswerFault::NotJson(_))));
}

#[test]
fn a_foreign_reply_is_one_of_this_format() {
    let reply = Reply { reasoning: "Hm.".into(), ..Reply::of_text("Hi") };
    let text = write_reply(&reply, &answering(&FunctionNames::default()));
    let message: Value = serde_json::from_str(&text).unwrap();
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": ""});
    assert_eq!(message["content"], json!([thinking, {"type": "text", "text": "Hi"}]));
    assert_eq!((&message["id"], &message["stop_reason"]), (&json!("msg_a1"), &json!("end_turn")));
    let expected = json!({"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": 0});
    assert_eq!(message["usage"], expected);
}
