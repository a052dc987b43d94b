//! Endpoints that fail, agents that hang up.

use std::net::TcpListener;

use super::endpoint::{EndpointStep, coded, stream, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::ModelErrorKind;
use crate::watch::coding::gzip;

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";

#[test]
fn refusals_and_pages_pass_and_are_understood() {
    use ModelErrorKind::{Auth, BadAnswer, Endpoint as Failed, RateLimited};
    let limited = r#"{"error":{"message":"Slow down","type":"rate_limit_error"}}"#;
    let key = r#"{"error":{"message":"Bad key ag3nt-key-of-tests"}}"#;
    let page = "<html><title>Welcome</title></html>";
    for (status, body, kind, says) in [
        ("429 Too Many Requests", limited, RateLimited, "Slow down"),
        ("401 Unauthorized", key, Auth, "Bad key [key]"),
        ("500 Internal Server Error", page, Failed, "Welcome"),
        ("200 OK", page, BadAnswer, "Welcome"),
        ("200 OK", "nonsense", BadAnswer, "is not JSON"),
        ("200 OK", limited, RateLimited, "Slow down"),
    ] {
        for holds in [Holds::Calls, Holds::All] {
            let endpoint = Endpoint::answering(whole(status, "application/json", body));
            let mut yard = Yard::before(endpoint.address);
            let mut agent = yard.agent();
            agent
                .post(path(WireFormat::Chat, true), super::body(WireFormat::Chat, true).as_bytes());
            let session = SessionStub::with(yard.arrival(), holds, None);
            let error = session.ended().2.unwrap_err();
            assert!(error.kind == kind && error.text.contains(says), "{error:?}");
            assert!(!error.text.contains("`url`") && !error.text.contains("configuration"));
            session.release(Release::AsCame);
            let got = agent.got();
            assert_eq!(
                (got.text().as_str(), got.head[0].as_str()),
                (body, &*format!("HTTP/1.1 {status}"))
            );
        }
    }
}

#[test]
fn an_answer_in_an_unknown_coding_passes_unread() {
    let more = "content-encoding: br\r\n";
    let endpoint = Endpoint::answering(coded("200 OK", "application/json", more, b"\x01\x02"));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, false), body(WireFormat::Chat, false).as_bytes());
    let session = SessionStub::new(yard.arrival());
    let error = session.ended().2.unwrap_err();
    assert!(error.text.contains("not understood: br"), "{error:?}");
    session.release(Release::AsCame);
    assert_eq!(agent.got().body, b"\x01\x02");
}

#[test]
fn an_answer_without_a_body_is_not_taken_for_a_hang_up() {
    let empty = whole("200 OK", "application/json", "");
    for (answer, status) in [(empty, 200), (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), 204)] {
        let endpoint = Endpoint::answering(answer);
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, false), body(WireFormat::Chat, false).as_bytes());
        let session = SessionStub::new(yard.arrival());
        assert_eq!(session.ended().2.unwrap_err().kind, ModelErrorKind::BadAnswer);
        session.release(Release::AsCame);
        let got = agent.got();
        assert_eq!((got.status(), got.text().as_str()), (status, ""));
    }
}

#[test]
fn an_endpoint_that_cannot_be_reached_is_said_to_both() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut yard = Yard::before(closed);
    for holds in [Holds::Calls, Holds::All] {
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Messages, true), body(WireFormat::Messages, true).as_bytes());
        let session = SessionStub::with(yard.arrival(), holds, None);
        let error = session.ended().2.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Connection);
        session.release(Release::AsCame);
        let got = agent.got();
        assert_eq!(got.status(), 502);
        assert!(got.text().contains(&format!("toolyard could not reach {closed}")), "{got:?}");
    }
    let mut agent = yard.agent();
    agent.request("GET", "/v1/models", "", b"");
    assert_eq!(agent.got().status(), 502);
}

#[test]
fn a_stream_that_breaks_breaks_for_the_agent_too() {
    for holds in [Holds::Calls, Holds::All] {
        let mut parts = stream(&[TEXT, "data: {\"choices\":[{\"de"]);
        parts.pop();
        let endpoint = Endpoint::new(move |_| {
            parts.iter().cloned().map(EndpointStep::Write).chain([EndpointStep::Close]).collect()
        });
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
        let session = SessionStub::with(yard.arrival(), holds, None);
        let error = session.ended().2.unwrap_err();
        assert_eq!((error.kind, error.partial.as_str()), (ModelErrorKind::Connection, "half"));
        session.release(Release::AsCame);
        let got = agent.got();
        assert!(!got.is_whole, "{got:?}");
        assert_eq!(got.text(), format!("{TEXT}data: {{\"choices\":[{{\"de"));
    }
}

