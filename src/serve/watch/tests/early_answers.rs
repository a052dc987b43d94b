//! Answers that begin before their content is there.

use std::thread;
use std::time::{Duration, Instant};

use super::endpoint::{EndpointStep, coded, stream, whole};
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::relay::Sending;
use crate::watch::coding::gzip;

/// All formats, streamed and not.
const ALL: [(WireFormat, bool); 12] = [
    (WireFormat::Chat, true),
    (WireFormat::Chat, false),
    (WireFormat::Responses, true),
    (WireFormat::Responses, false),
    (WireFormat::Messages, true),
    (WireFormat::Messages, false),
    (WireFormat::Gemini, true),
    (WireFormat::Gemini, false),
    (WireFormat::Ollama, true),
    (WireFormat::Ollama, false),
    (WireFormat::Generate, true),
    (WireFormat::Generate, false),
];
/// How long these agents wait. They get something after half of it.
const IMPATIENT: &str = "x-stainless-read-timeout: 0.4\r\naccept-encoding: gzip\r\n";
const HELD: Duration = Duration::from_millis(800);

/// Tests all formats at once.
fn each(test: impl Fn(WireFormat, bool) + Sync) {
    let test = &test;
    thread::scope(|scope| {
        for (format, streams) in ALL {
            scope.spawn(move || test(format, streams));
        }
    });
}

/// The content type of an answer.
fn kind(format: WireFormat, streams: bool) -> &'static str {
    if streams { format.codec().streamed.content_type() } else { "application/json" }
}

fn beat(format: WireFormat, streams: bool) -> &'static str {
    if streams { format.codec().heartbeat } else { " " }
}

/// A text without the heartbeats in it. That of Gemini's streams is half of the ends of their lines.
fn without_beats(format: WireFormat, streams: bool, text: &str) -> String {
    match streams {
        true => text.replace("\r\n", "\r").replace(beat(format, true), "").replace('\r', "\r\n"),
        false => text.trim_start().to_owned(),
    }
}

/// Requests an answer, and holds the request for longer than the agent waits.
fn held(yard: &mut Yard, format: WireFormat, streams: bool) -> (Agent, Arrival) {
    let mut agent = yard.agent();
    agent.patience(Duration::from_millis(400));
    agent.request("POST", path(format, streams), IMPATIENT, body(format, streams).as_bytes());
    (agent, yard.arrival())
}

#[test]
fn a_request_that_is_held_for_long_is_answered_by_heartbeats_first() {
    each(|format, streams| {
        let kind = kind(format, streams);
        let packed = gzip(answer(format, streams).as_bytes());
        let plain = whole("200 OK", kind, answer(format, streams));
        let packed = coded("200 OK", kind, "content-encoding: gzip\r\n", &packed);
        for came in [plain, packed] {
            let endpoint = Endpoint::answering(came);
            let mut yard = Yard::before(endpoint.address);
            let (mut agent, arrival) = held(&mut yard, format, streams);
            let asked = Instant::now();
            let later = thread::spawn(move || {
                thread::sleep(HELD);
                let session = SessionStub::new(arrival);
                session.release(Release::AsCame);
                session.ended().2.unwrap().text
            });
            let got = agent.got();
            assert!(asked.elapsed() >= HELD && got.is_whole, "{format} {got:?}");
            assert!(
                got.head[0].contains("200")
                    && got.head[1].starts_with(&format!("content-type: {kind}"))
            );
            let beat = beat(format, streams);
            let text = got.text();
            let rest = text.trim_start_matches(beat);
            let beats = (text.len() - rest.len()) / beat.len();
            assert!((2..=5).contains(&beats), "{beats} heartbeats");
            assert_eq!(rest, answer(format, streams), "{format} {streams}");
            assert_eq!(read(format, &got.body).text, "Hello.");
            assert_eq!(later.join().unwrap(), "Hello.");
            endpoint.asked();
            assert!(endpoint.was_not_asked());
        }
    });
}

