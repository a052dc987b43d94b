//! A second wire, of this test alone: another path, another key header, events with types of their own.
//! It needs nothing but what `model::http` offers.

use std::time::Duration;

use pretty_assertions::assert_eq;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use toolyard::domain::{ModelError, ModelErrorKind, Reply, Request};
use toolyard::model::http::{Endpoint, EndpointConnection};
use toolyard::model::secret::{HeaderSource, KeySource};
use toolyard::model::{About, ModelProgress};
use toolyard::wire::errors::is_error;
use toolyard::wire::json::read;
use toolyard::wire::sse::Event;
use toolyard::wire::{AnswerFault, AnswerPiece, GrowingAnswer, HttpFacts, Report, ServicePath};

use crate::fake_endpoint::{
    Fake, Script, Step, gzipped, json as body, response, send, stream, stream_head,
};

/// A key that must not be seen anywhere.
const KEY: &str = "hunter22-is-the-key";

const WIRE: HttpFacts = HttpFacts {
    key_header: "x-api-key",
    key_prefix: "",
    headers: &[("wire-version", "2023-06-01")],
    api: "a typed API",
    address_end: "/typed",
    models: "typed/list",
};

#[derive(Debug, Default)]
struct Typed {
    text: String,
    stopped: bool,
}

impl GrowingAnswer for Typed {
    fn whole(
        &mut self,
        document: &Value,
        _: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        self.text = document["text"].as_str().ok_or(AnswerFault::Missing("text"))?.into();
        self.stopped = true;
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        let data: Value =
            read(event.data.as_bytes()).map_err(|why| AnswerFault::NotJson(why.to_string()))?;
        if is_error(&data) || event.name == "error" {
            return Err(AnswerFault::Said(data));
        }
        match data["type"].as_str() {
            Some("delta") => {
                let text = data["text"].as_str().unwrap_or_default();
                self.text += text;
                seen(AnswerPiece::Text(text.to_owned()));
            }
            Some("stop") => self.stopped = true,
            _ => {}
        }
        Ok(self.stopped)
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn size(&self) -> usize {
        self.text.len()
    }

    fn reply(self: Box<Self>, _: &Request, _: &str) -> (Reply, Report) {
        (Reply::of_text(self.text), Report::default())
    }
}

fn begin(_: &HeaderMap) -> Box<dyn GrowingAnswer> {
    Box::new(Typed::default())
}

fn connection(fake: &Fake) -> EndpointConnection {
    let mut endpoint = Endpoint::new("m", &fake.url, "typed-1");
    endpoint.key = KeySource::Command(vec!["echo".into(), KEY.into()]);
    endpoint.silence_timeout = Duration::from_secs(1);
    endpoint.max_retries = 1;
    EndpointConnection::new(endpoint, WIRE).unwrap()
}

async fn ask(
    script: Vec<Script>,
) -> (Fake, Result<Box<dyn GrowingAnswer>, ModelError>, Vec<ModelProgress>) {
    let fake = Fake::start(script).await;
    let mut seen = Vec::new();
    let body = json!({ "system": "Be brief." });
    let answer = connection(&fake)
        .ask(
            &ServicePath::of("messages"),
            body.to_string(),
            &begin,
            &mut |_| None,
            &mut |progress| {
                seen.push(progress);
            },
        )
        .await;
    (fake, answer, seen)
}

const HELLO: &str = r#"{"type":"delta","text":"Hello"}"#;
const STOP: &str = r#"{"type":"stop"}"#;

#[tokio::test]
async fn it_posts_to_its_own_path_with_its_own_headers_and_reads_typed_events() {
    let events = [r#"{"type":"start"}"#, HELLO, r#"{"type":"delta","text":" you"}"#, STOP];
    let (fake, answer, seen) = ask(vec![stream(&events)]).await;
    assert_eq!(answer.unwrap().text(), "Hello you");
    assert_eq!(seen, [ModelProgress::Text("Hello".into()), ModelProgress::Text(" you".into())]);
    assert_eq!(fake.bodies(), [json!({ "system": "Be brief." })]);
    let head = fake.seen.lock().unwrap()[0].head.clone();
    assert!(head.starts_with("post /v1/messages "), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}\r\n")), "{head}");
    assert!(head.contains("wire-version: 2023-06-01"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn its_last_event_ends_the_answer_though_the_connection_stays_open() {
    let mut script = stream(&[HELLO, STOP]);
    script.push(Step::Hang);
    let start = std::time::Instant::now();
    assert_eq!(ask(vec![script]).await.1.unwrap().text(), "Hello");
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_overloaded_endpoint_is_asked_again_even_after_a_success() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    let failed = vec![stream_head(), send(&format!("event: error\ndata: {overloaded}\n\n"))];
    let (_, answer, seen) = ask(vec![failed, body("200 OK", r#"{"text":"Hello"}"#)]).await;
    assert_eq!(answer.unwrap().text(), "Hello");
    let [ModelProgress::Retrying { attempt: 1, why, .. }] = &seen[..] else { panic!("{seen:?}") };
    assert!(why.contains("busy"), "{why}");
}

#[tokio::test]
async fn a_stream_without_its_end_fails_with_its_text_and_is_not_asked_again() {
    let (fake, answer, _) = ask(vec![stream(&[HELLO]), stream(&[HELLO, STOP])]).await;
    let error = answer.err().unwrap();
    assert_eq!((error.kind, error.partial.as_str()), (ModelErrorKind::BadAnswer, "Hello"));
    assert_eq!(fake.bodies().len(), 1);
}

#[tokio::test]
async fn compressed_answers_are_read_and_other_codings_are_named_and_not_paid_again() {
    let kind = "content-type: text/event-stream\r\n";
    let events = format!("data: {HELLO}\n\ndata: {STOP}\n\n");
    for script in [gzipped("200 OK", kind, &events), gzipped("200 OK", "", r#"{"text":"Hello"}"#)] {
        assert_eq!(ask(vec![script]).await.1.unwrap().text(), "Hello");
    }
    let refused = gzipped("400 Bad Request", "", r#"{"error":{"message":"no such field"}}"#);
    let error = ask(vec![refused]).await.1.unwrap_err();
    assert!(error.text.contains("no such field"), "{error}");
    let br = "content-encoding: br\r\n";
    for status in ["200 OK", "400 Bad Request"] {
        let (fake, answer, _) = ask(vec![response(status, br, "???")]).await;
        let error = answer.err().unwrap();
        assert!(error.text.contains("not understood: br, the coding"), "{error}");
        assert_eq!(fake.bodies().len(), 1);
    }
}

#[tokio::test]
async fn errors_name_this_wire_and_never_the_key() {
    let page = "content-type: text/html\r\n";
    let refused = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
    for (script, phrase) in [
        (response("200 OK", page, "<html>"), "the address of a typed API? Most end in /typed."),
        (body("404 Not Found", "{}"), "Check `url` (most end in /typed)"),
        (body("401 Unauthorized", &refused), "bad key [key]"),
    ] {
        let error = ask(vec![script]).await.1.unwrap_err();
        assert!(error.text.contains(phrase), "{error} lacks {phrase}");
        assert!(!error.text.contains(KEY) && !error.text.contains("OpenAI"), "{error}");
    }
}

#[tokio::test]
async fn its_own_list_of_models_says_whether_it_is_reachable() {
    fn ids(list: &Value) -> Vec<&str> {
        list["models"][0].as_str().into_iter().collect()
    }
    fn about(_: &Value, _: &str) -> About {
        About::default()
    }
    let lists = vec![body("200 OK", r#"{"models":["typed-1"]}"#), body("404 Not Found", "{}")];
    let fake = Fake::start(lists).await;
    let connection = connection(&fake);
    let reached = connection.reach(ids, about).await.unwrap();
    assert!(reached.is_sure && reached.text.ends_with("has \"typed-1\""), "{reached:?}");
    let reached = connection.reach(ids, about).await.unwrap();
    assert!(!reached.is_sure && reached.text.ends_with("(most end in /typed)"), "{reached:?}");
    assert!(fake.seen.lock().unwrap()[0].head.starts_with("get /v1/typed/list "));
}

#[tokio::test]
async fn the_endpoint_s_own_header_replaces_that_of_the_wire() {
    let fake = Fake::start(vec![stream(&[STOP])]).await;
    let mut endpoint = connection(&fake).endpoint().clone();
    endpoint.headers.insert("Wire-Version".into(), HeaderSource::Literal("2030-01-01".into()));
    let connection = EndpointConnection::new(endpoint, WIRE).unwrap();
    let answer = connection
        .ask(&ServicePath::of("messages"), "{}".to_owned(), &begin, &mut |_| None, &mut |_| {})
        .await;
    answer.unwrap();
    let head = fake.seen.lock().unwrap()[0].head.clone();
    assert!(head.contains("wire-version: 2030-01-01"), "{head}");
    assert!(!head.contains("2023-06-01"), "{head}");
}
