//! Large bodies, odd transfers and many connections.

use super::endpoint::{EndpointStep, stream, whole};
use super::*;
use crate::model::relay::Sending;

#[test]
fn large_bodies_pass_both_ways() {
    let large = 200 << 20;
    let endpoint = Endpoint::new(move |asked| {
        vec![EndpointStep::Write(whole("200 OK", "text/plain", asked.body.len().to_string()))]
    });
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post("/v1/responses", &vec![b' '; large]);
    let ListenerNews::Passed { why: Some(why), .. } = yard.news() else { panic!() };
    assert!(why.contains("too large"));
    assert_eq!(agent.got().text(), large.to_string());
    // A body of unknown length.
    let more = "Transfer-Encoding: chunked\r\n";
    let head = format!("POST /v1/files HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
    agent.write(head.as_bytes()).write(b"3\r\nabc\r\n2\r\nde\r\n0\r\nx-trailer: 1\r\n\r\n");
    assert_eq!(agent.got().text(), "5");
}

#[test]
fn an_agent_may_ask_before_it_sends_its_body() {
    let endpoint = Endpoint::answering(whole("200 OK", "application/json", "{}"));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    let body = body(WireFormat::Responses, false);
    let length = body.len();
    let head = format!(
        "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
    );
    agent.write(head.as_bytes());
    assert_eq!(agent.head(), ["HTTP/1.1 100 Continue"]);
    agent.write(body.as_bytes());
    let mut arrival = yard.arrival();
    arrival.way.send(Sending::On {
        body: arrival.body.clone(),
        holds: Holds::default(),
        pace: None,
    });
    arrival.way.release(Release::AsCame);
    assert_eq!(agent.got().text(), "{}");
}

#[test]
fn two_hundred_streams_run_at_once() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let parts = stream(&[text, end]);
    let endpoint = Endpoint::new(move |_| {
        let mut steps: Vec<_> = parts.iter().cloned().map(EndpointStep::Write).collect();
        steps.insert(2, EndpointStep::Wait);
        steps
    });
    let mut yard = Yard::before(endpoint.address);
    let mut agents: Vec<Agent> = (0..200).map(|_| yard.agent()).collect();
    for agent in &mut agents {
        agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    }
    let mut ways = Vec::new();
    for _ in 0..200 {
        let mut arrival = yard.arrival();
        arrival.way.send(Sending::On {
            body: arrival.body.clone(),
            holds: Holds::default(),
            pace: None,
        });
        ways.push(arrival.way);
    }
    for agent in &mut agents {
        agent.head();
        assert_eq!(agent.chunk().unwrap(), text.as_bytes());
    }
    for agent in &mut agents {
        endpoint.go();
        let _ = agent;
    }
    for agent in &mut agents {
        assert_eq!(agent.chunk().unwrap(), end.as_bytes());
        assert_eq!(agent.chunk().unwrap(), b"");
    }
}

#[test]
fn idle_connections_give_way_and_streams_do_not() {
    let parts = stream(&["data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"]);
    let endpoint = Endpoint::new(move |_| {
        let mut steps: Vec<_> = parts.iter().cloned().map(EndpointStep::Write).collect();
        steps.insert(2, EndpointStep::Wait);
        steps
    });
    let mut yard = Yard::before(endpoint.address);
    let mut streaming = yard.agent();
    streaming.post("/v1/embeddings", b"{}");
    yard.news();
    assert_eq!(streaming.head()[0], "HTTP/1.1 200 OK");
    // Half a head, over and over.
    let mut idle: Vec<Agent> = (0..300).map(|_| yard.agent()).collect();
    for agent in &mut idle {
        agent.write(b"POST /v1/x HTTP/1.1\r\nHost");
        agent.patience(Duration::from_secs(2));
    }
    let mut late = yard.agent();
    late.post("/v1/late", b"{}");
    yard.news();
    assert_eq!(late.head()[0], "HTTP/1.1 200 OK");
    let is_closed = |agent: &mut Agent| agent.end() != Some(std::io::ErrorKind::WouldBlock);
    assert!(idle[..40].iter_mut().all(is_closed), "the oldest are closed");
    endpoint.go();
    endpoint.go();
    let mut rest = std::iter::from_fn(|| streaming.chunk());
    assert!(rest.any(|chunk| chunk.is_empty()), "the stream comes to its end");
}
