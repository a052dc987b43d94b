//! Tests which parts of an answer wait, and until when.

use super::endpoint::{EndpointStep, coded, stream, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelError, ModelErrorKind, Reply, ToolCall};
use crate::watch::coding::gzip;

/// All formats but completions, which have no calls.
fn with_calls() -> impl Iterator<Item = WireFormat> {
    WireFormat::ALL.into_iter().filter(|format| *format != WireFormat::Generate)
}

/// Before the call, from the call on, and the end.
fn called(format: WireFormat) -> (&'static str, &'static str) {
    match format {
        WireFormat::Chat => (
            "data: {\"choices\":[{\"delta\":{\"content\":\"Look: \"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
        ),
        WireFormat::Responses => (
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"Look: \"}\n\n",
            "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c1\",\"name\":\"look\",\"arguments\":\"\"}}\n\n\
             event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\",\"output\":[\
             {\"type\":\"message\",\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Look: \"}]},\
             {\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c1\",\"name\":\"look\",\"arguments\":\"{}\"}]}}\n\n",
        ),
        WireFormat::Gemini => (
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Look: \"}],\"role\":\"model\"}}]}\r\n\r\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"c1\",\"name\":\"look\",\"args\":{}}}],\"role\":\"model\"}}]}\r\n\r\n\
             data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n",
        ),
        WireFormat::Ollama | WireFormat::Generate => (
            "{\"message\":{\"role\":\"assistant\",\"content\":\"Look: \"},\"done\":false}\n",
            "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":{}}}]},\"done\":false}\n\
             {\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true}\n",
        ),
        WireFormat::Messages => (
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Look: \"}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{}}}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
             event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
    }
}

#[test]
fn a_stream_waits_from_its_first_call_on() {
    for format in with_calls() {
        let (before, after) = called(format);
        // One chunk has the end of the text and the beginning of the call.
        let (first, second) = after.split_at(after.len() / 2);
        let parts = stream(&[&[before, first].concat(), second]);
        let endpoint =
            Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(format, true), body(format, true).as_bytes());
        let session = SessionStub::new(yard.arrival());
        agent.head();
        assert_eq!(agent.chunk().unwrap(), before.as_bytes(), "{format}");
        let (text, _, ended) = session.ended();
        let calls = ended.unwrap().calls;
        assert_eq!((text.as_str(), calls.len(), calls[0].id.as_str()), ("Look: ", 1, "c1"));
        // Everything has arrived, and nothing more is sent.
        agent.waits();
        session.release(Release::AsCame);
        let mut rest = Vec::new();
        while let Some(chunk) = agent.chunk().filter(|chunk| !chunk.is_empty()) {
            rest.extend(chunk);
        }
        assert_eq!(String::from_utf8(rest).unwrap(), after, "{format}");
    }
}

/// A document with a call, and one without.
const DOCUMENTS: [&str; 2] = [
    r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    r#"{"choices":[{"message":{"content":"tool_calls"},"finish_reason":"stop"}]}"#,
];

/// A document as the endpoint sends it, and the bytes of that.
fn sent(document: &str, is_packed: bool) -> (Endpoint, Vec<u8>) {
    let (more, body) = match is_packed {
        true => ("content-encoding: gzip\r\n", gzip(document.as_bytes())),
        false => ("", document.as_bytes().to_vec()),
    };
    (Endpoint::answering(coded("200 OK", "application/json", more, &body)), body)
}

#[test]
fn a_document_waits_as_a_whole() {
    for (document, is_packed) in DOCUMENTS.map(|it| [(it, false), (it, true)]).concat() {
        let (endpoint, body) = sent(document, is_packed);
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, false), super::body(WireFormat::Chat, false).as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.ended().2.unwrap();
        agent.waits();
        session.release(Release::AsCame);
        let got = agent.got();
        assert_eq!((got.has(&format!("content-length: {}", body.len())), &got.body), (true, &body));
    }
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments: serde_json::json!({"n": 2}) }
}

#[test]
fn a_stream_of_a_known_length_waits_as_a_whole() {
    let (before, after) = called(WireFormat::Chat);
    let all = [before, after].concat();
    let endpoint = Endpoint::answering(whole("200 OK", "text/event-stream", &all));
    for (release, calls) in
        [(Release::AsCame, vec!["look"]), (Release::Calls(vec![call("c2", "seek")]), vec!["seek"])]
    {
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.ended().2.unwrap();
        agent.waits();
        session.release(release);
        let got = agent.got();
        assert!(got.is_whole && got.has(&format!("content-length: {}", got.body.len())));
        let called = read(WireFormat::Chat, &got.body).calls;
        assert!(called.iter().map(|call| call.tool.as_str()).eq(calls));
    }
}

