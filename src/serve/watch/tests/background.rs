//! Answers that an endpoint writes in the background, and clients that ask for them by polling.

use serde_json::{Value, json};

use super::endpoint::{EndpointRequest, EndpointStep, stream, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelErrorKind, ToolCall};

const BODY: &str = r#"{"model":"m-1","background":true,"input":"hi"}"#;
const ID: &str = "/v1/responses/resp_bg";

fn response(status: &str, city: &str) -> String {
    let arguments = format!("{{\"city\":\"{city}\"}}");
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather",
        "arguments": arguments, "status": "completed"});
    let output = if status == "completed" { json!([call]) } else { json!([]) };
    let all = json!({"id": "resp_bg", "object": "response", "status": status, "output": output});
    serde_json::to_string_pretty(&all).unwrap()
}

/// The same answer as a stream.
fn events() -> Vec<String> {
    let whole =
        |status| -> serde_json::Value { serde_json::from_str(&response(status, "Oslo")).unwrap() };
    let item = whole("completed")["output"][0].clone();
    let all = [
        json!({"type": "response.created", "response": whole("queued")}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": whole("completed")}),
    ];
    all.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// An endpoint that is done when it is told so, and that streams where a client asks for it.
fn endpoint(ends: &'static str) -> Endpoint {
    let polls = std::sync::atomic::AtomicU32::new(0);
    Endpoint::new(move |asked: &EndpointRequest| {
        let line = asked.head[0].as_str();
        let json =
            |body: String| vec![EndpointStep::Write(whole("200 OK", "application/json", body))];
        if line.contains("stream=true") {
            let events = events();
            let all: Vec<&str> = events.iter().map(String::as_str).collect();
            return stream(&all).into_iter().map(EndpointStep::Write).collect();
        }
        if line.starts_with("POST /v1/responses ") {
            return json(response("queued", ""));
        }
        if line.contains("/cancel") {
            return json(response("cancelled", ""));
        }
        match polls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => json(response("in_progress", "")),
            1 => vec![EndpointStep::Write(whole("500 Oops", "text/plain", "later"))],
            _ => json(response(ends, "Oslo")),
        }
    })
}

/// The session of a request in the background, whose client has the first answer.
fn begun(endpoint: &Endpoint) -> (Yard, SessionStub) {
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post("/v1/responses", BODY.as_bytes());
    let session = SessionStub::with(yard.arrival(), Holds::All, None);
    assert_eq!(agent.got().text(), response("queued", ""));
    (yard, session)
}

fn bergen() -> Release {
    let arguments = json!({"city": "Bergen"});
    Release::Calls(vec![ToolCall { id: "c1".into(), tool: "weather".into(), arguments }])
}

#[test]
fn the_poll_with_the_end_is_the_answer() {
    let endpoint = endpoint("completed");
    let (mut yard, session) = begun(&endpoint);
    let poll = |path: &str| {
        let mut agent = yard.agent();
        agent.request("GET", path, "", b"");
        agent
    };
    assert_eq!(poll(ID).got().text(), response("in_progress", ""));
    assert_eq!(poll(ID).got().status(), 500);
    // Two polls at once wait for one decision.
    let mut both = [poll(ID), poll(ID)];
    let reply = session.ended().2.unwrap();
    assert_eq!(reply.calls[0].arguments["city"], "Oslo");
    session.release(bergen());
    // A document is one event: its fields keep their text, and not the blanks between them.
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let expected = read(&response("completed", "Bergen"));
    for agent in &mut both {
        assert_eq!(read(&agent.got().text()), expected);
    }
    // A further poll gets what the first one got, also as a stream.
    assert_eq!(read(&poll(&format!("{ID}?include=x")).got().text()), expected);
    let events = poll(&format!("{ID}?stream=true&starting_after=1")).got().text();
    assert!(events.contains("Bergen") && !events.contains("Oslo"), "{events}");
    // An answer that nobody waits for passes unread, and is counted.
    let mut other = poll("/v1/responses/resp_other");
    other.got();
    assert!(matches!(yard.news(), ListenerNews::Passed { .. }));
}

#[test]
fn a_stream_of_an_answer_in_the_background_is_held_like_any_other() {
    let endpoint = endpoint("completed");
    let (yard, session) = begun(&endpoint);
    let mut agent = yard.agent();
    agent.request("GET", &format!("{ID}?stream=true"), "", b"");
    assert_eq!(session.ended().2.unwrap().calls.len(), 1);
    session.release(bergen());
    let got = agent.got().text();
    assert_eq!(read(WireFormat::Responses, got.as_bytes()).calls[0].arguments["city"], "Bergen");
}

#[test]
fn an_answer_in_the_background_can_fail_or_be_cancelled() {
    for (method, path, kind) in [
        ("POST", "/v1/responses/resp_bg/cancel", ModelErrorKind::Cancelled),
        ("GET", "/v1/responses/resp_bg", ModelErrorKind::Endpoint),
    ] {
        let endpoint = endpoint("failed");
        let (yard, session) = begun(&endpoint);
        let mut last = String::new();
        for _ in 0..3 {
            let mut agent = yard.agent();
            agent.request(method, path, "", b"");
            if kind == ModelErrorKind::Endpoint && last == "later" {
                let error = session.ended().2.unwrap_err();
                assert_eq!(error.kind, kind, "{error:?}");
                session.release(Release::AsCame);
            }
            last = agent.got().text();
        }
        if kind == ModelErrorKind::Cancelled {
            assert_eq!(session.ended().2.unwrap_err().kind, kind);
        }
        let status = if kind == ModelErrorKind::Cancelled { "cancelled" } else { "failed" };
        assert_eq!(last, response(status, "Oslo"));
    }
}
