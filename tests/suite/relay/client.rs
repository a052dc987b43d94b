//! A client that notes every line that it gets.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::server;
use crate::program::{Home, unpacked};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    errors: JoinHandle<String>,
    next: u64,
}

impl Client {
    /// A client of the server itself, or of a relay with these arguments before it.
    pub fn start(home: &Home, relay: Option<&[&str]>, notes: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        if let Some(arguments) = relay {
            words.extend(["mcp"].iter().chain(arguments).map(|word| (*word).to_owned()));
            words.push("--".to_owned());
        }
        words.extend(server::command(&home.path(notes)));
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        Self::of(match relay {
            Some(_) => home.command(&words),
            None => home.command_of("env".as_ref(), &words[1..]),
        })
    }

    pub fn of(mut command: Command) -> Self {
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
        let mut errors = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        Self { input: child.stdin.take(), child, lines, errors, next: 0 }
    }

    pub fn say(&mut self, line: &[u8]) {
        self.input.as_mut().unwrap().write_all(line).unwrap();
    }

    /// Calls a tool, and returns the id of the request.
    pub fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.say(format!("{request}\n").as_bytes());
        self.next
    }

    /// The next line; `None`: the output has ended.
    pub fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(error) => panic!("no line: {error}"),
        }
    }

    /// The lines that come within this time.
    pub fn lines_within(&self, time: Duration) -> Vec<Vec<u8>> {
        thread::sleep(time);
        self.lines.try_iter().collect()
    }

    /// The answer to this request. Other lines before it are dropped.
    pub fn answer(&self, id: u64) -> Value {
        loop {
            let line = self.line().expect("the output has ended");
            let read: Value = serde_json::from_slice(&line).unwrap_or_default();
            if read["id"] == id {
                return read;
            }
        }
    }

    /// Ends the input, and returns the exit code, all further lines, and what was written to standard error.
    pub fn end(mut self) -> (Option<i32>, Vec<Vec<u8>>, String) {
        drop(self.input.take());
        let lines = std::iter::from_fn(|| self.line()).collect();
        let code = self.child.wait().unwrap().code();
        (code, lines, self.errors.join().unwrap())
    }
}

/// The text of an answer, and whether it says that the tool failed.
pub fn text(answer: &Value) -> (&str, bool) {
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap_or_default(), result["isError"] == true)
}

/// The kinds of events in a journal.
pub fn kinds(journal: &Path) -> Vec<String> {
    let text = String::from_utf8(unpacked(journal).unwrap()).unwrap();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter_map(|record| Some(record["kind"].as_str()?.to_owned())).collect()
}
