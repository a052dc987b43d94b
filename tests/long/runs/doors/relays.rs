//! Lines and messages through both relays of `toolyard mcp`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::bodies::{Framed, Sent, broken, framed};
use super::lines::{FLUSH, FLUSHED, GOT, SAID, command, of_client, of_server};
use super::proxy::{Client, endpoint};
use super::raw::Raw;
use super::{Figures, LIMIT, LINES, shown};
use crate::mutations::Numbers;
use crate::program::Home;
use crate::runs::cases;

/// Messages after which the server's mark is awaited.
const GROUP: usize = 20;

/// Lines, and how often each came.
type Count = BTreeMap<Vec<u8>, isize>;

/// How often each line came more often here than there.
fn difference(here: &[u8], there: &[u8]) -> Count {
    let mut count = Count::new();
    for (text, by) in [(here, 1), (there, -1)] {
        for line in text.split(|byte| *byte == b'\n') {
            *count.entry(line.to_vec()).or_default() += by;
        }
    }
    count.retain(|_, times| *times != 0);
    count
}

/// The errors that the relay has written in a line; none: it is no answer of a relay.
fn errors(line: &[u8]) -> usize {
    let read: Value = serde_json::from_slice(line).unwrap_or_default();
    let is_error = |it: &Value| {
        let code = it["error"]["code"].as_i64();
        code.is_some_and(|code| [-32000, -32600, -32602, -32603].contains(&code))
    };
    match &read {
        Value::Array(all) if all.iter().all(is_error) => all.len(),
        one => usize::from(is_error(one)),
    }
}

/// A relay over stdio, whose output is read all the time.
struct Relay {
    child: Child,
    lines: Receiver<Vec<u8>>,
    got: Vec<u8>,
}

impl Relay {
    fn start(home: &Home) -> Self {
        let words = ["mcp", "--name", "own", "--journal", "j.jsonl", "--"].map(str::to_owned);
        let words = [&words[..], &command(&home.path(""))].concat();
        let mut command = home.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (give, lines) = channel();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut line = Vec::new();
            while out.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if give.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, got: Vec::new() }
    }

    fn say(&mut self, text: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(text).unwrap();
    }

    /// Reads until this line, or the end.
    fn read_until(&mut self, last: Option<&str>) -> Result<(), String> {
        let begun = Instant::now();
        while let Some(left) = LIMIT.checked_sub(begun.elapsed()) {
            let Ok(line) = self.lines.recv_timeout(left) else { break };
            self.got.extend_from_slice(&line);
            if last.is_some_and(|last| line == last.as_bytes()) {
                return Ok(());
            }
        }
        let is_over = last.is_none() && begun.elapsed() < LIMIT;
        if is_over {
            Ok(())
        } else {
            Err(format!(
                "it hangs; last {}",
                shown(&self.got[self.got.len().saturating_sub(500)..])
            ))
        }
    }
}

/// Mutated lines over stdio.
pub fn over_stdio() -> Figures {
    let home = Home::new();
    let (mut relay, mut numbers, count) = (Relay::start(&home), Numbers(0), cases(LINES));
    let mut figures = Figures { what: "lines of MCP, stdio", count, ..Figures::default() };
    let mut sent = Vec::new();
    for number in 0..count {
        let mut line = [&of_client(&mut numbers, number)[..], b"\n"].concat();
        let is_last = number % GROUP == GROUP - 1 || number + 1 == count;
        if is_last {
            line.extend_from_slice(FLUSH.as_bytes());
        }
        relay.say(&line);
        sent.extend_from_slice(&line);
        if is_last && let Err(why) = relay.read_until(Some(FLUSHED)) {
            figures.wrong.push(format!("line {number}: {why}"));
            break;
        }
    }
    figures.took(relay.child.id());
    drop(relay.child.stdin.take());
    figures.wrong.extend(relay.read_until(None).err());
    let mut told = String::new();
    relay.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    let code = relay.child.wait().unwrap().code();
    if code != Some(0) || told.contains("panicked") {
        figures.wrong.push(format!("it ends with {code:?}: {told}"));
    }
    let read = |name: &str| std::fs::read(home.path(name)).unwrap();
    let (mut refused, mut wrong) = (0, Vec::new());
    // The harness of the server begins with a line of its own.
    for (line, times) in difference(&relay.got, &read(SAID)) {
        match (errors(&line), times) {
            (1.., 1..) => refused += usize::try_from(times).unwrap(),
            _ if line.starts_with(b"running ") || line.is_empty() => {}
            _ => wrong.push(format!("{times} more at the client: {}", shown(&line))),
        }
    }
    let mut missing = 0;
    for (line, times) in difference(&sent, &read(GOT)) {
        match times {
            1.. => missing += usize::try_from(times).unwrap(),
            _ if line.windows(12).any(|it| it == b"s/cancelled\"") || line.is_empty() => {}
            _ => wrong.push(format!("the server got {} more: {}", -times, shown(&line))),
        }
    }
    if missing > refused {
        wrong.push(format!("{missing} lines did not arrive, and {refused} errors say so"));
    }
    figures.wrong.extend(wrong);
    (figures.refused, figures.unread) =
        (missing, (count - missing.min(count)).saturating_sub(calls(&home)));
    figures
}

