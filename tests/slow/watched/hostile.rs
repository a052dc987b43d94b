//! Whatever agents and endpoints send, it is said plainly, and the next request is answered as before.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::Message;
use super::started::{Watch, post};
use crate::program::{Home, Ran};

const CHAT: &str = "/v1/chat/completions";
const ANSWER: &str = r#"{"id":"x","object":"chat.completion","created":1,"model":"good","choices":[{"index":0,"message":{"role":"assistant","content":"Well."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;

fn body(model: &str) -> String {
    json!({"model": model, "messages": [{"role": "user", "content": format!("Ask {model}.")}]})
        .to_string()
}

/// The bytes of an answer, and whether the endpoint then waits for the client to leave.
fn said(request: &Message) -> (Vec<u8>, bool) {
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let json = "content-type: application/json";
    let whole = |head: &str, body: &[u8]| {
        let length = format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len());
        [b"HTTP/1.1 ", head.as_bytes(), b"\r\n", length.as_bytes(), body].concat()
    };
    let html = b"<html><body>502 Bad Gateway</body></html>";
    let zipped = gzip(ANSWER.as_bytes());
    let bytes = match asked["model"].as_str().unwrap_or_default() {
        "hang" => return (Vec::new(), true),
        "half a head" => b"HTTP/1.1 200 OK\r\ncontent-".to_vec(),
        "html" => whole("200 OK\r\ncontent-type: text/html", html),
        "html error" => whole("502 Bad Gateway\r\ncontent-type: text/html", html),
        "gzip" => whole(&format!("200 OK\r\n{json}\r\ncontent-encoding: gzip"), &zipped),
        "broken gzip" => whole("200 OK\r\ncontent-encoding: gzip", &zipped[..zipped.len() / 2]),
        "no gzip" => whole("200 OK\r\ncontent-encoding: gzip", ANSWER.as_bytes()),
        "unknown coding" => whole("200 OK\r\ncontent-encoding: aes128gcm", ANSWER.as_bytes()),
        "no body" => whole(&format!("200 OK\r\n{json}"), b""),
        "no content" => b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_vec(),
        "broken off" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n";
            [head.as_bytes(), &ANSWER.as_bytes()[..50]].concat()
        }
        "no HTTP" => b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        "nothing" => Vec::new(),
        "no JSON" => whole("200 OK", b"so it is"),
        "no UTF-8" => whole(&format!("200 OK\r\n{json}"), b"{\"choices\": \"\xff\xfe\"}"),
        "redirect" => whole("307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/v1/x", b""),
        _ if request.path() == "/v1/nonsense" => whole("404 Not Found", b"no such path"),
        _ => whole(&format!("200 OK\r\n{json}"), ANSWER.as_bytes()),
    };
    (bytes, false)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    // Nobody looks at the sum behind it.
    [&head[..], &miniz_oxide::deflate::compress_to_vec(text, 6), &[0; 8]].concat()
}

/// An endpoint that answers by the name of the model.
fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || {
                let mut client = client.unwrap();
                let Ok(Some(request)) = Message::read(&mut client, &mut Vec::new()) else { return };
                let (bytes, waits) = said(&request);
                let _ = client.write_all(&bytes);
                if waits {
                    let _ = client.read(&mut [0]);
                }
            });
        }
    });
    url
}

/// An endpoint that is asked for TLS and has none; `None`: it says nothing at all.
fn without_tls(says: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut silent = Vec::new();
        for client in listener.incoming() {
            let mut client = client.unwrap();
            match says {
                Some(text) => client.write_all(text.as_bytes()).unwrap(),
                None => silent.push(client),
            }
        }
    });
    url
}

/// It answers still.
fn expect_well(watch: &Watch<'_>, after: &str) {
    let answer = watch.ask(&post(CHAT, "", &body("good")));
    assert_eq!(answer.first, "HTTP/1.1 200 OK", "after {after}");
    assert_eq!(String::from_utf8_lossy(&answer.body), ANSWER, "after {after}");
}

