//! An HTTP server that sends scripted bytes at scripted times, so that answers can be cut, split and
//! stalled anywhere. It plays its scripts in order, one for each request.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use miniz_oxide::deflate::compress_to_vec;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server does, step by step, before it closes the connection.
pub enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends nothing more until the client goes.
    Hang,
}

pub type Script = Vec<Step>;

pub struct Seen {
    pub at: Instant,
    /// Request line and headers, in lower case.
    pub head: String,
    pub body: Value,
}

pub struct Fake {
    /// What stands before `/chat/completions`.
    pub url: String,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    /// The client went while the server hung.
    pub left: Arc<Notify>,
}

impl Fake {
    pub async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let left = Arc::new(Notify::new());
        let (log, gone) = (seen.clone(), left.clone());
        tokio::spawn(async move {
            for script in scripts {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read(&mut stream).await;
                log.lock().unwrap().push(request);
                let gone = gone.clone();
                tokio::spawn(async move { play(stream, script, &gone).await });
            }
        });
        Self { url, seen, left }
    }

    pub fn bodies(&self) -> Vec<Value> {
        self.seen.lock().unwrap().iter().map(|seen| seen.body.clone()).collect()
    }
}

/// The next request on a connection.
pub async fn read(stream: &mut TcpStream) -> Seen {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(end) = head {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or_default();
                return Seen { at: Instant::now(), head, body };
            }
        }
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the client closed before its request was whole");
        bytes.extend_from_slice(&chunk[..read]);
    }
}

async fn play(mut stream: TcpStream, script: Script, left: &Notify) {
    stream.set_nodelay(true).unwrap();
    for step in script {
        match step {
            Step::Send(bytes) => {
                // The client may have gone, which is its right.
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Hang => {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                left.notify_one();
            }
        }
    }
}

pub fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// The head of a stream whose end is the end of the connection.
pub fn stream_head() -> Step {
    send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// A stream of these events.
pub fn stream(events: &[&str]) -> Script {
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    vec![stream_head(), send(&events)]
}

/// A response with a body.
pub fn response(status: &str, headers: &str, body: &str) -> Script {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    vec![send(&format!("{head}{headers}\r\n{body}"))]
}

/// A response with a body in gzip.
pub fn gzipped(status: &str, headers: &str, body: &str) -> Script {
    let packed = compress_to_vec(body.as_bytes(), 6);
    let packed = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &packed, &[0; 8]].concat();
    let length = packed.len();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    vec![send(&format!("{head}content-encoding: gzip\r\n{headers}\r\n")), Step::Send(packed)]
}

pub fn json(status: &str, body: &str) -> Script {
    response(status, "content-type: application/json\r\n", body)
}