/// The calls that the session has seen.
fn calls(home: &Home) -> usize {
    let journal = home.read("j.jsonl");
    home.succeed(&["replay", "j.jsonl", "--json"]);
    journal.matches("\"kind\":\"ToolCallStarted\"").count()
}

/// Mutated messages over HTTP, whose answers are mutated, too.
pub fn over_http() -> Figures {
    let (home, record) = (Home::new(), Arc::<Mutex<Vec<(Raw, Sent)>>>::default());
    let (kept, numbers) = (Arc::clone(&record), Mutex::new(Numbers(3)));
    let at = endpoint(Arc::new(move |request| {
        let numbers = &mut *numbers.lock().unwrap();
        let said = of_server(numbers, &request.body);
        let Sent { bytes, closes } = answer(numbers, &said);
        kept.lock().unwrap().push((request, Sent { bytes: bytes.clone(), closes }));
        Sent { bytes, closes }
    }));
    let target = format!("http://{at}/mcp");
    let words = ["mcp", "--name", "own", "--journal", "j.jsonl", "--target", &target];
    let mut child = home.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors_of = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("relays http://") {
        line.clear();
        assert!(errors_of.read_line(&mut line).unwrap() > 0, "it has ended");
    }
    let told = thread::spawn(move || {
        let mut told = String::new();
        let _ = errors_of.read_to_string(&mut told);
        told
    });
    let address = line.trim().rsplit_once("http://").unwrap().1.split('/').next().unwrap();
    let mut client = Client::new(address.parse().unwrap());
    let count = cases(LINES);
    let mut figures = Figures { what: "messages of MCP, HTTP", count, ..Figures::default() };
    let mut numbers = Numbers(9);
    for number in 0..count {
        let body = of_client(&mut numbers, number);
        let head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        let answer = client.ask(&framed(head, &body, Framed::Length), false);
        let came = std::mem::take(&mut *record.lock().unwrap());
        match compare(&body, &came, answer) {
            Ok(is_passed) => figures.refused += usize::from(!is_passed),
            Err(why) => figures.wrong.push(format!("message {number}: {why}")),
        }
    }
    figures.took(child.id());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    let told = told.join().unwrap();
    if told.contains("panicked") {
        figures.wrong.push(told);
    }
    figures.unread = (count - figures.refused).saturating_sub(calls(&home));
    figures
}

/// A whole answer or a stream of events with this message.
fn answer(numbers: &mut Numbers, said: &[u8]) -> Sent {
    let (kind, body) = match numbers.below(3) {
        0 => ("text/event-stream", [b"id: 4\ndata: ", said, b"\n\n"].concat()),
        1 => ("text/event-stream", [b": hi\n\nevent: message\ndata:", said, b"\r\n\r\n"].concat()),
        _ => ("application/json", said.to_vec()),
    };
    let status = ["200 OK", "200 OK", "202 Accepted", "404 Not Found"][numbers.below(4)];
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: s1\r\n");
    let how =
        if numbers.below(2) == 0 { Framed::Length } else { Framed::Chunks(1 + body.len() / 7) };
    broken(numbers, framed(&head, &body, how))
}

/// Whether a message and its answer passed as they were; false: it was answered with an error.
///
/// # Errors
/// Something else came.
fn compare(
    body: &[u8],
    came: &[(Raw, Sent)],
    answer: Result<Option<Raw>, String>,
) -> Result<bool, String> {
    let answer = answer?;
    let wrong = |why: &str| {
        let got: Vec<String> = came
            .iter()
            .map(|(it, sent)| format!("{} answered {}", shown(&it.body), shown(&sent.bytes)))
            .collect();
        let answer = answer
            .as_ref()
            .map(|it| format!("{} {} whole {}", shown(&it.first), shown(&it.body), it.is_whole));
        Err(format!("{why}\nsent {}\nserver {got:?}\ngot {answer:?}", shown(body)))
    };
    if came.len() > 1 {
        return wrong("the server is asked more than once");
    }
    if came.iter().any(|(request, _)| request.body != body) {
        return wrong("the server gets another body");
    }
    let expected = came.first().and_then(|(_, sent)| Raw::read(&sent.bytes, true, sent.closes));
    let Some(got) = &answer else {
        let is_damaged = came.first().is_some_and(|(_, sent)| sent.closes);
        return if is_damaged { Ok(false) } else { wrong("no answer") };
    };
    let is_error =
        errors(got.body.trim_ascii_end()) > 0 || [&b"502"[..], b"400"].contains(&got.status());
    match expected {
        Some(expected) if got.body == expected.body && got.status() == expected.status() => {
            let is_cut = got.is_whole && !expected.is_whole;
            if is_cut { wrong("a cut answer ends as if it were whole") } else { Ok(true) }
        }
        Some(expected)
            if !expected.is_whole && !got.is_whole && expected.body.starts_with(&got.body) =>
        {
            Ok(true)
        }
        _ if is_error => Ok(false),
        None if came.is_empty() && got.status() == b"202" => Ok(true),
        _ => wrong("another answer"),
    }
}