#[test]
fn requests_of_every_kind_are_answered_or_refused_and_told() {
    let home = Home::new();
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", endpoint())]);
    let good = body("good");
    let chunked = format!("{:x};a=b\r\n{good}\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n", good.len());
    let head = "host: 127.0.0.1\r\nconnection: close\r\n";
    let with = |first: &str, headers: &str, body: &str| {
        format!("{first} HTTP/1.1\r\n{head}{headers}\r\n{body}").into_bytes()
    };
    let post_chat = format!("POST {CHAT}");
    let length = format!("content-length: {}\r\n", good.len());
    for (what, request, expected) in [
        ("an unknown path", with("GET /v1/nonsense", "", ""), "HTTP/1.1 404 Not Found"),
        ("an unknown method", with(&format!("BREW {CHAT}"), &length, &good), "HTTP/1.1 200 OK"),
        ("a method without a body", with(&format!("DELETE {CHAT}"), "", ""), "HTTP/1.1 200 OK"),
        (
            "chunks with trailers",
            with(&post_chat, "transfer-encoding: chunked\r\ntrailer: x-sum\r\n", &chunked),
            "HTTP/1.1 200 OK",
        ),
        (
            "an unknown coding",
            with(&post_chat, &format!("content-encoding: br\r\n{length}"), &good),
            "HTTP/1.1 200 OK",
        ),
        (
            "a broken coding",
            with(&post_chat, &format!("content-encoding: gzip\r\n{length}"), &good),
            "HTTP/1.1 200 OK",
        ),
        ("no JSON", with(&post_chat, "content-length: 3\r\n", "{]}"), "HTTP/1.1 200 OK"),
        ("an empty body", with(&post_chat, "content-length: 0\r\n", ""), "HTTP/1.1 200 OK"),
        (
            "a page",
            with(&post_chat, &format!("origin: http://a.example\r\n{length}"), &good),
            "HTTP/1.1 403 Forbidden",
        ),
        (
            "a websocket",
            with("GET /v1/responses", "upgrade: websocket\r\n", ""),
            "HTTP/1.1 426 Upgrade Required",
        ),
        (
            "a proxy request",
            with("CONNECT a.example:443", "", ""),
            "HTTP/1.1 405 Method Not Allowed",
        ),
        (
            "no HTTP",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            "two lengths",
            with(&post_chat, &format!("{length}content-length: 5\r\n"), &good),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            "an HTTP/1.0 client",
            format!("POST {CHAT} HTTP/1.0\r\n{length}\r\n{good}").into_bytes(),
            "HTTP/1.0 200 OK",
        ),
    ] {
        let answer = String::from_utf8_lossy(&watch.ask_raw(&request)).into_owned();
        assert!(answer.starts_with(expected), "{what}: {answer}");
        expect_well(&watch, what);
    }
    let mut patient = watch.connect();
    let wait = format!("expect: 100-continue\r\nconnection: close\r\n{length}");
    patient.write_all(&with(&post_chat, &wait, "")).unwrap();
    let mut interim = [0; 25];
    patient.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    patient.write_all(good.as_bytes()).unwrap();
    let answer = Message::read(&mut patient, &mut Vec::new()).unwrap().unwrap();
    assert_eq!(answer.body, ANSWER.as_bytes());
    let (told, state) = watch.end();
    for line in [
        "not JSON: key must be",
        "not JSON: EOF",
        "not understood: br",
        "its compressed data is damaged",
    ] {
        assert!(told.contains(line), "{line} is not told: {told}");
    }
    let journal = home.read("j.jsonl");
    for line in ["GET /v1/nonsense", &format!("BREW {CHAT}"), &format!("DELETE {CHAT}")] {
        assert!(journal.contains(line), "{line} is not in the journal");
    }
    assert_eq!(state["in_flight"], json!([]));
}