#[test]
fn an_answer_that_is_held_for_long_goes_on_behind_heartbeats() {
    each(|format, streams| {
        for holds in [Holds::All, Holds::End] {
            let parts = stream(&[&answer(format, streams)]);
            let endpoint =
                Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
            let mut yard = Yard::before(endpoint.address);
            let (mut agent, arrival) = held(&mut yard, format, streams);
            let session = SessionStub::with(arrival, holds, None);
            let later = thread::spawn(move || {
                session.ended().2.unwrap();
                thread::sleep(HELD);
                session.release(Release::AsCame);
            });
            let got = agent.got();
            later.join().unwrap();
            let beat = beat(format, streams);
            assert!(got.is_whole && got.text().matches(beat).count() >= 2, "{format} {got:?}");
            let without = without_beats(format, streams, &got.text());
            assert_eq!(without, answer(format, streams), "{format} {streams}");
            assert_eq!(read(format, &got.body).text, "Hello.");
        }
    });
}

#[test]
fn an_error_behind_heartbeats_is_an_event_or_comes_at_the_next_try() {
    each(|format, streams| {
        let more = "retry-after: 7\r\n";
        let error = br#"{"error":{"message":"slow down"}}"#;
        let limited = coded("429 Too Many Requests", "application/json", more, error);
        let endpoint = Endpoint::answering(limited);
        for by_session in [false, true] {
            let mut yard = Yard::before(endpoint.address);
            let (mut agent, mut arrival) = held(&mut yard, format, streams);
            let later = thread::spawn(move || {
                thread::sleep(HELD);
                if by_session {
                    let error = ModelError::new(ModelErrorKind::RateLimited, "slow down");
                    assert!(arrival.way.send(Sending::Instead(Err(error))));
                    return;
                }
                let session = SessionStub::new(arrival);
                session.release(Release::AsCame);
                assert_eq!(session.ended().2.unwrap_err().kind, ModelErrorKind::RateLimited);
            });
            let got = agent.got();
            later.join().unwrap();
            assert_eq!((got.status(), got.is_whole), (200, streams), "{format} {got:?}");
            if streams {
                let form = (format.codec().streamed, true);
                let event = format.write_error_event(429, "slow down", form);
                assert!(got.text().ends_with(&event), "{got:?}");
                continue;
            }
            assert_eq!(got.text().trim(), "", "no error has the status 200");
            let mut agent = yard.agent();
            let more = "x-stainless-retry-count: 1\r\n";
            agent.request("POST", path(format, streams), more, body(format, streams).as_bytes());
            let got = agent.got();
            assert!(got.status() == 429 && got.text().contains("slow down"), "{got:?}");
            assert!(got.head.iter().any(|line| line.starts_with("retry-after: ")));
            // The answer is given once.
            agent.post(path(format, streams), body(format, streams).as_bytes());
            yard.arrival();
        }
    });
}

#[test]
fn an_answer_without_an_end_resets_the_connection_also_behind_heartbeats() {
    let endpoint = Endpoint::answering(Vec::new());
    let mut yard = Yard::before(endpoint.address);
    let (mut agent, mut arrival) = held(&mut yard, WireFormat::Chat, true);
    thread::sleep(HELD / 2);
    let cut = ModelError::new(ModelErrorKind::Connection, "cut");
    assert!(arrival.way.send(Sending::Instead(Err(cut))));
    let got = agent.got();
    assert_eq!((got.status(), got.is_whole), (200, false));
}

#[test]
fn an_agent_that_hangs_up_behind_heartbeats_is_noticed() {
    let endpoint = Endpoint::answering(Vec::new());
    let mut yard = Yard::before(endpoint.address);
    let (mut agent, mut arrival) = held(&mut yard, WireFormat::Chat, true);
    agent.head();
    drop(agent);
    within(arrival.way.hung_up());
    assert!(endpoint.was_not_asked());
}

