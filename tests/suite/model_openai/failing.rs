//! What goes wrong between the client and an endpoint, and what the client makes of it.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use toolyard::domain::ModelErrorKind;
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};

use super::{HELLO, STOP, ask, delta, endpoint, error, reply, request};
use crate::fake_endpoint::{Fake, Script, Step, json as body, response, send, stream, stream_head};

#[tokio::test]
async fn an_answer_without_its_end_is_a_failure_that_keeps_its_text() {
    let ends: [Script; 3] = [
        stream(&[HELLO]),
        vec![stream_head(), send(&format!("data: {HELLO}\n\ndata: {}", &STOP[..20]))],
        stream(&[HELLO, "{\"choices\":[{\"del"]),
    ];
    for script in ends {
        let error = error(script).await;
        assert_eq!((error.kind, error.partial.as_str()), (ModelErrorKind::BadAnswer, "Hello"));
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = format!("data: {HELLO}\n\n");
    let chunk = format!("{head}{:x}\r\n{event}\r\n", event.len());
    let cut = error(vec![send(&chunk)]).await;
    assert_eq!((cut.kind, cut.partial.as_str()), (ModelErrorKind::Connection, "Hello"));

    let mut stalled = stream(&[HELLO]);
    stalled.push(Step::Hang);
    let stalled = error(stalled).await;
    assert_eq!((stalled.kind, stalled.partial.as_str()), (ModelErrorKind::Timeout, "Hello"));
    assert!(stalled.text.contains("sent nothing more for 1 s"), "{stalled}");
}

#[tokio::test]
async fn comments_keep_a_slow_answer_alive() {
    let mut script = vec![stream_head()];
    for _ in 0..4 {
        script.push(Step::Wait(Duration::from_millis(400)));
        script.push(send(": still working\n\n"));
    }
    script.push(send(&format!("data: {HELLO}\n\ndata: {STOP}\n\n")));
    assert_eq!(reply(script).await.text, "Hello");
}

#[tokio::test]
async fn nothing_keeps_a_call_alive_for_ever() {
    let empty = format!("data: {}\n\n", delta(json!({"content": ""})));
    let slow = format!("data: {HELLO}\n\n");
    for alive in [": still working\n\n", &empty, &slow] {
        let mut script = vec![stream_head()];
        for _ in 0..40 {
            script.push(send(alive));
            script.push(Step::Wait(Duration::from_millis(50)));
        }
        let fake = Fake::start(vec![script]).await;
        let call_timeout = Duration::from_millis(400);
        let endpoint = Endpoint { call_timeout, ..endpoint(&fake) };
        let start = Instant::now();
        let error = ask(endpoint, &request()).await.0.unwrap_err();
        assert!(start.elapsed() < Duration::from_millis(1500), "{alive}");
        assert_eq!(error.kind, ModelErrorKind::TooLong, "{error}");
        assert!(error.text.contains("within 0.4 s. Set `call_timeout`"), "{error}");
        assert_eq!(error.partial.contains("Hello"), alive.contains("Hello"));
    }
}

#[tokio::test]
async fn an_answer_that_repeats_itself_is_ended_and_not_asked_for_again() {
    let tokens = |text: &str| delta(json!({"content": text}));
    let thoughts = delta(json!({"reasoning_content": "1. "}));
    let call = |index: u32| {
        let function = json!({"name": "search", "arguments": "1. "});
        delta(json!({"tool_calls": [{"index": index, "function": function}]}))
    };
    let many = "1. ".repeat(200);
    let whole = json!({"choices": [{"message": {"content": many}}]}).to_string();
    let scripts = [
        stream(&vec![tokens("1. ").as_str(); 200]),
        stream(&[&tokens(&many)]),
        stream(&vec![thoughts.as_str(); 200]),
        stream(&vec![call(0).as_str(); 200]),
        body("200 OK", &whole),
    ];
    for mut script in scripts {
        script.push(Step::Hang);
        let fake = Fake::start(vec![script]).await;
        let endpoint = Endpoint { answer_limit: 100, max_retries: 3, ..endpoint(&fake) };
        let (reply, seen) = ask(endpoint, &request()).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::TooLong, "{error}");
        assert!(error.text.contains("longer than 100 tokens"), "{error}");
        assert!(error.text.contains("Set `answer_limit`"), "{error}");
        assert!(!seen.iter().any(|news| matches!(news, ModelProgress::Retrying { .. })));
    }
    let fits = stream(&[&tokens("1. "), STOP]);
    let fake = Fake::start(vec![fits]).await;
    let endpoint = Endpoint { answer_limit: 1, ..endpoint(&fake) };
    assert_eq!(ask(endpoint, &request()).await.0.unwrap().text, "1. ");
}

