//! Streams that are damaged at random pass as they came, whatever of them is held, and each has an end.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use toolyard::domain::{Chance, Finish, ModelSpec, Reply, ToolCall};
use toolyard::model::Model;
use toolyard::model::relay::{Arrival, Holds, ListenerNews, Relay, Release};
use toolyard::serve::watch::{Listening, Upstreams, bind, listen};
use toolyard::wire::{Answering, FunctionNames, WireFormat};

use super::http::Message;
use super::started::post;

const CLIENTS: usize = 4;

fn count() -> usize {
    let said = std::env::var("TOOLYARD_WATCH_STREAMS").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// The stream with this number: some bytes are other ones, left out, doubled or put elsewhere, or its end is missing.
fn stream(number: usize) -> Vec<u8> {
    let format = WireFormat::ALL[number % 6];
    let call =
        |id: &str| ToolCall { id: id.into(), tool: "t".into(), arguments: json!({"a": "\u{e9}"}) };
    let calls = if number.is_multiple_of(2) { vec![call("c1"), call("c2")] } else { Vec::new() };
    let reply = Reply { calls, finish: Finish::Stop, ..Reply::of_text("Some text, \u{1F31E}.") };
    let answering = Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 1 };
    let form = format.codec().streamed;
    let mut bytes = format.write_answer(&reply, &answering, form).into_bytes();
    let chance = Chance::new(number as u64);
    for round in 0..chance.bits() % 6 {
        let chance = chance.with(&[round as u8]);
        let (at, other) =
            (chance.bits() as usize % bytes.len().max(1), chance.with(b"o").bits() as usize);
        let to = (at + other % 40).min(bytes.len());
        match chance.with(b"kind").bits() % 6 {
            0 => bytes[at] = other as u8,
            1 => drop(bytes.drain(at..to)),
            2 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes.truncate(to),
            4 => bytes.insert(at, b"\n\r\0{}[\"\\"[other % 8]),
            _ => bytes.rotate_left(at),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// An endpoint that answers with the stream that a request names, in pieces.
fn endpoint() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || serve(client.unwrap()));
        }
    });
    address
}

fn serve(mut client: TcpStream) {
    client.set_nodelay(true).unwrap();
    let mut kept = Vec::new();
    while let Ok(Some(request)) = Message::read(&mut client, &mut kept) {
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        // The address of Gemini's requests has the model.
        let of_path = || request.path().split(['/', ':']).nth(3);
        let number = body["model"].as_str().or_else(of_path).unwrap();
        let number: usize = number.parse().unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut all = head.as_bytes().to_vec();
        for piece in stream(number).chunks(1 + number % 300) {
            all.extend(format!("{:x}\r\n", piece.len()).bytes().chain(piece.iter().copied()));
            all.extend(b"\r\n");
        }
        all.extend(b"0\r\n\r\n");
        let half = all.len() / 2;
        if client.write_all(&all[..half]).is_err() || client.write_all(&all[half..]).is_err() {
            return;
        }
    }
}

/// Lets a request through, and holds of its answer what its number says.
async fn attend(arrival: Arrival) -> bool {
    let Arrival { asked, body, way, .. } = arrival;
    let number: usize = asked.model.parse().unwrap();
    let relay = Relay::new(Arc::new(ModelSpec::new("m", "an endpoint")), body, way);
    relay.hold([Holds::Calls, Holds::End, Holds::All][number / 6 % 3]);
    let said = relay.ask(&asked.request, &mut |_| {}).await.map(Arc::new);
    relay.end(&said, Release::AsCame);
    said.is_ok()
}

#[test]
fn damaged_streams_pass_as_they_came_and_each_has_an_end() {
    let (news, mut arrivals) = unbounded_channel();
    let endpoint = endpoint();
    let upstreams = Upstreams {
        openai: format!("http://{endpoint}/v1"),
        anthropic: format!("http://{endpoint}"),
        gemini: format!("http://{endpoint}"),
        ollama: format!("http://{endpoint}"),
        ..Upstreams::default()
    };
    let socket = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listen(Listening {
        socket,
        token: None,
        upstreams,
        intercepting: None,
        has_record: false,
        login: None,
        news,
    })
    .unwrap();
    let address = listener.address();
    let session = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let mut attended = tokio::task::JoinSet::new();
            let (mut arrived, mut whole) = (0usize, 0usize);
            while let Some(news) = arrivals.recv().await {
                if let ListenerNews::Arrived(arrival) = news {
                    arrived += 1;
                    attended.spawn_local(attend(*arrival));
                }
                while let Some(ended) = attended.try_join_next() {
                    whole += usize::from(ended.unwrap());
                }
            }
            while let Some(ended) = attended.join_next().await {
                whole += usize::from(ended.unwrap());
            }
            (arrived, whole)
        })
    });
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = TcpStream::connect(address).unwrap();
                client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                client.set_nodelay(true).unwrap();
                let mut kept = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count() {
                        return;
                    }
                    let (path, body) = request(number);
                    client.write_all(&post(&path, "", &body)).unwrap();
                    let answer = Message::read(&mut client, &mut kept);
                    let answer = answer.unwrap_or_else(|why| panic!("stream {number}: {why}"));
                    let answer = answer.unwrap_or_else(|| panic!("stream {number} has no end"));
                    if answer.body != stream(number) {
                        wrong.lock().unwrap().push(number);
                    }
                }
            });
        }
    });
    drop(listener);
    let (arrived, whole) = session.join().unwrap();
    println!("{arrived} streams, {whole} of them understood");
    assert_eq!((arrived, wrong.into_inner().unwrap()), (count(), Vec::new()));
    assert!(whole > count() / 10 && whole < count() * 9 / 10, "{whole} of {arrived}");
}

fn request(number: usize) -> (String, String) {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let model = number.to_string();
    let (path, body) = match WireFormat::ALL[number % 6] {
        // A client that asks for the usage gets its chunk.
        WireFormat::Chat => ("/v1/chat/completions", json!({"model": model, "stream": true, "messages": messages, "stream_options": {"include_usage": true}}).to_string()),
        WireFormat::Responses => ("/v1/responses", json!({"model": model, "stream": true, "input": "Hi"}).to_string()),
        WireFormat::Gemini => {
            let path = format!("/v1beta/models/{number}:streamGenerateContent?alt=sse");
            return (path, json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}).to_string());
        }
        WireFormat::Ollama => ("/api/chat", json!({"model": model, "messages": messages}).to_string()),
        WireFormat::Generate => ("/api/generate", json!({"model": model, "prompt": "Hi"}).to_string()),
        WireFormat::Messages => ("/v1/messages", json!({"model": model, "stream": true, "max_tokens": 9, "messages": messages}).to_string()),
    };
    (path.to_owned(), body)
}
