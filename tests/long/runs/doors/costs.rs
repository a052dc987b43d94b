//! What hiding keys and reading frames cost.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::bodies::{Framed, Sent, asked, framed};
use super::proxy::{Client, endpoint, watch};
use super::raw::Raw;
use super::{Figures, IS_RELEASE, LIMIT, cpu, kilobytes};
use crate::mutations::Numbers;
use crate::program::Home;
use crate::runs::cases;

/// Requests with a new key each, after some that warm up.
const KEYS: usize = 5000;
const WARM: usize = 200;
/// What each may cost in a release, in seconds of CPU, and by how many kilobytes memory may grow with all.
const MOST_CPU: f64 = 0.002;
const MOST_GROWN: u64 = 20_000;

/// Bytes of one line, in pieces of one kilobyte, and the CPU that it may cost in a release.
const LINE: usize = 64 << 20;
const PIECE: usize = 1000;
const MOST_CPU_OF_LINE: f64 = 2.0;

/// Requests of which each has a key that was never there before.
pub fn changing_keys() -> Figures {
    let home = Home::new();
    let at = endpoint(Arc::new(|_| {
        let body = br#"{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Well."},"finish_reason":"stop"}]}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        Sent { bytes: framed(head, body, Framed::Length), closes: false }
    }));
    let watch = watch(&home, at);
    let (mut client, mut numbers) = (Client::new(watch.address), Numbers(0));
    let mut ask = |number: usize| {
        let key: String = (0..8).map(|_| format!("{:08x}", numbers.below(1 << 31))).collect();
        let request = String::from_utf8(asked(number * 3)).unwrap();
        let with_key = request.replacen("\r\n", &format!("\r\nx-session-token: {key}\r\n"), 1);
        let answer = client.ask(with_key.as_bytes(), false).unwrap().unwrap();
        assert_eq!(answer.status(), b"200");
    };
    (0..WARM).for_each(&mut ask);
    let (kb, seconds) = (kilobytes(watch.id(), "VmRSS"), cpu(watch.id()));
    let count = cases(KEYS);
    (WARM..WARM + count).for_each(&mut ask);
    let mut figures = Figures { what: "requests, a new key each", count, ..Figures::default() };
    figures.took(watch.id());
    let grown = kilobytes(watch.id(), "VmRSS").saturating_sub(kb);
    figures.cpu -= seconds;
    let each = figures.cpu / count as f64;
    figures.more = format!("{:.2} ms a request, {} MB more", each * 1000.0, grown / 1000);
    if grown > MOST_GROWN || IS_RELEASE && each > MOST_CPU {
        figures.wrong.push(figures.more.clone());
    }
    drop(watch);
    figures
}

/// An answer that is one line, in small pieces.
pub fn one_long_line() -> Figures {
    let (home, length) = (Home::new(), cases(LINE));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            say_line(client.unwrap(), length);
        }
    });
    let watch = watch(&home, at);
    let seconds = cpu(watch.id());
    let mut stream = TcpStream::connect(watch.address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let (begun, mut got, mut chunk) = (Instant::now(), Vec::new(), vec![0; 1 << 20]);
    stream.write_all(&asked(0)).unwrap();
    while !got.ends_with(b"0\r\n\r\n") {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0 && begun.elapsed() < 10 * LIMIT, "{} bytes came", got.len());
        got.extend_from_slice(&chunk[..read]);
    }
    let mut figures = Figures { what: "bytes in one line", count: length, ..Figures::default() };
    figures.took(watch.id());
    figures.cpu -= seconds;
    let body = Raw::read(&got, true, true).unwrap().body;
    if body.len() != length || !body.starts_with(b"data: xx") {
        figures.wrong.push(format!("{} bytes came", body.len()));
    }
    if IS_RELEASE && figures.cpu > MOST_CPU_OF_LINE {
        figures.wrong.push(format!("{:.2} s CPU", figures.cpu));
    }
    drop(watch);
    figures
}

fn say_line(mut client: TcpStream, length: usize) {
    client.set_nodelay(true).unwrap();
    let _ = client.read(&mut [0; 65536]);
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let mut left = length;
    while left > 0 {
        let piece = PIECE.min(left);
        let text = if left == length {
            format!("data: {}", "x".repeat(piece - 6))
        } else {
            "x".repeat(piece)
        };
        client.write_all(format!("{piece:x}\r\n{text}\r\n").as_bytes()).unwrap();
        left -= piece;
    }
    client.write_all(b"0\r\n\r\n").unwrap();
}