#[test]
fn the_calls_of_a_document_change() {
    for (document, is_packed) in DOCUMENTS.map(|it| [(it, false), (it, true)]).concat() {
        let (endpoint, _) = sent(document, is_packed);
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, false), super::body(WireFormat::Chat, false).as_bytes());
        let session = SessionStub::new(yard.arrival());
        session.ended().2.unwrap();
        session.release(Release::Calls(vec![call("c1", "look")]));
        let got = agent.got();
        assert!(got.is_whole && !got.has("content-encoding: gzip"));
        assert!(got.has("x-request-id: r1") && got.has("x-last: 1"), "{got:?}");
        let reply: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
        let choice = &reply["choices"][0];
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{\"n\":2}");
        assert_eq!(choice["finish_reason"], "tool_calls");
        assert_eq!(choice["message"]["content"].is_string(), document == DOCUMENTS[1]);
    }
}

#[test]
fn the_calls_of_a_stream_change_behind_text_that_went_on() {
    for (format, holds) in with_calls().flat_map(|it| [(it, Holds::Calls), (it, Holds::End)]) {
        let (before, after) = called(format);
        let parts = stream(&[before, after]);
        let endpoint =
            Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
        for calls in
            [vec![], vec![call("c1", "look")], vec![call("c2", "seek"), call("c3", "seek")]]
        {
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent.post(path(format, true), body(format, true).as_bytes());
            let session = SessionStub::with(yard.arrival(), holds, None);
            agent.head();
            assert_eq!(agent.chunk().unwrap(), before.as_bytes(), "{format}");
            session.ended().2.unwrap();
            session.release(Release::Calls(calls.clone()));
            let mut all = before.as_bytes().to_vec();
            while let Some(chunk) = agent.chunk().filter(|chunk| !chunk.is_empty()) {
                all.extend(chunk);
            }
            let reply = read(format, &all);
            assert_eq!((reply.text.as_str(), reply.calls), ("Look: ", calls.clone()), "{format}");
        }
    }
}

#[test]
fn the_end_alone_can_wait_so_that_a_call_is_added() {
    for format in with_calls() {
        let all = answer(format, true);
        let parts = stream(&[&all]);
        let endpoint =
            Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
        for (release, calls) in [
            (Release::AsCame, vec![]),
            (Release::Calls(vec![call("n1", "look")]), vec![call("n1", "look")]),
        ] {
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent.post(path(format, true), body(format, true).as_bytes());
            let session = SessionStub::with(yard.arrival(), Holds::End, None);
            let changes = matches!(release, Release::Calls(_));
            session.ended().2.unwrap();
            session.release(release);
            let got = agent.got().body;
            assert_eq!(got == all.as_bytes(), !changes, "{format}");
            let reply = read(format, &got);
            assert_eq!((reply.text.as_str(), reply.calls), ("Hello.", calls), "{format}");
        }
    }
}

#[test]
fn a_session_that_goes_away_holds_nothing() {
    let (before, after) = called(WireFormat::Chat);
    let endpoint =
        Endpoint::answering(whole("200 OK", "text/event-stream", [before, after].concat()));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let session = SessionStub::new(yard.arrival());
    session.ended().2.unwrap();
    drop(session);
    let got = agent.got();
    assert_eq!((got.text(), got.is_whole), ([before, after].concat(), true));
}

#[test]
fn an_answer_that_is_held_as_a_whole_can_be_replaced() {
    for (format, streams) in
        [(WireFormat::Chat, true), (WireFormat::Messages, true), (WireFormat::Responses, false)]
    {
        let (before, after) = called(format);
        let document = r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Look: "}]}]}"#;
        let came = if streams { [before, after].concat() } else { document.to_owned() };
        let endpoint = Endpoint::answering(whole("200 OK", "", &came));
        let mut yard = Yard::before(endpoint.address);
        let released = [
            (Release::AsCame, 200, came.as_str()),
            (Release::Instead(Ok(Reply::of_text("Another.").into())), 200, "Another."),
            (
                Release::Instead(Err(ModelError::new(ModelErrorKind::Endpoint, "broken here"))),
                500,
                "broken here",
            ),
        ];
        for (release, status, text) in released {
            let mut agent = yard.agent();
            agent.post(path(format, streams), body(format, streams).as_bytes());
            let session = SessionStub::with(yard.arrival(), Holds::All, None);
            assert!(session.ended().2.unwrap().text.starts_with("Look: "));
            agent.waits();
            session.release(release);
            let got = agent.got();
            assert!(got.status() == status && got.text().contains(text), "{format} {got:?}");
            assert!(got.is_whole);
        }
        // It does not answer at all.
        let mut agent = yard.agent();
        agent.post(path(format, streams), body(format, streams).as_bytes());
        let session = SessionStub::with(yard.arrival(), Holds::All, None);
        session.ended().2.unwrap();
        let cut = ModelError::new(ModelErrorKind::Connection, "cut");
        session.release(Release::Instead(Err(cut)));
        assert!(agent.head().is_empty());
    }
}