#[test]
fn endpoints_of_every_kind_are_passed_on_or_told() {
    let home = Home::new();
    let variables = [
        ("OPENAI_BASE_URL", endpoint()),
        ("ANTHROPIC_BASE_URL", without_tls(Some("HTTP/1.1 400 Bad Request\r\n\r\n"))),
        ("GOOGLE_GEMINI_BASE_URL", without_tls(None)),
    ];
    let watch = Watch::start(&home, &variables);
    let kinds = [
        ("html", "200 OK", "<html>", Some("a web page")),
        ("html error", "502 Bad Gateway", "<html>", Some("HTTP 502 from")),
        ("gzip", "200 OK", "", None),
        ("broken gzip", "200 OK", "", Some("is not JSON")),
        ("no gzip", "200 OK", "Well.", Some("its compressed data is damaged")),
        ("unknown coding", "200 OK", "Well.", Some("not understood: aes128gcm")),
        ("no body", "200 OK", "", Some("")),
        ("no content", "204 No Content", "", Some("")),
        ("half a head", "502 Bad Gateway", "could not reach", Some("connection closed")),
        ("no HTTP", "502 Bad Gateway", "could not reach", Some("broke")),
        ("nothing", "502 Bad Gateway", "could not reach", Some("connection closed")),
        ("no JSON", "200 OK", "so it is", Some("neither JSON nor a stream of events")),
        ("no UTF-8", "200 OK", "choices", Some("has no choices")),
        ("redirect", "307 Temporary Redirect", "", Some("HTTP 307 from")),
    ];
    for (model, status, says, _) in kinds {
        let answer = watch.ask(&post(CHAT, "", &body(model)));
        assert_eq!(answer.first, format!("HTTP/1.1 {status}"), "{model}");
        let text = String::from_utf8_lossy(&answer.body);
        assert!(text.contains(says), "{model}: {text}");
        expect_well(&watch, model);
    }
    let cut = watch.ask_raw(&post(CHAT, "connection: close\r\n", &body("broken off")));
    assert!(String::from_utf8_lossy(&cut).starts_with("HTTP/1.1 200 OK"));
    expect_well(&watch, "an answer that broke off");
    let hello = json!([{"role": "user", "content": "Hello?"}]);
    let hello = json!({"model": "m", "max_tokens": 9, "messages": hello}).to_string();
    for (what, path) in [("refuses TLS", "/v1/messages"), ("says nothing", "/v1beta/models")] {
        let begun = Instant::now();
        let answer = watch.ask(&post(path, "", &hello));
        let text = String::from_utf8_lossy(&answer.body);
        let is_told = text.contains("could not reach 127.0.0.1:");
        assert!(answer.first.starts_with("HTTP/1.1 502") && is_told, "{what}: {text}");
        println!("an endpoint that {what}, after {:?}: {text}", begun.elapsed());
        expect_well(&watch, what);
    }
    // Whoever waits for nothing leaves at some time.
    let mut left = watch.connect();
    left.write_all(&post(CHAT, "", &body("hang"))).unwrap();
    left.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(left.read(&mut [0]).is_err(), "an endpoint that says nothing is answered");
    drop(left);
    expect_well(&watch, "a client that left");
    let (_, state) = watch.end();
    let asks = state["asks"].as_array().unwrap();
    for (model, .., why) in kinds {
        let ask = asks.iter().find(|ask| ask["model"] == model).unwrap();
        println!("{model}: {}", ask["phase"]);
        let error = ask["phase"]["failed"]["error"]["text"].as_str();
        match why {
            Some(why) => assert!(error.unwrap().contains(why), "{model}: {ask}"),
            None => assert_eq!(ask["phase"]["done"]["reply"]["text"], "Well.", "{model}"),
        }
        assert!(error.is_none_or(|error| !error.contains("hung up")), "{model}: {ask}");
    }
    assert_eq!(state["in_flight"], json!([]));
}

