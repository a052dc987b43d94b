//! Requests and answers of all wires, and what hostile programs make of them.

use serde_json::{Value, json};
use toolyard::domain::{Finish, Reply, ToolCall};
use toolyard::wire::{AnswerForm, Answering, FunctionNames, WireFormat};

use super::raw::packed;
use crate::mutations::Numbers;

const CODINGS: [&str; 2] = ["gzip", "deflate"];
/// Bytes of an event that is too long to be read, which one answer in so many has.
const HUGE: (usize, usize) = (9 << 20, 2500);

/// Bytes to send, and whether the connection ends behind them.
pub struct Sent {
    pub bytes: Vec<u8>,
    pub closes: bool,
}

/// How the end of a body is told.
#[derive(Clone, Copy, PartialEq)]
pub enum Framed {
    Length,
    Chunks(usize),
}

/// A message of this head and body.
pub fn framed(head: &str, body: &[u8], how: Framed) -> Vec<u8> {
    let mut bytes = head.as_bytes().to_vec();
    let Framed::Chunks(size) = how else {
        bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
        bytes.extend_from_slice(body);
        return bytes;
    };
    bytes.extend(b"transfer-encoding: chunked\r\n\r\n");
    for piece in body.chunks(size) {
        bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
        bytes.extend_from_slice(piece);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

/// The body of an undamaged answer.
fn answer_body(format: WireFormat, calls: bool, form: AnswerForm) -> Vec<u8> {
    let call =
        |id: &str| ToolCall { id: id.into(), tool: "t".into(), arguments: json!({"a": "\u{e9}"}) };
    let calls = if calls { vec![call("c1"), call("c2")] } else { Vec::new() };
    let reply = Reply { calls, finish: Finish::Stop, ..Reply::of_text("Some text, \u{1F31E}.") };
    let answering = Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 1 };
    format.write_answer(&reply, &answering, form).into_bytes()
}

/// The events of a stream, with one of them elsewhere, twice, empty, or a very long one between them.
fn rearranged(numbers: &mut Numbers, body: &[u8], form: AnswerForm) -> Vec<u8> {
    let text = String::from_utf8_lossy(body).into_owned();
    let end = if form == AnswerForm::Events { "\n\n" } else { "\n" };
    let mut events: Vec<String> = text.split_inclusive(end).map(str::to_owned).collect();
    let (at, to) = (numbers.below(events.len()), numbers.below(events.len()));
    match numbers.below(5) {
        0 => events.swap(at, to),
        1 => events.insert(to, events[at].clone()),
        2 => drop(events.remove(at)),
        3 => events.insert(at, ["data: \n\n", "\n\n", "data:\n\n", "event: x\n\n"][to % 4].into()),
        _ => {
            let length = 1 << numbers.below(18);
            let long = ["data: x\n".repeat(length / 8), "x".repeat(length)];
            events.insert(at, format!("data: {}\n\n", long[to % 2]));
        }
    }
    events.concat().into_bytes()
}

/// A body that is a little different: changed anywhere, with ids that repeat, or with events in another order.
fn changed(numbers: &mut Numbers, body: Vec<u8>, others: &[Vec<u8>], form: AnswerForm) -> Vec<u8> {
    match numbers.below(6) {
        0 => String::from_utf8_lossy(&body).replace("c2", "c1").into_bytes(),
        1 | 2 if form.streams() => rearranged(numbers, &body, form),
        // An undamaged one.
        3 => body,
        _ => {
            let inputs: Vec<Vec<u8>> =
                std::iter::once(body).chain(others.iter().cloned()).collect();
            numbers.mutated(&inputs)
        }
    }
}

/// The answer with this number, to a request in this format.
pub fn answer(number: usize) -> Sent {
    let mut numbers = Numbers(number as u64 * 1000);
    let format = format(number);
    // One in eight is not of the kind that was asked for.
    let (form, other) = match is_streaming(number) != (numbers.below(8) == 0) {
        true => (streamed(number), AnswerForm::Whole),
        false => (AnswerForm::Whole, streamed(number)),
    };
    let calls = numbers.below(2) == 0;
    let others = [answer_body(format, !calls, form), answer_body(format, true, other)];
    let whole = answer_body(format, calls, form);
    let mut body = changed(&mut numbers, whole, &others, form);
    if is_huge(number) {
        body = [format!("data: {}\n\n", "x".repeat(HUGE.0)).as_bytes(), &body].concat();
    }
    let status = ["200 OK", "200 OK", "200 OK", "400 Bad Request", "503 Service Unavailable"];
    let status = status[numbers.below(status.len())];
    let kind = form.content_type();
    let mut head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nx-number: {number}\r\nx-b: \u{e9}\r\n"
    );
    if numbers.below(4) == 0 {
        let coding = CODINGS[numbers.below(2)];
        body = packed(coding, &body);
        head += &format!("content-encoding: {coding}\r\n");
        if numbers.below(2) == 0 {
            body = numbers.mutated(&[body]);
        }
    }
    let how = if numbers.below(3) == 0 {
        Framed::Length
    } else {
        Framed::Chunks(1 + numbers.below(300).max(body.len() / 5000))
    };
    broken(&mut numbers, framed(&head, &body, how))
}

/// Most as they are; of the others the frame or the end is damaged, and the connection ends behind them.
pub fn broken(numbers: &mut Numbers, mut bytes: Vec<u8>) -> Sent {
    match numbers.below(8) {
        0 => bytes.truncate(numbers.below(bytes.len())),
        1 => bytes = with_other_length(numbers, &bytes),
        2 => bytes = numbers.mutated(&[bytes]),
        _ => return Sent { bytes, closes: false },
    }
    Sent { bytes, closes: true }
}

