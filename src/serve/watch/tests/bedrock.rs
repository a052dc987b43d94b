//! Tests of Bedrock: its frames pass as they came, wait, are changed and are refused like any answer.

use super::endpoint::{EndpointStep, coded, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelError, ModelErrorKind, ToolCall};
use crate::model::relay::Sending;
use crate::wire::Envelope;
use crate::wire::bedrock::{EVENT_STREAM, Passage};

const SIGNED: &str = "authorization: AWS4-HMAC-SHA256 Credential=A/b\r\naccept-encoding: gzip, br\r\n\
                      x-toolyard-session: mine\r\n";
const INVOKE: &str =
    r#"{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"hi"}]}"#;
const CONVERSE: &str = r#"{"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#;

fn path(envelope: Envelope, streams: bool) -> &'static str {
    match (envelope, streams) {
        (Envelope::Invoke, false) => "/model/m-1/invoke",
        (Envelope::Invoke, true) => "/model/m-1/invoke-with-response-stream",
        (Envelope::Converse, false) => "/model/m-1/converse",
        (Envelope::Converse, true) => "/model/m-1/converse-stream",
    }
}

fn body(envelope: Envelope) -> &'static str {
    if envelope == Envelope::Invoke { INVOKE } else { CONVERSE }
}

fn all() -> impl Iterator<Item = (Envelope, bool)> {
    [Envelope::Invoke, Envelope::Converse].into_iter().flat_map(|it| [(it, false), (it, true)])
}

/// An answer with text and a call, as Bedrock sends it, and its type.
fn answer(envelope: Envelope, streams: bool) -> (&'static str, Vec<u8>) {
    let usage = Usage { tokens_in: 11, tokens_out: 3, ..Usage::default() };
    let reply = Reply { usage, calls: vec![call("c1", 1)], ..Reply::of_text("Hello.") };
    let names = FunctionNames::default();
    let answering = Answering { id: "x1", model: "m-1", names: &names, created: 1 };
    let form = AnswerForm::of_stream(streams);
    let text = WireFormat::Messages.write_answer(&reply, &answering, form);
    let mut passage = Passage::new(envelope);
    match streams {
        true => (EVENT_STREAM, passage.close(text.as_bytes())),
        false => ("application/json", passage.close_document(text.as_bytes())),
    }
}

fn call(id: &str, n: u32) -> ToolCall {
    ToolCall { id: id.into(), tool: "look".into(), arguments: serde_json::json!({ "n": n }) }
}

fn received(envelope: Envelope, streams: bool, bytes: &[u8]) -> Reply {
    let mut passage = Passage::new(envelope);
    let text = match streams {
        true => passage.open(bytes).into_bytes(),
        false => passage.open_document(bytes),
    };
    super::read(WireFormat::Messages, &text)
}