/// The usual limit of clients that tell none.
const USUAL: Duration = Duration::from_secs(5);

#[test]
fn a_held_stream_keeps_a_client_that_tells_no_limit() {
    thread::scope(|scope| {
        for (format, part) in WireFormat::ALL.map(|it| [(it, false), (it, true)]).concat() {
            scope.spawn(move || {
                let parts = stream(&[&answer(format, true)]);
                let endpoint = Endpoint::new(move |_| {
                    parts.iter().cloned().map(EndpointStep::Write).collect()
                });
                let mut yard = Yard::before(endpoint.address);
                let mut agent = yard.agent();
                agent.patience(USUAL / 2);
                agent.post(path(format, true), body(format, true).as_bytes());
                let arrival = yard.arrival();
                let begun = Instant::now();
                // The request is held, or the end of its answer.
                let held = USUAL + Duration::from_secs(1);
                let later = thread::spawn(move || {
                    if !part {
                        thread::sleep(held);
                    }
                    let session = SessionStub::with(arrival, Holds::End, None);
                    session.ended().2.unwrap();
                    if part {
                        thread::sleep(held);
                    }
                    session.release(Release::AsCame);
                });
                let got = agent.got();
                later.join().unwrap();
                assert!(got.is_whole && begun.elapsed() >= held, "{format} {part} {got:?}");
                assert_eq!(without_beats(format, true, &got.text()), answer(format, true));
            });
        }
    });
}

#[test]
fn a_whole_answer_that_came_keeps_a_client_that_tells_no_limit() {
    let format = WireFormat::Chat;
    let endpoint = Endpoint::answering(whole("200 OK", "application/json", answer(format, false)));
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.patience(USUAL / 2);
    agent.post(path(format, false), body(format, false).as_bytes());
    let session = SessionStub::with(yard.arrival(), Holds::All, None);
    let later = thread::spawn(move || {
        session.ended().2.unwrap();
        thread::sleep(USUAL);
        session.release(Release::AsCame);
    });
    let got = agent.got();
    later.join().unwrap();
    assert!(got.is_whole && got.text().trim_start() == answer(format, false), "{got:?}");
}

#[test]
fn a_short_hold_keeps_the_status_of_an_error_and_a_long_one_tells_it_in_the_stream() {
    let error = br#"{"error":{"message":"slow down"}}"#;
    let limited = coded("429 Too Many Requests", "application/json", "", error);
    let endpoint = Endpoint::answering(limited);
    thread::scope(|scope| {
        for (millis, more, status) in
            [(300, "", 429), (2500, "", 200), (2500, "x-stainless-timeout: 600\r\n", 429)]
        {
            let address = endpoint.address;
            scope.spawn(move || {
                let (format, mut yard) = (WireFormat::Chat, Yard::before(address));
                let mut agent = yard.agent();
                agent.request("POST", path(format, true), more, body(format, true).as_bytes());
                let arrival = yard.arrival();
                thread::sleep(Duration::from_millis(millis));
                SessionStub::new(arrival).release(Release::AsCame);
                let got = agent.got();
                assert_eq!((got.status(), got.is_whole), (status, true), "{millis} {more}");
                assert!(got.text().contains("slow down"), "{got:?}");
            });
        }
    });
}

#[test]
fn an_agent_that_does_not_say_how_long_it_waits_hears_something_at_its_next_try() {
    let mut yard = Yard::before(Endpoint::answering(Vec::new()).address);
    let mut ask = || {
        let mut agent = yard.agent();
        agent.patience(Duration::from_millis(600));
        agent.post(path(WireFormat::Messages, true), body(WireFormat::Messages, true).as_bytes());
        let mut arrival = yard.arrival();
        let head = agent.head();
        drop(agent);
        within(arrival.way.hung_up());
        head
    };
    assert!(ask().is_empty(), "it is not known yet");
    assert!(!ask().is_empty());
}