/// The same with a length that is too small, too large, doubled or none.
fn with_other_length(numbers: &mut Numbers, bytes: &[u8]) -> Vec<u8> {
    let name = b"content-length: ";
    let Some(at) = bytes.windows(name.len()).position(|it| it == name) else {
        return numbers.mutated(&[bytes.to_vec()]);
    };
    let end = at + bytes[at..].iter().position(|byte| *byte == b'\r').unwrap();
    let length: usize = std::str::from_utf8(&bytes[at + 16..end]).unwrap().parse().unwrap();
    let other = match numbers.below(5) {
        0 => format!("content-length: {}", numbers.below(length)),
        1 => format!("content-length: {}", length + 1 + numbers.below(99)),
        2 => format!("content-length: {length}\r\ncontent-length: {}", length + numbers.below(2)),
        3 => format!("content-length: {length}\r\ntransfer-encoding: chunked"),
        _ => "content-length: -1".to_owned(),
    };
    [&bytes[..at], other.as_bytes(), &bytes[end..]].concat()
}

/// Whether the answer with this number has an event that is too long to be read.
pub fn is_huge(number: usize) -> bool {
    number.is_multiple_of(HUGE.1)
}

/// Whether the request with this number asks for a stream.
pub fn is_streaming(number: usize) -> bool {
    number / WireFormat::ALL.len() % 3 < 2
}

fn format(number: usize) -> WireFormat {
    WireFormat::ALL[number % WireFormat::ALL.len()]
}

/// The form of a stream that answers the request with this number. Gemini's requests name one of two.
fn streamed(number: usize) -> AnswerForm {
    match format(number) {
        WireFormat::Gemini if is_list(number) => AnswerForm::List,
        format => format.codec().streamed,
    }
}

fn is_list(number: usize) -> bool {
    (number / WireFormat::ALL.len()).is_multiple_of(2)
}

/// Path and body of the request with this number. Each is a conversation of its own.
fn request(number: usize) -> (&'static str, Value) {
    let text = format!("Ask {number}.");
    let messages = json!([{"role": "user", "content": text}]);
    let streams = is_streaming(number);
    match format(number) {
        // A client that asks for the usage gets its chunk.
        WireFormat::Chat => (
            "/v1/chat/completions",
            json!({"model": "m", "stream": streams, "stream_options": {"include_usage": true}, "messages": messages}),
        ),
        WireFormat::Responses => {
            ("/v1/responses", json!({"model": "m", "stream": streams, "input": text}))
        }
        WireFormat::Gemini => (
            match (streams, is_list(number)) {
                (true, true) => "/v1beta/models/m:streamGenerateContent",
                (true, false) => "/v1beta/models/m:streamGenerateContent?alt=sse",
                (false, _) => "/v1beta/models/m:generateContent",
            },
            json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        ),
        WireFormat::Ollama => {
            ("/api/chat", json!({"model": "m", "stream": streams, "messages": messages}))
        }
        WireFormat::Generate => {
            ("/api/generate", json!({"model": "m", "stream": streams, "prompt": text}))
        }
        WireFormat::Messages => (
            "/v1/messages",
            json!({"model": "m", "stream": streams, "max_tokens": 9, "messages": messages}),
        ),
    }
}

fn head(number: usize, path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         x-number: {number}\r\nauthorization: Bearer k3y-0f-{}\r\n",
        number % 50
    )
}

/// The undamaged request with this number.
pub fn asked(number: usize) -> Vec<u8> {
    let (path, body) = request(number);
    framed(&head(number, path), body.to_string().as_bytes(), Framed::Length)
}

/// The same, changed: in its body, its coding, its path or a header, its length or its end.
pub fn hostile_request(number: usize) -> Sent {
    let mut numbers = Numbers(number as u64 * 1000 + 500);
    let (path, body) = request(number);
    let others = [1, 2].map(|more| request(number + more).1.to_string().into_bytes());
    let mut body = changed(&mut numbers, body.to_string().into_bytes(), &others, AnswerForm::Whole);
    let mut path = path.to_owned();
    if numbers.below(6) == 0 {
        let more = ["?a=%20b", "/../x", "?api-version=1&b", "//x", "/%2e%2e/y", "/x%2Fy", "/x y"];
        path += more[numbers.below(more.len())];
    }
    let mut head = head(number, &path);
    if numbers.below(4) == 0 {
        let coding = CODINGS[numbers.below(2)];
        body = packed(coding, &body);
        head += &format!("content-encoding: {coding}\r\n");
        if numbers.below(2) == 0 {
            body = numbers.mutated(&[body]);
        }
    }
    let doors = ["origin: http://a.example", "host: a.example", "sec-fetch-site: cross-site"];
    let more = ["x-a: 1\r\nx-a: 2", "connection: x-number", "te: trailers", "expect: nothing"];
    match numbers.below(12) {
        0 => head += &format!("{}\r\n", doors[numbers.below(doors.len())]),
        1 => head += &format!("{}\r\n", more[numbers.below(more.len())]),
        _ => {}
    }
    let how =
        if numbers.below(3) == 0 { Framed::Chunks(1 + numbers.below(200)) } else { Framed::Length };
    broken(&mut numbers, framed(&head, &body, how))
}