#[test]
fn what_is_signed_goes_on_as_it_came_and_answers_have_their_bytes() {
    for (envelope, streams) in all() {
        let (kind, sent) = answer(envelope, streams);
        let endpoint = Endpoint::answering(whole("200 OK", kind, &sent));
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.request("POST", path(envelope, streams), SIGNED, body(envelope).as_bytes());
        let arrival = yard.arrival();
        assert_eq!(arrival.format, WireFormat::Messages);
        assert_eq!((arrival.asked.model.as_str(), arrival.asked.streams), ("m-1", streams));
        assert_eq!(arrival.asked.request.messages.iter().next().unwrap().text(), "hi");
        assert!(arrival.caller.fixed.is_some());
        // A change would break the signature, so the endpoint gets the request as it came.
        let session = SessionStub::with(arrival, Holds::Calls, Some(r#"{"messages":[]}"#));
        session.release(Release::AsCame);
        let got = agent.got();
        assert!(got.body == sent && got.has(&format!("content-type: {kind}")), "{envelope:?}");
        assert_eq!(endpoint.asked().body, body(envelope).as_bytes());
        let ended = session.ended().2.unwrap();
        assert_eq!((ended.text.as_str(), &ended.calls[..]), ("Hello.", &[call("c1", 1)][..]));
        assert_eq!(ended.usage.tokens_in, 11);
    }
    let endpoint = Endpoint::answering(whole("200 OK", "application/json", "{}"));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.request("POST", path(Envelope::Invoke, true), SIGNED, INVOKE.as_bytes());
    SessionStub::new(yard.arrival()).release(Release::AsCame);
    agent.got();
    // Claude Code signs the header by which it tells its session.
    let head = endpoint.asked().head;
    for header in ["accept-encoding: gzip, br", "x-toolyard-session: mine"] {
        assert!(head.contains(&header.to_owned()), "{head:?}");
    }
}

#[test]
fn frames_wait_from_the_first_call_on_and_calls_are_changed() {
    for (envelope, streams) in all() {
        let (kind, sent) = answer(envelope, streams);
        let (first, second) = sent.split_at(sent.len() / 2);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        let chunk =
            |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
        let parts = [head.into_bytes(), chunk(first), chunk(second), b"0\r\n\r\n".to_vec()];
        for holds in [Holds::Calls, Holds::All] {
            let parts = parts.clone();
            let endpoint =
                Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent.request("POST", path(envelope, streams), SIGNED, body(envelope).as_bytes());
            let session = SessionStub::with(yard.arrival(), holds, None);
            assert_eq!(session.ended().2.unwrap().calls, [call("c1", 1)]);
            session.release(Release::Calls(vec![call("c1", 7), call("c2", 8)]));
            let got = agent.got();
            let reply = received(envelope, streams, &got.body);
            assert_eq!(reply.calls, [call("c1", 7), call("c2", 8)], "{envelope:?} {streams}");
            assert_eq!((reply.text.as_str(), reply.usage.tokens_in), ("Hello.", 11));
            assert!(got.is_whole && got.has(&format!("content-type: {kind}")));
        }
    }
}

#[test]
fn own_answers_and_refusals_are_in_the_words_of_bedrock() {
    for (envelope, streams) in all() {
        let endpoint = Endpoint::answering(whole("200 OK", "application/json", "{}"));
        let mut yard = Yard::before(endpoint.address);
        let ask = |yard: &mut Yard, sending: Sending| {
            let mut agent = yard.agent();
            agent.request("POST", path(envelope, streams), SIGNED, body(envelope).as_bytes());
            assert!(yard.arrival().way.send(sending));
            agent.got()
        };
        let reply = Reply { calls: vec![call("own", 3)], ..Reply::of_text("Mine.") };
        let got = ask(&mut yard, Sending::Instead(Ok(Arc::new(reply))));
        let read = received(envelope, streams, &got.body);
        assert_eq!((read.text.as_str(), &read.calls[..]), ("Mine.", &[call("own", 3)][..]));
        for (kind, status, named) in [
            (ModelErrorKind::RateLimited, 429, "ThrottlingException"),
            (ModelErrorKind::Auth, 401, "AccessDeniedException"),
            (ModelErrorKind::ContextOverflow, 400, "ValidationException"),
        ] {
            let got = ask(&mut yard, Sending::Instead(Err(ModelError::new(kind, "no"))));
            assert_eq!(got.status(), status);
            assert!(got.has(&format!("x-amzn-errortype: {named}")), "{}", got.text());
            assert!(got.text().starts_with("{\"message\":"), "{}", got.text());
        }
        let overloaded = ModelError::new(ModelErrorKind::Endpoint, "overloaded");
        assert_eq!(ask(&mut yard, Sending::Instead(Err(overloaded))).status(), 503);
        assert!(endpoint.was_not_asked());
    }
}

#[test]
fn what_is_no_answer_of_messages_passes() {
    let refusal = r#"{"message":"Too many requests, please wait."}"#;
    let more = "x-amzn-errortype: ThrottlingException:http://internal/\r\n";
    for (envelope, streams) in all() {
        for (status, kind, sent) in [
            ("429 Too Many Requests", "application/json", refusal.as_bytes()),
            ("200 OK", EVENT_STREAM, b"no frames at all, but longer than a prelude"),
            ("200 OK", EVENT_STREAM, b"cut"),
            ("200 OK", "application/json", br#"{"output":{"text":"of another kind"}}"#),
        ] {
            let endpoint = Endpoint::answering(coded(status, kind, more, sent));
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent.request("POST", path(envelope, streams), SIGNED, body(envelope).as_bytes());
            let session = SessionStub::new(yard.arrival());
            session.release(Release::AsCame);
            let got = agent.got();
            assert!(got.body == sent && got.has(more.trim_end()), "{envelope:?} {status}");
            assert!(session.ended().2.is_err());
        }
    }
    // The body of another vendor's model.
    let endpoint = Endpoint::answering(whole("200 OK", EVENT_STREAM, "frames"));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.request("POST", "/model/amazon.nova/invoke", SIGNED, CONVERSE.as_bytes());
    let ListenerNews::Passed { why: Some(why), .. } = yard.news() else { panic!() };
    assert!(why.contains("anthropic_version"), "{why}");
    let got = agent.got();
    assert_eq!(
        (got.text().as_str(), got.has(&format!("content-type: {EVENT_STREAM}"))),
        ("frames", true)
    );
}