#[test]
fn a_client_may_leave_at_every_byte() {
    let home = Home::new();
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", endpoint())]);
    let request = post(CHAT, "", &body("good"));
    for end in 0..request.len() {
        let mut client = watch.connect();
        client.write_all(&request[..end]).unwrap();
    }
    expect_well(&watch, "requests that broke off");
    let length = watch.length(&request);
    for end in 0..length {
        let mut client = watch.connect();
        client.write_all(&request).unwrap();
        client.read_exact(&mut vec![0; end]).unwrap();
    }
    expect_well(&watch, "answers that were not read");
    let (_, state) = watch.end();
    assert_eq!(state["in_flight"], json!([]));
    println!(
        "left {} times; the session knows {} model calls",
        request.len() + length,
        state["asks"].as_array().unwrap().len()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_body_of_200_megabytes_passes_and_is_not_kept() {
    const SIZE: u64 = 200_000_000;
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (counted, came) = mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut count = 0;
            let mut chunk = vec![0; 1 << 20];
            // A whole head, or what ends it, comes with the body.
            while count < SIZE {
                count += client.read(&mut chunk).unwrap() as u64;
            }
            client
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
                .unwrap();
            counted.send(count).unwrap();
        }
    });
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", url)]);
    // The first one warms up; a second that were kept would take 64 MiB more. One of unknown length is read until it
    // is too large, and its buffer grows by doubling.
    for (is_chunked, most) in [(false, 128 << 10), (false, 32 << 10), (true, 200 << 10)] {
        let before = watch.kilobytes("VmHWM");
        let mut client = watch.connect();
        let how = if is_chunked {
            "transfer-encoding: chunked".to_owned()
        } else {
            format!("content-length: {SIZE}")
        };
        client
            .write_all(
                format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n{how}\r\n\r\n").as_bytes(),
            )
            .unwrap();
        let piece = vec![b'x'; 1_000_000];
        for _ in 0..SIZE / 1_000_000 {
            let framed = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
            client.write_all(if is_chunked { &framed } else { &piece }).unwrap();
        }
        if is_chunked {
            client.write_all(b"0\r\n\r\n").unwrap();
        }
        let answer = Message::read(&mut client, &mut Vec::new()).unwrap().unwrap();
        assert_eq!((answer.first.as_str(), &answer.body[..]), ("HTTP/1.1 200 OK", &b"{}"[..]));
        assert!(came.recv().unwrap() >= SIZE);
        // The system counts in batches.
        let grown = watch.kilobytes("VmHWM").saturating_sub(before);
        println!("{SIZE} bytes, in chunks: {is_chunked}: {grown} kB more");
        assert!(grown < most, "{grown} kB more");
    }
    let (told, _) = watch.end();
    assert_eq!(told.matches("too large to be kept").count(), 3, "{told}");
}

#[test]
fn two_agents_at_once_have_a_session_each_and_a_port_is_taken_once() {
    let home = Home::new();
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", endpoint())]);
    let taken = watch.address.to_string();
    let ran = home.run(&["watch", "--headless", "--no-journal", "--listen", &taken, "--", "true"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains(&format!("{taken} is in use by another program")), "{ran:?}");
    let ran = home.run(&["watch", "--headless", "--no-journal", "--", "no-such-agent"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("`no-such-agent` is not in PATH"), "{ran:?}");
    let other = Home::new();
    let agent = |code: u32| {
        let mut command: Command = other.command(&["watch", "--headless", "--no-journal", "--"]);
        command.args(["sh", "-c", &format!("echo $OPENAI_BASE_URL; sleep 1; exit {code}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let [one, two] = [agent(3), agent(4)].map(|it| Ran::of(it.wait_with_output().unwrap()));
    assert_eq!((one.code, two.code), (3, 4), "{one:?} {two:?}");
    assert!(one.out.starts_with("http://127.0.0.1:") && one.out != two.out, "{one:?} {two:?}");
    expect_well(&watch, "other sessions");
    watch.end();
}