#[test]
fn a_stream_whose_coding_is_damaged_breaks_and_has_no_compressed_bytes() {
    let text = TEXT.repeat(3);
    let packed = gzip(text.as_bytes());
    // One that has no end, and one with a block of no kind behind its head.
    let cut = packed[..packed.len() - 12].to_vec();
    let broken = [&gzip(b"")[..22], b"\x07 no block"].concat();
    for (holds, damaged) in
        [Holds::Calls, Holds::All].map(|holds| [(holds, &cut), (holds, &broken)]).concat()
    {
        let head = "content-encoding: gzip\r\n";
        let endpoint = Endpoint::answering(coded("200 OK", "text/event-stream", head, damaged));
        let mut yard = Yard::before(endpoint.address);
        let mut agent = yard.agent();
        agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
        let session = SessionStub::with(yard.arrival(), holds, None);
        assert_eq!(session.ended().2.unwrap_err().kind, ModelErrorKind::BadAnswer);
        session.release(Release::AsCame);
        let got = agent.got();
        assert!(!got.is_whole && !got.has("content-encoding"), "{got:?}");
        assert!(text.starts_with(&got.text()), "{got:?}");
    }
}

/// An endpoint that waits before each part of its answer, an agent that has asked it, and the request.
fn asked() -> (Endpoint, Yard, Agent, Arrival) {
    let parts = stream(&[TEXT, TEXT]);
    let endpoint = Endpoint::new(move |_| {
        parts
            .iter()
            .flat_map(|part| [EndpointStep::Wait, EndpointStep::Write(part.clone())])
            .collect()
    });
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let arrival = yard.arrival();
    (endpoint, yard, agent, arrival)
}

/// Checks that the session and the endpoint notice that an agent has hung up.
fn is_noticed(session: &SessionStub, endpoint: &Endpoint) {
    let error = session.ended().2.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
    // An endpoint in a waiting step would not notice it.
    (0..8).for_each(|_| endpoint.go());
    assert!(endpoint.sees_hang_up());
}

#[test]
fn an_agent_that_hangs_up_before_its_request_goes_on_is_noticed() {
    let (endpoint, _yard, agent, mut arrival) = asked();
    drop(agent);
    within(arrival.way.hung_up());
    assert!(endpoint.was_not_asked());
}

#[test]
fn an_agent_that_hangs_up_before_its_answer_begins_is_noticed() {
    let (endpoint, _yard, agent, arrival) = asked();
    let session = SessionStub::new(arrival);
    endpoint.asked();
    drop(agent);
    is_noticed(&session, &endpoint);
}

#[test]
fn an_agent_that_hangs_up_in_the_middle_of_its_answer_is_noticed() {
    let (endpoint, _yard, mut agent, arrival) = asked();
    let session = SessionStub::new(arrival);
    (0..2).for_each(|_| endpoint.go());
    agent.head();
    agent.chunk();
    assert_eq!(session.text(), "half");
    drop(agent);
    is_noticed(&session, &endpoint);
}

#[test]
fn an_agent_that_hangs_up_while_all_is_held_is_noticed() {
    let (endpoint, _yard, agent, arrival) = asked();
    let session = SessionStub::with(arrival, Holds::All, None);
    (0..2).for_each(|_| endpoint.go());
    assert_eq!(session.text(), "half");
    drop(agent);
    is_noticed(&session, &endpoint);
}

#[test]
fn an_agent_that_leaves_after_the_last_event_has_its_answer() {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let mut parts = stream(&[TEXT, end]);
    parts.pop();
    let endpoint = Endpoint::new(move |_| {
        parts.iter().cloned().map(EndpointStep::Write).chain([EndpointStep::Wait]).collect()
    });
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let session = SessionStub::new(yard.arrival());
    agent.head();
    assert_eq!(agent.chunk().unwrap(), TEXT.as_bytes());
    assert_eq!(agent.chunk().unwrap(), end.as_bytes());
    drop(agent);
    assert_eq!(session.ended().2.unwrap().text, "half");
}

#[test]
fn a_port_in_use_is_a_plain_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (news, _) = mpsc::unbounded_channel();
    let upstreams = Upstreams::default();
    let error = bind(taken.local_addr().unwrap()).unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
    let socket = bind("0.0.0.0:0".parse().unwrap()).unwrap();
    let error = listen(Listening {
        socket,
        token: None,
        upstreams,
        intercepting: None,
        has_record: false,
        login: None,
        news,
    })
    .unwrap_err();
    assert!(error.to_string().contains("token"), "{error}");
}

#[test]
fn dropping_the_listener_ends_everything() {
    let endpoint = Endpoint::new(|_| vec![EndpointStep::Wait]);
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let session = SessionStub::new(yard.arrival());
    endpoint.asked();
    let address = yard.listener.address();
    drop(yard);
    assert!(agent.head().is_empty());
    assert_eq!(session.ended().2.unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(std::net::TcpStream::connect(address).is_err());
}
