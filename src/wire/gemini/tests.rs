//! Requests and answers as clients and the endpoint write them, and round trips.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::CODEC;
use super::made::{body, replies, requests};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finish, Message, Messages, Reply, ReplySource, Request, Role, ToolCall};
use crate::learned::{Demand, Learned};
use crate::{
    AnswerFault, AnswerForm, AnswerPiece, Answering, Feed, FunctionNames, IncomingRequest, Report,
    WireFormat, changed, patch,
};

const FORMAT: WireFormat = WireFormat::Gemini;

fn read_body(body: &Value) -> IncomingRequest {
    FORMAT.read_request(body.to_string().as_bytes()).unwrap()
}

/// Reads an answer that arrives in these chunks, and checks that the reported pieces make up its text and reasoning.
fn read(chunks: &[&[u8]]) -> Result<Reply, AnswerFault> {
    read_after(&Request::new(Role::Actor, Vec::new()), chunks)
}

/// Reads an answer to this request in the same way.
fn read_after(request: &Request, chunks: &[&[u8]]) -> Result<Reply, AnswerFault> {
    let mut feed = Feed::new(FORMAT.begin(&Arc::default(), Report::default()));
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut seen = |piece| match piece {
        AnswerPiece::Text(more) => text.push_str(&more),
        AnswerPiece::Reasoning(more) => reasoning.push_str(&more),
    };
    chunks.iter().try_for_each(|chunk| feed.feed(chunk, &mut seen))?;
    let reply = feed.end(&mut seen)?.reply(request, "e").0;
    assert!(reply.text.starts_with(&text));
    assert_eq!(reply.reasoning, reasoning);
    Ok(reply)
}

