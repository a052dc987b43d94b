//! What an agent got comes back when it runs again: the bytes, the status and the headers that clients act on.

use std::io::Write;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::{Event, ModelCallEvent};
use toolyard::net::kept_body::unpacked;

use super::http::Message;
use super::started::{Watch, post};
use crate::program::{Home, text};

const KEY: &str = "sk-planted-key-of-the-agent";
const CHAT: &str = "/v1/chat/completions";
/// Headers of the connection and of who the client is.
const HEAD: &str = "connection: close\r\nset-cookie: visit=v; Path=/\r\nopenai-organization: o\r\n";
/// What the text of an answer lacks, in an unusual form.
const RICH: &str = r#"{ "id" : "chatcmpl-9","object":"chat.completion","created":1,"model":"rich","system_fingerprint":"fp_1","citations":["http://x/?a=1"],"hologram":[1.00],"choices":[{"index":0,"message":{"role":"assistant","content":"W\u0065ll.","annotations":[{"type":"url_citation","url_citation":{"url":"http://x"}}],"audio":{"id":"a","data":"AAAA"}},"logprobs":{"content":[{"token":"Well","logprob":-0.10}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
const TOO_LONG: &str = r#"{"error": {"message":"This model's maximum context length is 8 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;

/// An event of a stream of chat.
fn chunk(delta: &str, more: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-8\",\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{delta}{more}}}],\"obfuscation\":\"x7\"}}\r\n\r\n"
    )
}

fn stream(wants_usage: bool, parts: &[String]) -> String {
    let usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\r\n\r\n";
    let end = [chunk("{}", ",\"finish_reason\":\"stop\""), usage.to_owned()];
    let end = if wants_usage { end.concat() } else { end[0].clone() };
    format!(": hello\r\n\r\n{}{end}data: [DONE]\r\n\r\n", parts.concat())
}

fn words() -> Vec<String> {
    let logprobs = ",\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-1.0}]}";
    (0..60).map(|n| chunk(&format!("{{\"content\":\"{n} \"}}"), logprobs)).collect()
}

/// The head and the body of an answer, by the name of the model; and how many of its bytes come.
fn said(asked: &Value) -> (String, Vec<u8>, usize) {
    let wants_usage = asked["stream_options"]["include_usage"] == true;
    let sse = "200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_2";
    let json = "200 OK\r\ncontent-type: application/json; charset=utf-8";
    let call = "{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"at\\\": 1}\"}}]}";
    let response = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"object\":\"response\",\"status\":\"completed\",\"odd\":1.0,\"model\":\"m\",\"output\":[{{\"type\":\"message\",\"id\":\"msg_5\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{{\"type\":\"output_text\",\"text\":\"Hi.\",\"annotations\":[]}}]}}],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}"
        )
    };
    let message = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_7\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1},\"odd\":1.0}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\",\"citations\":null}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi.\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let (head, body) = match asked["model"].as_str().unwrap() {
        "rich" => (format!("{json}\r\nx-request-id: req_1\r\nX-RateLimit-Remaining-Tokens: 9"), RICH.to_owned()),
        "words" | "words without usage" => (sse.to_owned(), stream(wants_usage, &words())),
        "cut" => {
            let body = stream(wants_usage, &words());
            let cut = body.find("data: [DONE]").unwrap() - 700;
            return (sse.to_owned(), body.into_bytes(), cut);
        }
        "calls" => (sse.to_owned(), stream(wants_usage, &[chunk(call, "")])),
        "echo" => (json.to_owned(), RICH.replace("ll.", &format!("ll {KEY}."))),
        "echo in pieces" => {
            let pieces = KEY.split_inclusive('-').map(|it| chunk(&format!("{{\"content\":\"{it}\"}}"), ""));
            (sse.to_owned(), stream(wants_usage, &pieces.collect::<Vec<_>>()))
        }
        "too long" => ("400 Bad Request\r\ncontent-type: application/json\r\nx-request-id: req_3".to_owned(), TOO_LONG.to_owned()),
        "busy" => ("429 Too Many Requests\r\ncontent-type: text/plain\r\nretry-after: 7\r\nretry-after-ms: 6500".to_owned(), "slow down".to_owned()),
        "message" => (format!("{sse}\r\nrequest-id: req_4\r\nanthropic-ratelimit-tokens-remaining: 8"), message.to_owned()),
        "response" if asked["previous_response_id"] == "resp_1" => (json.to_owned(), response("resp_2")),
        _ => (json.to_owned(), response("resp_1")),
    };
    let length = body.len();
    (head, body.into_bytes(), length)
}

fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let Ok(Some(request)) = Message::read(&mut client, &mut Vec::new()) else { continue };
            let (head, body, comes) = said(&serde_json::from_slice(&request.body).unwrap());
            let length = body.len();
            let head = format!("HTTP/1.1 {head}\r\n{HEAD}content-length: {length}\r\n\r\n");
            let _ = client.write_all(&[head.as_bytes(), &body[..comes]].concat());
        }
    });
    host
}

