//! Answers that break in each requested way.

use std::thread;
use std::time::{Duration, Instant};

use super::endpoint::{EndpointStep, stream};
use super::*;
use serde_json::Value;

use crate::domain::{FaultSpec, ModelError, ModelErrorKind, ModelSpec, WireFailure};
use crate::model::relay::{Relay, Sending};

/// Returns the response that an agent gets for a failure after this part of a text.
fn got(format: WireFormat, streams: bool, partial: &str, shown: WireFailure) -> agent::Got {
    let mut yard = Yard::before(Endpoint::answering(Vec::new()).address);
    let mut agent = yard.agent();
    agent.post(path(format, streams), body(format, streams).as_bytes());
    let error = ModelError::new(ModelErrorKind::Endpoint, "it broke").shown(shown);
    let error = ModelError { partial: partial.into(), ..error };
    assert!(yard.arrival().way.send(Sending::Instead(Err(error))));
    agent.got()
}

#[test]
fn a_stream_breaks_behind_a_part_of_its_text() {
    for format in WireFormat::ALL {
        for (shown, is_whole) in
            [(WireFailure::Cut, true), (WireFailure::Reset, false), (WireFailure::Event, true)]
        {
            let got = got(format, true, "Half of ", shown);
            assert_eq!((got.status(), got.is_whole), (200, is_whole), "{format} {shown:?}");
            let kind = format.codec().streamed.content_type();
            assert!(got.has(&format!("content-type: {kind}")), "{got:?}");
            let (text, event) = (got.text(), {
                let form = (format.codec().streamed, false);
                format.write_error_event(500, "it broke", form)
            });
            assert!(text.contains("Half of "), "{text}");
            assert_eq!(text.ends_with(&event), shown == WireFailure::Event, "{text}");
            let mut feed = Feed::new(format.begin(&Arc::default(), Report::default()));
            let fed = feed.feed(text.as_bytes(), &mut |_| {});
            assert_eq!(fed.is_err(), shown == WireFailure::Event, "{fed:?}");
            assert!(feed.end(&mut |_| {}).is_err(), "{format} {shown:?}");
        }
    }
}

#[test]
fn a_document_is_whole_or_does_not_come() {
    for format in WireFormat::ALL {
        for shown in [WireFailure::Cut, WireFailure::Reset] {
            assert!(got(format, false, "Half of ", shown).head.is_empty(), "{format} {shown:?}");
        }
        let failed = got(format, false, "Half of ", WireFailure::Event);
        assert!(failed.status() == 500 && failed.text().contains("it broke"), "{failed:?}");
        let status = WireFailure::Status { status: 529, retry_after: Some(9) };
        for streams in [false, true] {
            let busy = got(format, streams, "", status);
            assert!(busy.status() == 529 && busy.has("retry-after: 9"), "{busy:?}");
        }
    }
}

#[test]
fn a_prompt_that_is_too_long_is_refused_as_clients_know_it() {
    for format in WireFormat::ALL {
        let mut yard = Yard::before(Endpoint::answering(Vec::new()).address);
        let mut agent = yard.agent();
        agent.post(path(format, true), body(format, true).as_bytes());
        let fault: FaultSpec = "models:overflow".parse().unwrap();
        let error = fault.kind.model_error().unwrap();
        assert!(yard.arrival().way.send(Sending::Instead(Err(error))));
        let got = agent.got();
        assert_eq!(got.status(), 400);
        let body: Value = serde_json::from_str(&got.text()).unwrap();
        let error = &body["error"];
        match format {
            WireFormat::Chat | WireFormat::Responses => {
                assert_eq!(error["type"], "invalid_request_error");
                assert_eq!(error["code"], "context_length_exceeded");
            }
            WireFormat::Gemini => {
                assert_eq!(error["status"], "INVALID_ARGUMENT");
                let text = error["message"].as_str().unwrap();
                assert!(text.starts_with("The input token count exceeds the maximum"), "{text}");
            }
            WireFormat::Ollama | WireFormat::Generate => {
                assert!(error.as_str().unwrap().starts_with("prompt is too long"), "{error}");
            }
            WireFormat::Messages => {
                assert_eq!(error["type"], "invalid_request_error");
                let text = error["message"].as_str().unwrap();
                assert!(text.starts_with("prompt is too long"), "{text}");
            }
        }
    }
}

#[test]
fn a_reset_is_one_on_the_wire() {
    let mut yard = Yard::before(Endpoint::answering(Vec::new()).address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let error = ModelError::new(ModelErrorKind::Connection, "reset").shown(WireFailure::Reset);
    let error = ModelError { partial: "Half".into(), ..error };
    assert!(yard.arrival().way.send(Sending::Instead(Err(error))));
    agent.head();
    assert!(agent.chunk().is_some(), "a part of the answer came");
    assert_eq!(agent.end(), Some(std::io::ErrorKind::ConnectionReset));
}

#[test]
fn an_agent_that_is_to_wait_in_vain_hears_nothing() {
    let mut yard = Yard::before(Endpoint::answering(Vec::new()).address);
    let mut agent = yard.agent();
    let more = "x-stainless-read-timeout: 0.1\r\n";
    agent.request(
        "POST",
        path(WireFormat::Chat, true),
        more,
        body(WireFormat::Chat, true).as_bytes(),
    );
    let Arrival { way, body: came, .. } = yard.arrival();
    let relay = Relay::new(Arc::new(ModelSpec::new("m", "an endpoint")), came, way);
    relay.stay_silent();
    thread::sleep(Duration::from_millis(250));
    agent.waits();
}

#[test]
fn a_slow_answer_takes_its_time_for_each_event() {
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let twice = event.repeat(2);
    let parts = stream(&[event, &twice, "data: [DONE]\n\n"]);
    let endpoint = Endpoint::new(move |_| parts.iter().cloned().map(EndpointStep::Write).collect());
    let mut yard = Yard::before(endpoint.address);
    let mut agent = yard.agent();
    agent.post(path(WireFormat::Chat, true), body(WireFormat::Chat, true).as_bytes());
    let mut arrival = yard.arrival();
    let pace = Duration::from_millis(60);
    let body = arrival.body.clone();
    arrival.way.send(Sending::On { body, holds: Holds::Calls, pace: Some(pace) });
    let since = Instant::now();
    assert_eq!(agent.got().text(), event.repeat(3) + "data: [DONE]\n\n");
    assert!(since.elapsed() >= 4 * pace, "{:?}", since.elapsed());
}
