//! Many streams at once: none ends early, and memory stays. `TOOLYARD_WATCH_SECONDS` says how long; ten seconds without it.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::json;

use super::http::Message;
use super::started::{Watch, post};
use crate::program::Home;

const STREAMS: usize = 200;

/// Between two events of a stream.
const PAUSE: Duration = Duration::from_millis(200);

/// Kilobytes of memory that may be taken meanwhile.
const MOST: u64 = 50 << 10;

fn seconds() -> u64 {
    env::var("TOOLYARD_WATCH_SECONDS").map_or(10, |seconds| seconds.parse().unwrap())
}

/// An endpoint whose streams go on for this time.
fn endpoint(last: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || stream(client.unwrap(), last));
        }
    });
    url
}

fn stream(mut client: TcpStream, last: Duration) {
    client.set_nodelay(true).unwrap();
    Message::read(&mut client, &mut Vec::new()).unwrap();
    let begun = Instant::now();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let mut send = |data: &str| {
        let event = format!("data: {data}\n\n");
        client.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).unwrap();
    };
    let mut number = 0;
    while begun.elapsed() < last {
        let choice = json!({"index": 0, "delta": {"content": format!("word {number} ")}});
        send(&json!({"choices": [choice]}).to_string());
        number += 1;
        thread::sleep(PAUSE);
    }
    send(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string());
    send(
        &json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": number}})
            .to_string(),
    );
    send("[DONE]");
    client.write_all(b"0\r\n\r\n").unwrap();
}

#[test]
fn many_streams_at_once_end_as_they_should_and_memory_stays() {
    let (home, last) = (Home::new(), Duration::from_secs(seconds()));
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", endpoint(last))]);
    let ask = |number: usize| {
        let messages = json!([{"role": "user", "content": format!("Count, number {number}.")}]);
        let body = json!({"model": "m", "stream": true, "messages": messages}).to_string();
        let mut client = watch.connect();
        client.write_all(&post("/v1/chat/completions", "", &body)).unwrap();
        Message::read(&mut client, &mut Vec::new()).unwrap().expect("the stream ended early")
    };
    let grown = thread::scope(|scope| {
        let clients: Vec<_> = (0..STREAMS).map(|number| scope.spawn(move || ask(number))).collect();
        // Buffers of connections are there from the beginning.
        thread::sleep(last.min(Duration::from_secs(30)) / 3);
        let before = watch.kilobytes("VmRSS");
        let mut most = before;
        while clients.iter().any(|client| !client.is_finished()) {
            most = most.max(watch.kilobytes("VmRSS"));
            thread::sleep(Duration::from_millis(100));
        }
        for client in clients {
            let text = String::from_utf8(client.join().unwrap().body).unwrap();
            assert!(text.ends_with("data: [DONE]\n\n"), "the stream ended early: {text}");
            let events = text.matches("data: ").count();
            let at_least = usize::try_from(last.as_millis() / PAUSE.as_millis()).unwrap() / 2;
            assert!(events > at_least, "{events} events");
        }
        println!("{STREAMS} streams for {last:?}: {before} kB at first, {most} kB at most");
        most - before
    });
    assert!(grown < MOST, "{grown} kB more");
    let (_, state) = watch.end();
    let asks = state["asks"].as_array().unwrap();
    let ended = asks.iter().filter(|ask| ask["phase"]["done"]["reply"]["finish"] == "stop");
    assert_eq!((asks.len(), ended.count()), (STREAMS, STREAMS));
}