#[tokio::test]
async fn errors_are_told_apart_and_say_what_to_do() {
    use ModelErrorKind as Kind;
    let page =
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>…</body></html>";
    let plain = "content-type: text/plain\r\n";
    let cases: Vec<(Script, Kind, &str)> = vec![
        (
            body(
                "401 Unauthorized",
                r#"{"error":{"message":"Incorrect API key provided: sk-abcdefghijkl.","code":"invalid_api_key"}}"#,
            ),
            Kind::Auth,
            "Incorrect API key provided: [key]. No key was sent",
        ),
        (
            body("404 Not Found", r#"{"error":{"message":"model not found","code":404}}"#),
            Kind::Refused,
            "Check `url`",
        ),
        (
            body(
                "400 Bad Request",
                r#"{"error":{"message":"Too long.","code":"context_length_exceeded"}}"#,
            ),
            Kind::ContextOverflow,
            "longer than the model takes",
        ),
        (
            body(
                "400 Bad Request",
                r#"{"error":{"message":"x","type":"exceed_context_size_error","code":400}}"#,
            ),
            Kind::ContextOverflow,
            "longer",
        ),
        (
            body(
                "500 Internal Server Error",
                r#"{"error":{"message":"the request exceeds the available context size","code":500}}"#,
            ),
            Kind::ContextOverflow,
            "longer",
        ),
        (
            body(
                "422 Unprocessable Entity",
                r#"{"detail":[{"loc":["body","n"],"msg":"not a number"}]}"#,
            ),
            Kind::Refused,
            r#"["body","n"]: not a number"#,
        ),
        (body("400 Bad Request", r#"{"detail":"no such model"}"#), Kind::Refused, "no such model"),
        (
            body("400 Bad Request", r#"{"error":"bad request"}"#),
            Kind::Refused,
            "HTTP 400 from 127.0.0.1",
        ),
        (
            body("400 Bad Request", r#"[{"error":{"message":"from Google","code":400}}]"#),
            Kind::Refused,
            "from Google",
        ),
        (
            body("429 Too Many Requests", r#"{"error":{"message":"slow down","code":null}}"#),
            Kind::RateLimited,
            "slow down",
        ),
        (body("408 Request Timeout", ""), Kind::Timeout, "Request Timeout"),
        (
            response("502 Bad Gateway", "content-type: text/html\r\n", page),
            Kind::Endpoint,
            "a web page, \"502 Bad Gateway\"",
        ),
        (
            response("200 OK", "content-type: text/html\r\n", page),
            Kind::BadAnswer,
            "Is `url` the address of",
        ),
        (
            response("500 Internal Server Error", plain, "\x1b[31mboom\x07\nat line 1"),
            Kind::Endpoint,
            "[31mboom at line 1.",
        ),
        (
            response("500 Internal Server Error", plain, &"x".repeat(100_000)),
            Kind::Endpoint,
            "xxx…",
        ),
        (
            response("307 Temporary Redirect", "location: https://elsewhere/v1\r\n", ""),
            Kind::Refused,
            "set `url`",
        ),
        (
            body(
                "200 OK",
                r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"overheated"}}}"#,
            ),
            Kind::Endpoint,
            "overheated",
        ),
        (body("200 OK", r#"{"object":"list"}"#), Kind::BadAnswer, "contains no message"),
        (body("200 OK", "{"), Kind::BadAnswer, "is not JSON"),
        (
            stream(&[r#"{"error":{"message":"no such luck","type":"invalid_request_error"}}"#]),
            Kind::Refused,
            "no such luck",
        ),
        (
            stream(&[
                r#"{"error":{"message":"busy","code":429},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            ]),
            Kind::RateLimited,
            "busy",
        ),
        (
            vec![stream_head(), send("event: error\ndata: {\"message\": \"odd\"}\n\n")],
            Kind::Endpoint,
            "odd",
        ),
        (vec![stream_head(), send("{\"error\":{\"message\":\"bare\"}}\n")], Kind::Endpoint, "bare"),
        (vec![], Kind::Connection, "broke"),
    ];
    for (script, kind, phrase) in cases {
        let error = error(script).await;
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.text.contains(phrase), "{error} lacks {phrase}");
        assert!(error.text.chars().count() < 600, "{error}");
        assert!(!error.text.contains(char::is_control), "{error:?}");
    }
    let nobody = Endpoint { max_retries: 0, ..Endpoint::new("m", "http://127.0.0.1:1/v1", "x") };
    let error = ask(nobody, &request()).await.0.unwrap_err();
    assert_eq!(error.kind, Kind::Connection);
    assert!(
        error.text.contains("no connection to 127.0.0.1:1") && error.text.contains("efused"),
        "{error}"
    );
}

#[tokio::test]
async fn passing_failures_are_tried_again_and_reported() {
    let limited =
        response("429 Too Many Requests", "retry-after-ms: 150\r\nretry-after: 60\r\n", "");
    let fake = Fake::start(vec![
        limited,
        body("500 Internal Server Error", r#"{"error":{"message":"boom"}}"#),
        stream(&[&delta(json!({"role": "assistant", "content": ""}))]),
        stream(&[HELLO, STOP]),
    ])
    .await;
    let endpoint = Endpoint { max_retries: 3, ..endpoint(&fake) };
    let (reply, seen) = ask(endpoint, &request()).await;
    assert_eq!(reply.unwrap().text, "Hello");
    let waits: Vec<(u32, Duration, String)> = seen
        .iter()
        .filter_map(|progress| match progress {
            ModelProgress::Retrying { attempt, wait, why } => Some((*attempt, *wait, why.clone())),
            ModelProgress::Text(_)
            | ModelProgress::Reasoning(_)
            | ModelProgress::Noticed(_)
            | ModelProgress::Sent(_)
            | ModelProgress::Answered(_) => None,
        })
        .collect();
    assert_eq!(waits.len(), 3);
    assert_eq!((waits[0].0, waits[0].1), (1, Duration::from_millis(150)));
    assert!(waits[0].2.contains("429") && waits[1].2.contains("boom"), "{waits:?}");
    assert!(waits[2].2.contains("ended before the answer did"), "{waits:?}");
    let seen = fake.seen.lock().unwrap();
    for (n, (_, wait, _)) in waits.iter().enumerate() {
        assert!(seen[n + 1].at - seen[n].at >= *wait, "try {n} came too early");
    }
    assert_eq!(seen[0].body, seen[3].body, "a retry sends the same");
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    let overflow = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let cases: [Script; 5] = [
        body("400 Bad Request", "{}"),
        body("429 Too Many Requests", overflow),
        response("500 Internal Server Error", "x-should-retry: false\r\n", ""),
        response("503 Service Unavailable", "retry-after: 600\r\n", ""),
        stream(&[HELLO]),
    ];
    for script in cases {
        let fake = Fake::start(vec![script, stream(&[HELLO, STOP])]).await;
        let endpoint = Endpoint { max_retries: 3, ..endpoint(&fake) };
        let (result, seen) = ask(endpoint, &request()).await;
        let error = result.unwrap_err();
        assert_eq!(fake.bodies().len(), 1, "{error}");
        assert!(!seen.iter().any(|progress| matches!(progress, ModelProgress::Retrying { .. })));
    }
}

#[tokio::test]
async fn case_13_3_an_idle_connection_that_the_server_closed_costs_no_wait() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = r#"{"choices":[{"message":{"content":"Hello"}}]}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    tokio::spawn(async move {
        for answered in [1, 1] {
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..answered {
                crate::fake_endpoint::read(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            // The next request meets a connection that ends.
            crate::fake_endpoint::read(&mut stream).await;
        }
    });
    let model = Hosted::new(Endpoint::new("m", &url, "x")).unwrap();
    let mut waits = Vec::new();
    let start = Instant::now();
    for _ in 0..2 {
        let mut report = |news| {
            if let ModelProgress::Retrying { wait, .. } = news {
                waits.push(wait);
            }
        };
        assert_eq!(model.ask(&request(), &mut report).await.unwrap().text, "Hello");
    }
    // Nothing is said of it either.
    assert_eq!(waits, Vec::<Duration>::new());
    assert!(start.elapsed() < Duration::from_millis(350), "{:?}", start.elapsed());
}

/// A server whose certificate no system knows; it lists the model `x`.
fn private_server() -> String {
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use std::io::{Read, Write};
    const CERTIFICATE: &[u8] = include_bytes!("../../data/tls/private-leaf.der");
    const KEY: &[u8] = include_bytes!("../../data/tls/private-leaf.key.der");
    let provider = rustls::crypto::ring::default_provider();
    let server = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivatePkcs8KeyDer::from(KEY).into(),
        );
    let server = std::sync::Arc::new(server.unwrap());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut connection = rustls::ServerConnection::new(server.clone()).unwrap();
            let mut stream = stream.unwrap();
            let mut tls = rustls::Stream::new(&mut connection, &mut stream);
            // A client that refuses the certificate ends the connection here.
            if tls.read(&mut [0; 65536]).is_ok() {
                let list = "{\"data\":[{\"id\":\"x\"}]}";
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                let length = list.len();
                let _ = write!(tls, "{head}\r\ncontent-length: {length}\r\n\r\n{list}");
            }
        }
    });
    url
}

#[tokio::test]
async fn a_bad_certificate_is_named_and_not_tried_again() {
    let url = private_server();
    let (reply, seen) = ask(Endpoint::new("m", &url, "x"), &request()).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, seen), (ModelErrorKind::Connection, Vec::new()), "{error}");
    assert!(error.text.contains("its certificate is not accepted"), "{error}");
    assert!(error.text.contains("ca_file"), "{error}");
    assert!(!error.text.contains("running"), "{error}");
}

#[tokio::test]
async fn a_private_authority_is_trusted_where_it_is_configured() {
    let url = private_server();
    let folder = tempfile::tempdir().unwrap();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    let file = data.join("private-ca.pem");
    let endpoint = |file| Endpoint { ca_file: Some(file), ..Endpoint::new("m", &url, "x") };
    let reached = Hosted::new(endpoint(file)).unwrap().reachable().await.unwrap();
    assert!(reached.is_sure, "{reached:?}");
    for (name, says) in [("none.pem", "No such file"), ("text.pem", "expected certificates")] {
        let file = folder.path().join(name);
        if name == "text.pem" {
            std::fs::write(&file, "no certificate").unwrap();
        }
        let error = Hosted::new(endpoint(file)).unwrap().reachable().await.unwrap_err();
        assert!(error.text.contains(says) && error.text.contains(name), "{error}");
    }
}
