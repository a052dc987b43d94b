use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::domain::{Finish, Message, Reply, Request, Role, ToolName, Usage};
use crate::{AnswerForm, Answering, Feed, FunctionNames, Report};

/// The reply that a client reads.
fn reply(format: WireFormat, answer: &[u8]) -> Reply {
    let mut feed = Feed::new(format.begin(&Arc::default(), Report::default()));
    feed.feed(answer, &mut |_| {}).unwrap();
    let user = Message::User { text: "x".into(), blocks: Vec::new() };
    let request = Request::new(Role::Actor, vec![user]);
    let answer = feed.end(&mut |_| {}).unwrap();
    Reply { source: None, ..answer.reply(&request, "e").0 }
}

fn written(format: WireFormat, reply: &Reply, streams: bool) -> String {
    let names = FunctionNames::default();
    let answering = Answering { id: "x", model: "m", names: &names, created: 7 };
    let form = if streams { format.codec().streamed } else { AnswerForm::Whole };
    format.write_answer(reply, &answering, form)
}

/// The places of pieces of arguments in events.
const PIECES: [&str; 3] =
    ["/choices/0/delta/tool_calls/0/function/arguments", "/delta/partial_json", "/delta"];

/// The same stream with the arguments in two pieces each.
fn in_pieces(format: WireFormat, stream: &str) -> String {
    let mut all = Vec::new();
    for frame in frames(stream.as_bytes()) {
        let mut data: Value = serde_json::from_str(&frame.data).unwrap_or_default();
        let text_at = |place: &&str| data.pointer(place).and_then(Value::as_str);
        let place = PIECES.iter().find(|place| text_at(place).is_some());
        let place = place.filter(|_| format.has_call(&frame.data));
        let text = place.and_then(text_at).unwrap_or_default().to_owned();
        let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        if middle == 0 {
            all.extend_from_slice(frame.bytes);
            continue;
        }
        for half in [&text[..middle], &text[middle..]] {
            *data.pointer_mut(place.unwrap()).unwrap() = half.into();
            all.extend(frame.with(&data.to_string()));
        }
    }
    String::from_utf8(all).unwrap()
}

/// Splits a stream before its first call, or before its end if it has none. Returns the bytes before that place, the
/// data of the last event in them that has an index, and the rest.
fn cut(format: WireFormat, stream: &str) -> (Vec<u8>, String, Vec<u8>) {
    let (mut before, mut last, mut rest) = (Vec::new(), String::new(), Vec::new());
    for frame in frames(stream.as_bytes()) {
        let holds = format.has_call(&frame.data) || format.is_end(&frame.data);
        if holds || !rest.is_empty() {
            rest.extend_from_slice(frame.bytes);
            continue;
        }
        before.extend_from_slice(frame.bytes);
        if frame.data.contains("index\":") {
            last = frame.data;
        }
    }
    (before, last, rest)
}

fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments }
}

fn arguments() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a\"\\\\{é\u{1F31E} ]{0,5}".prop_map(Value::from),
        Just(json!([{"a": null}])),
    ];
    prop::collection::btree_map("[a-c]{1,2}", value, 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn name() -> impl Strategy<Value = ToolName> {
    "[a-z_]{1,6}".prop_map(|name| ToolName::from(name.as_str()))
}

/// A change of one call.
#[derive(Clone, Debug)]
enum Deed {
    Stay,
    Drop,
    Rename(ToolName),
    Edit(Value),
    Break,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        Just(Deed::Stay),
        Just(Deed::Drop),
        name().prop_map(Deed::Rename),
        arguments().prop_map(Deed::Edit),
        Just(Deed::Break),
    ]
}