/// The requests, in their order.
fn requests() -> Vec<(&'static str, &'static str, Value)> {
    let user = |model: &str| json!([{"role": "user", "content": format!("How is {model}?")}]);
    let chat = |model: &'static str, streams: bool| {
        (model, CHAT, json!({"model": model, "messages": user(model), "stream": streams}))
    };
    let mut words = chat("words", true);
    words.2["stream_options"] = json!({"include_usage": true});
    let response = json!({"model": "response", "input": "Hello."});
    let next = json!({"model": "response", "previous_response_id": "resp_1", "input": "More."});
    let message =
        json!({"model": "message", "max_tokens": 9, "stream": true, "messages": user("it")});
    vec![
        chat("rich", false),
        words,
        chat("words without usage", true),
        chat("cut", true),
        chat("calls", true),
        chat("too long", false),
        chat("busy", true),
        ("response", "/v1/responses", response),
        ("the next response", "/v1/responses", next),
        ("message", "/v1/messages", message),
    ]
}

/// The status, the headers that count, and the body without its chunks; of a broken answer, all that came.
fn got(watch: &Watch, path: &str, body: &Value) -> (String, Vec<(String, String)>, String) {
    let key = format!("authorization: Bearer {KEY}\r\nconnection: close\r\n");
    let bytes = watch.ask_raw(&post(path, &key, &body.to_string()));
    let Some((answer, _)) = Message::take(&bytes) else {
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        // The sizes of its chunks.
        let lines = body.split("\r\n").filter(|line| u32::from_str_radix(line, 16).is_err());
        return (head.lines().next().unwrap().to_owned(), Vec::new(), lines.collect());
    };
    let of_connection = ["date", "connection", "content-length", "transfer-encoding"];
    let gone = ["set-cookie", "openai-organization"];
    let counts = |name: &str| !of_connection.contains(&name) && !gone.contains(&name);
    let mut headers = answer.headers;
    headers.retain(|(name, _)| counts(name));
    headers.sort();
    (answer.first, headers, String::from_utf8(answer.body).unwrap())
}

#[test]
fn what_came_comes_again_byte_for_byte() {
    let (home, host) = (Home::new(), endpoint());
    let of = |host: &str| {
        [("OPENAI_BASE_URL", format!("{host}/v1")), ("ANTHROPIC_BASE_URL", host.to_owned())]
    };
    let live = Watch::start(&home, &of(&host));
    let first: Vec<_> = requests().iter().map(|(_, path, body)| got(&live, path, body)).collect();
    assert_eq!(first[0].2, RICH);
    assert!(first[1].2.contains("\"usage\"") && !first[2].2.contains("\"usage\""));
    assert!(first[3].2.contains("30 ") && !first[3].2.contains("[DONE]"));
    // A copy comes after the end of its answer.
    let copies = || home.read("j.jsonl").matches("ModelCallAnswered").count();
    for _ in 0..200 {
        if copies() == requests().len() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let (_, state) = live.end();
    assert_eq!(
        state["runs"].as_object().unwrap().len(),
        9,
        "the second response is in the conversation"
    );
    let mut journal = home.path("j.jsonl");
    for again in ["a.jsonl", "b.jsonl"] {
        let path = home.path(again);
        let over = ["--recorded", text(&journal), "--strict", "--journal", text(&path)];
        // Nobody is at this address.
        let watch = Watch::with(&home, &of("http://127.0.0.1:9"), &over);
        for ((what, path, body), first) in requests().iter().zip(&first) {
            let (status, headers, body) = got(&watch, path, body);
            assert_eq!((&status, &headers), (&first.0, &first.1), "{what}");
            assert!(body == first.2, "{what}: {body}\n{}", first.2);
        }
        journal = path;
    }
}

#[test]
fn a_recorded_answer_can_fail_and_a_key_is_in_no_copy() {
    let (home, host) = (Home::new(), endpoint());
    let of = |host: &str| [("OPENAI_BASE_URL", format!("{host}/v1"))];
    let live = Watch::start(&home, &of(&host));
    let all = requests();
    let chat = |model: &str, streams: bool| json!({"model": model, "messages": [{"role": "user", "content": "Tell it."}], "stream": streams});
    for body in [&all[0].2, &chat("echo", false), &chat("echo in pieces", true)] {
        assert_eq!(got(&live, CHAT, body).0, "HTTP/1.1 200 OK");
    }
    live.end();
    let journal = home.path("j.jsonl");
    let whole = home.read("j.jsonl");
    assert!(!whole.contains(KEY) && !whole.contains("visit=v") && !whole.contains("organization"));
    let kept: Vec<_> = toolyard::store::journal::read(&journal).unwrap().records;
    let kept = kept.iter().filter_map(|record| match &record.event {
        Event::ModelCall(ModelCallEvent::ModelCallAnswered { answer, .. }) => {
            unpacked(&answer.body)
        }
        _ => None,
    });
    assert_eq!(kept.collect::<Vec<_>>(), [RICH]);
    let again = home.path("a.jsonl");
    let over = [
        "--recorded",
        text(&journal),
        "--strict",
        "--journal",
        text(&again),
        "--fault",
        "role:actor:rate-limit:nth=1",
    ];
    let watch = Watch::with(&home, &of("http://127.0.0.1:9"), &over);
    let first = got(&watch, CHAT, &all[0].2);
    assert!(first.0.contains("429"), "{first:?}");
    assert_eq!(got(&watch, CHAT, &all[0].2).2, RICH, "the client asks again");
    let echo = got(&watch, CHAT, &chat("echo", false));
    assert!(echo.2.contains("Well [key].") && !echo.2.contains("citations"), "{echo:?}");
}
