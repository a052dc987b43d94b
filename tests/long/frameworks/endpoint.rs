//! The endpoint that agents ask: `tests/sdks/endpoint.py`, and what it has written down.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::program::Home;

/// A running endpoint. It ends with its owner.
pub struct Endpoint {
    program: Child,
    pub address: SocketAddr,
    log: PathBuf,
}

/// A request that came, and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub path: String,
    pub headers: Value,
    pub request: String,
    pub answer: String,
    /// How many calls the answer has.
    pub calls: u64,
    /// What the model read of the results of its calls.
    pub read: Vec<String>,
}

impl Endpoint {
    /// Starts one that writes to this file of a home.
    pub fn start(home: &Home, log: &str, is_silent: bool) -> Self {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdks/endpoint.py");
        let log = home.path(log);
        let mut command = Command::new("python3");
        command.arg(file).arg(&log).args(is_silent.then_some("silent"));
        let mut program =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 runs");
        let mut line = String::new();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = format!("127.0.0.1:{}", line.trim()).parse().unwrap();
        Self { program, address, log }
    }

    /// What it has answered so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let exchange = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            let (headers, calls) = (line["headers"].clone(), line["calls"].as_u64().unwrap_or(0));
            let read = serde_json::from_value(line["read"].clone()).unwrap_or_default();
            let [path, request, answer] = ["path", "request", "answer"].map(text);
            Exchange { path, headers, request, answer, calls, read }
        };
        text.lines().map(exchange).collect()
    }
}

impl Exchange {
    /// Whether a model is asked, in a wire that toolyard reads or not.
    pub fn is_model_call(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        ["/chat/completions", "/responses", "/messages", "/api/chat", "enerateContent"]
            .iter()
            .any(|end| path.ends_with(end))
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