/// A reply, and the calls that it should have.
fn case() -> impl Strategy<Value = (Reply, Vec<ToolCall>)> {
    let calls = prop::collection::vec((name(), arguments(), deed()), 0..4);
    let more = prop::collection::vec((name(), arguments()), 0..3);
    ("[a-zé]{0,6}", "[a-z]{0,3}", calls, more).prop_map(|(text, reasoning, calls, more)| {
        let (mut came, mut wanted) = (Vec::new(), Vec::new());
        for (at, (tool, arguments, deed)) in calls.into_iter().enumerate() {
            let it = ToolCall { id: format!("call{at:05}"), tool, arguments };
            came.push(it.clone());
            match deed {
                Deed::Drop => {}
                Deed::Stay => wanted.push(it),
                Deed::Rename(tool) => wanted.push(ToolCall { tool, ..it }),
                Deed::Edit(arguments) => wanted.push(ToolCall { arguments, ..it }),
                Deed::Break => wanted.push(ToolCall { arguments: "{\"a\": no".into(), ..it }),
            }
        }
        for (at, (tool, arguments)) in more.into_iter().enumerate() {
            wanted.push(ToolCall { id: format!("more{at:05}"), tool, arguments });
        }
        let finish = if came.is_empty() { Finish::Stop } else { Finish::Calls };
        let usage = Usage { tokens_in: 9, tokens_out: 5, ..Usage::default() };
        // An answer is never empty.
        let text = if came.is_empty() || wanted.is_empty() { text + "x" } else { text };
        (Reply { reasoning, calls: came, finish, usage, ..Reply::of_text(text) }, wanted)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]
    /// A client reads the wanted calls, and everything else unchanged.
    #[test]
    fn only_the_calls_change((came, wanted) in case(), splits in any::<bool>()) {
        for format in WireFormat::ALL.into_iter().filter(|format| *format != WireFormat::Generate) {
            for streams in [false, true] {
                let all = written(format, &came, streams);
                let all = if streams && splits { in_pieces(format, &all) } else { all };
                let (before, last, rest) = match streams {
                    true => cut(format, &all),
                    false => (Vec::new(), String::new(), all.clone().into_bytes()),
                };
                let same = changed(format, &rest, &last, &came.calls);
                prop_assert_eq!(String::from_utf8(same), String::from_utf8(rest.clone()));
                let new = [before, changed(format, &rest, &last, &wanted)].concat();
                let shown = String::from_utf8_lossy(&new).into_owned();
                let read = reply(format, &new);
                prop_assert_eq!(&read.calls, &wanted, "{} {}", format, shown);
                let finish = if wanted.is_empty() { Finish::Stop } else { Finish::Calls };
                let as_came = reply(format, all.as_bytes());
                prop_assert_eq!(read, Reply { calls: wanted.clone(), finish, ..as_came });
                prop_assert!(!streams || splits || are_counted(format, &new), "{} {}", format, shown);
            }
        }
    }

    #[test]
    fn any_bytes_pass(answer in prop::collection::vec(any::<u8>(), 0..80), text in "\\PC{0,60}") {
        for format in WireFormat::ALL {
            changed(format, &answer, &text, &[call("c", "t", json!({}))]);
            let stream = format!("data: {text}\n\n");
            let new = changed(format, stream.as_bytes(), &text, &[]);
            prop_assert_eq!(String::from_utf8(new).unwrap(), stream);
        }
    }
}

/// Whether the numbers of a stream are consecutive: indices of blocks and items, and sequence numbers.
fn are_counted(format: WireFormat, stream: &[u8]) -> bool {
    let data: Vec<Value> =
        frames(stream).iter().filter_map(|it| serde_json::from_str(&it.data).ok()).collect();
    let numbers = |name: &str, kinds: &[&str]| -> Vec<u64> {
        let is_it = |it: &&Value| kinds.is_empty() || kinds.iter().any(|kind| it["type"] == *kind);
        data.iter().filter(is_it).filter_map(|it| it[name].as_u64()).collect()
    };
    let is_row = |numbers: Vec<u64>| numbers.iter().copied().eq(0..numbers.len() as u64);
    let index = |call: &Value| {
        let is_first = call.get("id").is_some();
        call["index"].as_u64().filter(|_| is_first)
    };
    match format {
        WireFormat::Responses => {
            is_row(numbers("sequence_number", &[]))
                && is_row(numbers("output_index", &["response.output_item.added"]))
                && is_row(numbers("output_index", &["response.output_item.done"]))
        }
        WireFormat::Messages => {
            is_row(numbers("index", &["content_block_start"]))
                && is_row(numbers("index", &["content_block_stop"]))
        }
        WireFormat::Gemini | WireFormat::Ollama | WireFormat::Generate => true,
        WireFormat::Chat => {
            let deltas =
                data.iter().filter_map(|it| it["choices"][0]["delta"]["tool_calls"].as_array());
            is_row(deltas.flatten().filter_map(index).collect())
        }
    }
}

#[test]
fn a_chunk_with_all_calls_and_the_finish_changes_in_its_place() {
    let a = r#"{"index": 0, "id": "a", "extra": 1e0, "function": {"name": "f", "arguments": "{\"n\": 1.0}"}}"#;
    let b = r#"{"index": 1, "id": "b", "function": {"name": "g"}}"#;
    let came = format!(
        "id: 7\r\ndata:{{ \"x\": [1.00, 123456789012345678901], \"choices\": [{{\"delta\": {{\"role\": \"\\u0061\", \
         \"tool_calls\": [{a} , {b}]}}, \"finish_reason\": \"tool_calls\"}}]}}\r\n\r\n"
    );
    let changed_to = |calls: &str, finish: &str| {
        format!(
            "id: 7\r\ndata:{{\"x\":[1.00, 123456789012345678901],\"choices\":[{{\"delta\":{{\"role\":\"\\u0061\",\
             \"tool_calls\":[{calls}]}},\"finish_reason\":\"{finish}\"}}]}}\r\n\r\n"
        )
    };
    let first_b = r#"{"index":0,"id":"b","function":{"name": "g"}}"#;
    let [of_a, of_b] = [call("a", "f", json!({"n": 1.0})), call("b", "g", json!({}))];
    let new = call("c", "h", json!({}));
    let added =
        r#"{"id":"c","type":"function","function":{"name":"h","arguments":"{}"},"index":1}"#;
    for (wanted, expected) in [
        (vec![of_a.clone(), of_b.clone()], came.clone()),
        (vec![of_b.clone()], changed_to(first_b, "tool_calls")),
        (vec![of_a.clone()], changed_to(a, "tool_calls")),
        (vec![], changed_to("", "stop")),
        (vec![new.clone(), of_b], changed_to(&format!("{first_b},{added}"), "tool_calls")),
        (vec![new], changed_to(&added.replace(":1}", ":0}"), "tool_calls")),
        (
            vec![call("a", "f2", json!({"n": 2})), call("b", "g", json!({"m": []}))],
            changed_to(
                concat!(
                    r#"{"index":0,"id":"a","extra":1e0,"function":{"name":"f2","arguments":"{\"n\":2}"}},"#,
                    r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{\"m\":[]}"}}"#,
                ),
                "tool_calls",
            ),
        ),
    ] {
        let new = changed(WireFormat::Chat, came.as_bytes(), "", &wanted);
        assert_eq!(String::from_utf8(new).unwrap(), expected);
    }
}