#[test]
fn what_clients_send_is_read_in_either_spelling() {
    let google = json!({"contents": [
            {"parts": [{"text": "Weather?"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}], "role": "user"},
            {"parts": [{"text": "hm", "thought": true, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "fc-1", "args": {"city": "Bergen"}, "name": "weather"}, "thoughtSignature": "c2lnLTE="},
                {"functionCall": {"args": {"city": "Oslo"}, "name": "weather"}}], "role": "model"},
            {"parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}},
                {"functionResponse": {"name": "weather", "response": {"error": "no net"}}}], "role": "user"}],
        "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
        "tools": [{"functionDeclarations": [{"name": "weather", "description": "W.",
            "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}}]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
        "generationConfig": {"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 64, "stopSequences": ["END"],
            "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinking_budget": 1}},
        "safetySettings": [], "hologram": 1});
    let asked = read_body(&google);
    let request = &asked.request;
    assert_eq!(asked.unknown.keys().collect::<Vec<_>>(), ["hologram"]);
    assert!(asked.forces_call && request.allowed == ["weather".into()]);
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["weather", "googleSearch"]);
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    assert_eq!(*request.tools[0].parameters, schema);
    assert_eq!((request.max_tokens, request.stop.len()), (Some(64), 1));
    let all: Vec<&Message> = request.messages.iter().collect();
    assert_eq!(all[0], &Message::system("Be brief."));
    let Message::Assistant { calls, source: Some(source), .. } = all[2] else { panic!("{all:?}") };
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(
        (ids, source.calls["fc-1"]["thoughtSignature"].as_str()),
        (vec!["fc-1", "call00002"], Some("c2lnLTE="))
    );
    // A client may drop the id of the call: results come in order.
    assert_eq!(all[3], &Message::result("fc-1", "weather".into(), "rain"));
    let Message::Tool { id, text, failed: true, .. } = all[4] else { panic!("{all:?}") };
    assert_eq!((id.as_str(), text.as_str()), ("call00002", "no net"));
    let other = json!({"contents": [{"role": "model", "parts": [{"function_call": {"name": "t", "args": {"a": 1}}, "thoughtSignature": "s"}]},
            {"role": "user", "parts": [{"function_response": {"name": "t", "response": {"content": "x", "n": 1}}}]}],
        "system_instruction": {"parts": [{"text": "S"}]}, "generation_config": {"max_output_tokens": 5},
        "tools": [{"function_declarations": [{"name": "t", "parameters": {"type": "object"}}]}]});
    let asked = read_body(&other);
    assert_eq!((asked.unknown.len(), asked.request.max_tokens, asked.before), (0, Some(5), 1));
    let Message::Tool { text, .. } = &asked.request.messages[2] else { panic!() };
    assert_eq!(text, r#"{"content":"x","n":1}"#);
    for none in ["[]", "{}", "{\"contents\": {}}", "\u{FFFD}"] {
        assert!(FORMAT.read_request(none.as_bytes()).is_err(), "{none}");
    }
}

#[test]
fn an_answer_in_several_contents_is_one_message_and_each_result_has_an_id() {
    // As the SDK of Python sends a streamed answer back.
    let call = |city: &str| json!({"functionCall": {"args": {"city": city}, "name": "weather"}});
    let result =
        |text: &str| json!({"functionResponse": {"name": "weather", "response": {"result": text}}});
    let body = |said: Vec<Value>| {
        let said = said.into_iter().map(|parts| json!({"role": "model", "parts": parts}));
        let mut contents = vec![json!({"role": "user", "parts": [{"text": "Weather?"}]})];
        contents.extend(said);
        contents.push(json!({"role": "user", "parts": [result("rain"), result("sun")]}));
        json!({ "contents": contents })
    };
    let calls = [call("Oslo"), call("Rome")];
    let split = body(vec![
        json!([{"text": "I "}]),
        json!([{"text": "look."}]),
        json!(calls),
        json!([{"text": ""}]),
    ]);
    let whole = body(vec![json!([{"text": "I look."}, calls[0], calls[1]])]);
    let [split, whole] = [split, whole].map(|body| read_body(&body).request.messages);
    let texts = |messages: &Messages| -> Vec<String> {
        messages.iter().map(|message| format!("{} {:?}", message.text(), ids(message))).collect()
    };
    assert_eq!(texts(&split), texts(&whole));
    assert_eq!(
        texts(&split)[1..],
        [r#"I look. ["call00001", "call00002"]"#, r#"rain ["call00001"]"#, r#"sun ["call00002"]"#]
    );
    // As LiteLLM sends two calls that are equal.
    let once = read_body(&body(vec![json!([call("Bonn")])])).request;
    assert_eq!(texts(&once.messages)[2..], texts(&split)[2..]);
    // The next answer counts their ids as the next request does.
    let said = json!({"role": "model", "parts": [call("Oslo")]});
    let answer = json!({"candidates": [{"content": said, "finishReason": "STOP"}]}).to_string();
    let reply = read_after(&once, &[answer.as_bytes()]).unwrap();
    let mut next = body(vec![json!([call("Bonn")])]);
    next["contents"].as_array_mut().unwrap().push(said);
    let next = read_body(&next).request.messages;
    assert_eq!(reply.calls[0].id, "call00003");
    assert_eq!(ids(next.last().unwrap()), ["call00003"]);
}

/// The ids of a message's calls, or of its result.
fn ids(message: &Message) -> Vec<&str> {
    match message {
        Message::Assistant { calls, .. } => calls.iter().map(|call| call.id.as_str()).collect(),
        Message::Tool { id, .. } => vec![id],
        Message::System { .. } | Message::User { .. } => Vec::new(),
    }
}

#[test]
fn results_and_arguments_change_in_their_places_alone() {
    let body = r#"{"x": 1.00, "contents": [ {"role":"model","parts":[{"functionCall":{"name":"t","args": {"n": 1.0} }}]},
        {"role":"user","parts":[{"functionResponse":{"name":"t","response": {"output" : "o\u006be"}}},{"functionResponse":{"name":"t","response": {"a": [1.0]}}}]}]}"#;
    let asked = FORMAT.read_request(body.as_bytes()).unwrap();
    let new = [
        (asked.calls[0].range.clone(), FORMAT.arguments_at(&asked.calls[0], &json!({"n": 2}))),
        (asked.results[0].range.clone(), asked.results[0].written("no", false)),
        (asked.results[1].range.clone(), asked.results[1].written("none", false)),
    ];
    let places = new.each_ref().map(|(range, new)| (range.clone(), new.as_str()));
    let patched = String::from_utf8(patch(body.as_bytes(), &places).unwrap()).unwrap();
    let expected = body.replace(r#"{"n": 1.0}"#, r#"{"n":2}"#).replace(r#""o\u006be""#, r#""no""#);
    assert_eq!(patched, expected.replace(r#"{"a": [1.0]}"#, r#"{"result":"none"}"#));
    assert_eq!(asked.results[1].written(r#"{"a":2}"#, false), r#"{"a":2}"#);
    assert_eq!(asked.results[1].written("broken", true), r#"{"error":"broken"}"#);
}

#[test]
fn only_ids_of_the_endpoint_go_back_to_it() {
    let call = |id: &str| ToolCall { id: id.into(), tool: "t".into(), arguments: json!({}) };
    let said = |endpoint: &str, id: &str| Message::Assistant {
        text: String::new(),
        calls: vec![call(id)],
        source: Some(Arc::new(ReplySource { endpoint: endpoint.into(), ..ReplySource::default() })),
    };
    let messages = vec![
        Message::user("A"),
        said("", "own"),
        Message::result("own", "t".into(), "1"),
        said("other", "foreign"),
        Message::result("foreign", "t".into(), "2"),
    ];
    let learned = Learned { demands: [Demand::Signature].into(), ..Learned::default() };
    let request = Request::new(Role::Actor, messages);
    let written = body(&request, &Learned::new());
    assert_eq!(written["contents"][1]["parts"][0]["functionCall"]["id"], "own");
    assert_eq!(written["contents"][2]["parts"][0]["functionResponse"]["id"], "own");
    let text = written.to_string();
    assert!(!text.contains("foreign") && !text.contains("thoughtSignature"), "{text}");
    assert_eq!(
        body(&request, &learned).to_string().matches("skip_thought_signature_validator").count(),
        2
    );
}

#[test]
fn what_the_endpoint_sends_is_read() {
    let whole = br#"{"candidates":[{"content":{"parts":[{"text":"think","thought":true},{"text":" more","thought":true},{"text":"Hel"},{"text":"lo"},
        {"text":"","thoughtSignature":"c2ln"},{"functionCall":{"name":"a"},"thoughtSignature":"x"},{"functionCall":{"id":"c","name":"b","args":{"x":1.0}}}],
        "role":"model"},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":"other"}]}}],
        "usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":7,"toolUsePromptTokenCount":3,
            "cachedContentTokenCount":4,"totalTokenCount":25},"modelVersion":"m","responseId":"r-1"}"#;
    let reply = read(&[whole]).unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Hello", "think more"));
    assert_eq!((reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.cached), (13, 12, 4));
    let calls: Vec<(&str, &Value)> =
        reply.calls.iter().map(|call| (call.id.as_str(), &call.arguments)).collect();
    assert_eq!(calls, [("call00001", &json!({})), ("c", &json!({"x": 1.0}))]);
    let source = reply.source.unwrap();
    assert_eq!(
        source.calls["call00001"],
        *json!({"thoughtSignature": "x", "id": null}).as_object().unwrap()
    );
    assert!(matches!(source.blocks[0], Block::Kept { kind: BlockKind::Thinking, .. }));
    let blocked = br#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}"#;
    assert_eq!(read(&[blocked]).unwrap().finish, Finish::Filtered);
    let list = b"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n,\r\n{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"MAX_TOKENS\"}]}]";
    let reply = read(&[list]).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("ab", Finish::Length));
    assert_eq!(read(&[&list[..60]]).unwrap_err(), AnswerFault::Missing("end"));
    let failed = br#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#;
    assert!(matches!(read(&[failed]), Err(AnswerFault::Ended(_))));
    for error in [
        "data: {\"error\":{\"code\":503,\"message\":\"m\"}}\r\n\r\n",
        "[{\"error\":{\"code\":503}}]",
    ] {
        assert!(matches!(read(&[error.as_bytes()]), Err(AnswerFault::Said(_))), "{error}");
    }
    assert!(matches!(read(&[b"{\"x\":1}"]), Err(AnswerFault::Other(_))));
}

#[test]
fn a_further_call_has_a_place_in_every_form() {
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"}],"role":"model"},"index":0}]}"#;
    let call = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"n":1.0}}}],"role":"model"},"index":0}]}"#;
    let end = r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#;
    let new = ToolCall { id: "new".into(), tool: "u".into(), arguments: json!({"m": 2}) };
    let event = |data: &str| format!("data: {data}\r\n\r\n");
    for (before, held, after) in [
        // The end is held too, or comes after the release.
        (event(text), event(call) + &event(end), String::new()),
        (event(text), event(call), event(end)),
        (format!("[{text}\n,"), format!("{call}\n,\n{end}]"), String::new()),
        (format!("[{text}\n,"), call.to_owned(), format!("\n,{end}]\n")),
        ("[".to_owned(), format!("{end}]"), String::new()),
    ] {
        let old = read(&[before.as_bytes(), held.as_bytes(), after.as_bytes()]).unwrap().calls;
        let wanted: Vec<ToolCall> = old.into_iter().chain([new.clone()]).collect();
        let made = changed(FORMAT, held.as_bytes(), "", &wanted);
        let read = read(&[before.as_bytes(), &made, after.as_bytes()]).unwrap();
        assert_eq!(read.calls, wanted, "{}", String::from_utf8_lossy(&made));
        assert!(
            before.starts_with('[')
                || !held.contains(call)
                || String::from_utf8_lossy(&made).contains(r#""args":{"n":1.0}"#)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    #[test]
    fn a_request_is_read_as_it_was_written(request in requests()) {
        let text = body(&request, &Learned::new()).to_string();
        let asked = FORMAT.read_request(text.as_bytes()).unwrap();
        prop_assert_eq!(&asked.request, &request, "{}", text);
        let is_known = |name: &String| name == "contents[].parts[].hologram";
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
                Message::Tool { text: expected, .. } => {
                    let (number, spot) = results.next().unwrap();
                    let value: Value = serde_json::from_str(&text[spot.range.clone()]).unwrap();
                    prop_assert_eq!(spot.number, number);
                    prop_assert_eq!(value.as_str(), Some(expected.as_str()));
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        prop_assert!(calls.next().is_none() && results.next().is_none());
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(reply in replies(), at: prop::sample::Index) {
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 7 };
        for form in [AnswerForm::Whole, AnswerForm::Events, AnswerForm::List] {
            let text = FORMAT.write_answer(&reply, &answering, form);
            let (first, second) = text.as_bytes().split_at(at.index(text.len() + 1));
            prop_assert_eq!(read(&[first, second]).unwrap(), reply.clone(), "{}", text);
        }
        let whole = FORMAT.write_answer(&reply, &answering, AnswerForm::Whole);
        prop_assert_eq!((CODEC.has_call)(&whole), !reply.calls.is_empty());
        prop_assert!((CODEC.is_end)(&whole));
    }

    #[test]
    fn any_bytes_do_no_harm(bytes: Vec<u8>) {
        let _ = FORMAT.read_request(&bytes);
        let _ = read(&[&bytes]);
        (CODEC.has_call)(&String::from_utf8_lossy(&bytes));
    }

    /// An answer with some bytes changed is refused or read.
    #[test]
    fn broken_answers_do_no_harm(reply in replies(), at: prop::sample::Index, bytes: [u8; 2]) {
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 7 };
        for form in [AnswerForm::Whole, AnswerForm::Events, AnswerForm::List] {
            let mut text = FORMAT.write_answer(&reply, &answering, form).into_bytes();
            let at = at.index(text.len());
            for (place, byte) in (at..text.len()).zip(bytes) {
                text[place] = byte;
            }
            let _ = read(&[&text]);
            changed(FORMAT, &text, "", &[]);
        }
    }
}
