//! A wire tap before a client: it records what the client sends and gets, byte for byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::http::Message;

/// A request and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    pub request: Message,
    pub answer: Message,
}

/// Exchanges in the order of their ends.
pub type Record = Arc<Mutex<Vec<Exchange>>>;

/// The last chunk of a body.
const LAST: &[u8] = b"0\r\n\r\n";

/// Listens, connects each client with the target, and records what passes.
pub fn tap(target: SocketAddr) -> (SocketAddr, Record) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, record) = (listener.local_addr().unwrap(), Record::default());
    let kept = Arc::clone(&record);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, record) = (client.unwrap(), Arc::clone(&kept));
            // A client that finds nobody there sees its connection end.
            if let Ok(server) = TcpStream::connect(target) {
                thread::spawn(move || follow(client, server, record));
            }
        }
    });
    (address, record)
}

fn follow(mut client: TcpStream, mut server: TcpStream, record: Record) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let (up, mut from, mut to) =
        (Arc::clone(&sent), client.try_clone().unwrap(), server.try_clone().unwrap());
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    thread::spawn(move || {
        pass(&mut from, &mut to, |bytes| up.lock().unwrap().extend_from_slice(bytes));
    });
    let mut got = Vec::new();
    let note = |got: &mut Vec<u8>| {
        while let Some((answer, length)) = Message::take(got) {
            got.drain(..length);
            let mut sent = sent.lock().unwrap();
            let (request, length) = Message::take(&sent).expect("an answer has a request");
            sent.drain(..length);
            record.lock().unwrap().push(Exchange { request, answer });
        }
    };
    pass(&mut server, &mut client, |bytes| {
        got.extend_from_slice(bytes);
        note(&mut got);
    });
    if !got.is_empty() {
        // Some clients leave after the last event, before the end of the body.
        got.extend_from_slice(LAST);
        note(&mut got);
    }
}

/// Passes bytes on until one end closes.
fn pass(from: &mut TcpStream, to: &mut TcpStream, mut seen: impl FnMut(&[u8])) {
    let mut chunk = [0; 65536];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        // What the other end gets is recorded before.
        seen(&chunk[..read]);
        if to.write_all(&chunk[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