#[test]
fn the_first_piece_has_the_new_arguments_wherever_it_comes() {
    let chat = |call: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    };
    let begin = chat(r#"{"index":0,"id":"a","function":{"name": "f"}}"#);
    let piece = |text: &str| chat(&format!(r#"{{"index":0,"function":{{"arguments":{text}}}}}"#));
    let came = begin.clone() + &piece(r#""{\"x\":""#) + &piece(r#""1}""#);
    let expected = begin.clone() + &piece(r#""{\"x\":2}""#) + &piece(r#""""#);
    let wanted = [call("a", "f", json!({"x": 2}))];
    let new = changed(WireFormat::Chat, came.as_bytes(), "", &wanted);
    assert_eq!(String::from_utf8(new).unwrap(), expected);
    // A call that comes without arguments gets them with its name.
    let new = changed(WireFormat::Chat, begin.as_bytes(), "", &wanted);
    let expected = chat(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}"#);
    assert_eq!(String::from_utf8(new).unwrap(), expected);
    let start = "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\
        \"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"\"}}\n\n";
    let piece = |more: &str| {
        format!(
            "data: {{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0{more}}}\n\n"
        )
    };
    let came = start.to_owned() + &piece("") + &piece(",\"delta\":\"{}\"");
    let expected = start.to_owned() + &piece("") + &piece(r#","delta":"{\"x\":2}""#);
    let new = changed(WireFormat::Responses, came.as_bytes(), "", &wanted);
    assert_eq!(String::from_utf8(new).unwrap(), expected);
}

#[test]
fn the_largest_numbers_do_no_harm() {
    let most = u64::MAX;
    let frame = |data: &Value| format!("data: {data}\n\n");
    let function = json!({"name": "f", "arguments": "{}"});
    let delta = json!({"tool_calls": [{"index": most, "id": "a", "function": function}]});
    let item = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    let block = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    for (format, data) in [
        (WireFormat::Chat, json!({"choices": [{"delta": delta}]})),
        (
            WireFormat::Responses,
            json!({"type": "response.output_item.done", "output_index": most, "sequence_number": most, "item": item}),
        ),
        (
            WireFormat::Messages,
            json!({"type": "content_block_start", "index": most, "content_block": block}),
        ),
    ] {
        for wanted in [vec![], vec![call("a", "f", json!({})), call("b", "g", json!({}))]] {
            let new = changed(format, frame(&data).as_bytes(), &data.to_string(), &wanted);
            let new = String::from_utf8(new).unwrap();
            assert_eq!(wanted.is_empty(), !new.contains("\"f\""), "{new}");
            assert_eq!(wanted.is_empty(), !new.contains("\"g\""), "{new}");
        }
    }
}

#[test]
fn calls_with_one_index_are_told_apart_by_their_ids() {
    let event = |id: &str, text: &str| {
        let call = json!({"index": 0, "id": id, "function": {"name": "f", "arguments": text}});
        format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
    };
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let came = event("a", "{}") + &event("b", "{\"x\":1}") + end;
    let wanted = [call("b", "f", json!({"x": 2}))];
    let new = changed(WireFormat::Chat, came.as_bytes(), "", &wanted);
    assert_eq!(String::from_utf8(new).unwrap(), event("b", "{\"x\":2}") + end);
}

#[test]
fn calls_of_the_endpoint_and_signed_thoughts_stay() {
    let spaced = |index: u64, block: &str, delta: &str| {
        format!(
            "event: content_block_start\ndata: {{\"type\":\"content_block_start\", \"index\":{index}, \"content_block\":{block}}}\n\n\
             event: content_block_delta\ndata: {{\"type\":\"content_block_delta\", \"index\":{index}, \"delta\":{delta}}}\n\n\
             event: content_block_stop\ndata: {{\"type\":\"content_block_stop\", \"index\":{index}}}\n\n"
        )
    };
    // An event whose index changes is written again, with the old text of its block.
    let written = |index: u64, block: &str, delta: &str| {
        let [index_came, index_written] = [", \"index\"", ",\"index\""];
        let all = spaced(index, "BLOCK", "DELTA").replace(index_came, index_written);
        let all = all.replace(", \"content_block\"", ",\"content_block\"");
        let all = all.replace(", \"delta\"", ",\"delta\"");
        all.replace("BLOCK", block).replace("DELTA", delta)
    };
    let own = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;
    let piece = r#"{"type":"input_json_delta","partial_json":"{\"q\": 1.0}"}"#;
    let server = own.replace("tool_use", "server_tool_use");
    let thought = r#"{"type":"thinking","thinking":"", "signature":"", "n": 1e5}"#;
    let signed = r#"{"type":"signature_delta","signature":"s=="}"#;
    let end = |reason: &str| {
        format!(
            "event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}}}}\n\n\
             event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
        )
    };
    let before = spaced(2, thought, signed);
    let came = before.clone()
        + &spaced(3, own, piece)
        + &spaced(4, &server, piece)
        + &spaced(5, thought, signed);
    let new = changed(WireFormat::Messages, (came + &end("tool_use")).as_bytes(), "", &[]);
    let expected =
        before + &written(3, &server, piece) + &written(4, thought, signed) + &end("end_turn");
    assert_eq!(String::from_utf8(new).unwrap(), expected);
}

#[test]
fn calls_with_one_id_or_none_are_changed_in_their_places() {
    for id in ["\"0\"", "\"\"", "null"] {
        let call = |at: &str| {
            format!(
                r#"{{"id":{id},"type":"function","function":{{"name":"weather","arguments":"{{\"at\":\"{at}\"}}"}}}}"#
            )
        };
        let answer = |cities: [&str; 3]| {
            let calls = cities.map(call).join(",");
            format!(
                r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}},"finish_reason":"tool_calls"}}]}}"#
            )
        };
        let came = answer(["Oslo", "Rome", "Oslo"]);
        let mut wanted = reply(WireFormat::Chat, came.as_bytes()).calls;
        wanted[1].arguments = json!({"at": "Bonn"});
        let made = changed(WireFormat::Chat, came.as_bytes(), "", &wanted);
        assert_eq!(String::from_utf8(made).unwrap(), answer(["Oslo", "Bonn", "Oslo"]));
    }
}
