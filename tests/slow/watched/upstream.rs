//! An endpoint of every format, which answers by a rule and records what it gets and sends.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use toolyard::domain::Reply;
use toolyard::wire::{AnswerForm, Answering, FunctionNames, IncomingRequest, WireFormat, chat};

use super::http::Message;
use super::tap::{Exchange, Record};

/// What it says to a request. The number tells requests apart.
pub type Rule = Arc<dyn Fn(WireFormat, &IncomingRequest, usize) -> Reply + Send + Sync>;

/// A running endpoint.
pub struct Upstream {
    pub address: SocketAddr,
    pub record: Record,
}

/// Begins to answer by a rule.
pub fn upstream(rule: Rule) -> Upstream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, record) = (listener.local_addr().unwrap(), Record::default());
    let (kept, count) = (Arc::clone(&record), Arc::new(AtomicUsize::new(0)));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (rule, record, count) = (Arc::clone(&rule), Arc::clone(&kept), Arc::clone(&count));
            thread::spawn(move || serve(client.unwrap(), &rule, &record, &count));
        }
    });
    Upstream { address, record }
}

fn serve(mut client: TcpStream, rule: &Rule, record: &Record, count: &AtomicUsize) {
    client.set_nodelay(true).unwrap();
    let mut kept = Vec::new();
    while let Ok(Some(request)) = Message::read(&mut client, &mut kept) {
        let answer = answer(rule, &request, count.fetch_add(1, Ordering::Relaxed));
        let pieces = pieces(&answer);
        // It is recorded before the client can have it.
        let (answer, _) = Message::take(&pieces.concat()).unwrap();
        record.lock().unwrap().push(Exchange { request, answer });
        for piece in pieces {
            if client.write_all(&piece).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

struct Answer {
    streams: bool,
    number: usize,
    body: String,
}

fn answer(rule: &Rule, request: &Message, number: usize) -> Answer {
    let format = match request.path() {
        "/v1/chat/completions" => WireFormat::Chat,
        "/v1/responses" => WireFormat::Responses,
        "/v1/messages" => WireFormat::Messages,
        other => panic!("nobody asks for {other}"),
    };
    let asked = format.read_request(&request.body).unwrap();
    let reply = rule(format, &asked, number);
    let (id, names) = (format!("answer_{number}"), FunctionNames::default());
    let answering = Answering { id: &id, model: &asked.model, names: &names, created: 1 };
    let mut body = format.write_answer(&reply, &answering, AnswerForm::of_stream(asked.streams));
    let wants_usage = chat::asking_for_usage(&request.body).is_none();
    if format == WireFormat::Chat && asked.streams && !wants_usage {
        body = without_usage(&body);
    }
    Answer { streams: asked.streams, number, body }
}

/// A stream without the chunk that has the usage alone.
pub fn without_usage(stream: &str) -> String {
    let events = stream.split_inclusive("\n\n");
    let is_other = |event: &&str| {
        let data = event.strip_prefix("data: ").unwrap_or_default();
        !chat::is_usage_alone(data.trim_end())
    };
    events.filter(is_other).collect()
}

/// The bytes of an answer, cut where no event ends.
fn pieces(answer: &Answer) -> Vec<Vec<u8>> {
    let Answer { streams, number, body } = answer;
    let own = format!(
        "date: Thu, 01 Jan 1970 00:00:00 GMT\r\nx-request-id: req_{number}\r\n\
         Set-Cookie: visit=v{number}; Path=/\r\nset-cookie: other=o\r\nX-Ratelimit-Remaining: {number}\r\n"
    );
    if !streams {
        let kind = "content-type: application/json\r\n";
        let head = format!("HTTP/1.1 200 OK\r\n{own}{kind}content-length: {}\r\n\r\n", body.len());
        return vec![head.into_bytes(), body.clone().into_bytes()];
    }
    let kind = "content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n";
    let head = format!("HTTP/1.1 200 OK\r\n{own}{kind}transfer-encoding: chunked\r\n\r\n");
    let chunk =
        |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    let chunks = body.as_bytes().chunks(97 + number).map(chunk);
    [head.into_bytes()].into_iter().chain(chunks).chain([b"0\r\n\r\n".to_vec()]).collect()
}
