//! A running `toolyard watch` for agents that are started elsewhere.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::http::Message;
use crate::program::{Home, text};

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Watch<'h> {
    home: &'h Home,
    program: Child,
    pub address: SocketAddr,
    lines: Arc<Mutex<String>>,
    reader: Option<thread::JoinHandle<()>>,
}

impl<'h> Watch<'h> {
    /// Starts it before these endpoints.
    pub fn start(home: &'h Home, variables: &[(&str, String)]) -> Self {
        Self::with(home, variables, &[])
    }

    /// The same with further arguments. Its journal is `j.jsonl`, unless these say otherwise.
    pub fn with(home: &'h Home, variables: &[(&str, String)], more: &[&str]) -> Self {
        let state = home.path("s.json");
        Self::without_state(home, variables, &[&["--state", text(&state)], more].concat())
    }

    /// The same, but it writes no state at its end, for which it would keep all that happens.
    pub fn without_state(home: &'h Home, variables: &[(&str, String)], more: &[&str]) -> Self {
        let journal = home.path("j.jsonl");
        let mut arguments = vec!["watch", "--headless"];
        if !more.contains(&"--journal") {
            arguments.extend(["--journal", text(&journal)]);
        }
        arguments.extend(more);
        let mut command = home.command(&arguments);
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        let mut program = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(program.stderr.take().unwrap());
        let mut told = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it does not listen: {told}");
            told += &line;
            if let Some((_, rest)) = line.split_once("OPENAI_BASE_URL=http://") {
                break rest.trim_end().trim_end_matches("/v1").parse().unwrap();
            }
        };
        let lines = Arc::new(Mutex::new(told));
        let kept = Arc::clone(&lines);
        let reader = thread::spawn(move || {
            errors
                .lines()
                .map_while(Result::ok)
                .for_each(|line| *kept.lock().unwrap() += &(line + "\n"));
        });
        Self { home, program, address, lines, reader: Some(reader) }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.program)
    }

    pub fn id(&self) -> u32 {
        self.program.id()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends these bytes on a connection of their own, and reads the answer.
    pub fn ask(&self, request: &[u8]) -> Message {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let answer = Message::read(&mut stream, &mut Vec::new());
        let sent = || String::from_utf8_lossy(request);
        answer
            .unwrap_or_else(|why| panic!("{why}: {}", sent()))
            .unwrap_or_else(|| panic!("no answer: {}", sent()))
    }

    /// The number of bytes of the answer to this request.
    pub fn length(&self, request: &[u8]) -> usize {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let (mut kept, mut byte) = (Vec::new(), [0]);
        while Message::take(&kept).is_none() {
            stream.read_exact(&mut byte).unwrap();
            kept.extend_from_slice(&byte);
        }
        kept.len()
    }

    /// The same, and all bytes until the connection ends. The request must ask for that.
    pub fn ask_raw(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut all = Vec::new();
        // An answer that breaks off is what came of it.
        let _ = stream.read_to_end(&mut all);
        all
    }

    /// Kilobytes of a line of its status.
    #[cfg(target_os = "linux")]
    pub fn kilobytes(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.program.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Waits until it says this.
    pub fn wait(&self, what: &str) {
        let begun = Instant::now();
        while !self.lines.lock().unwrap().contains(what) {
            let lines = || self.lines.lock().unwrap().clone();
            assert!(begun.elapsed() < PATIENCE, "waited for {what}: {}", lines());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
    }

    /// Ends it; returns what it has said.
    pub fn quit(&mut self) -> String {
        kill_process(self.pid(), Signal::TERM).unwrap();
        let status = self.program.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        let told = self.lines.lock().unwrap().clone();
        assert_eq!(status.code(), Some(128 + 15), "{told}");
        assert!(!told.contains("panicked"), "{told}");
        told
    }

    /// Ends it; returns what it has said, and the state. A replay of its journal gives the same.
    pub fn end(mut self) -> (String, Value) {
        let told = self.quit();
        let state = self.home.json("s.json");
        let replayed =
            self.home.succeed(&["replay", text(&self.home.path("j.jsonl")), "--json", "--full"]);
        let replayed: Value = serde_json::from_str(&replayed).unwrap();
        assert!(replayed == state, "the replay knows something else");
        (told, state)
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A request with this body.
pub fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n");
    format!("{head}{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}
