//! An agent that runs: alone, behind toolyard, and behind it with faults, holds, edits and a record.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::endpoint::{Endpoint, Exchange};
use super::rows::{Kind, Path1};
use super::tap::{Exchange as Tapped, tap};
use crate::program::{Home, text};

/// No agent here takes so long, on a busy machine either.
const PATIENCE: Duration = Duration::from_secs(900);

/// What a run left.
pub struct Left {
    pub code: i32,
    /// The answer that the agent printed last.
    pub answer: String,
    pub err: String,
    /// The cities that its tool got.
    pub got: Vec<String>,
    pub exchanges: Vec<Exchange>,
    pub time: Duration,
}

impl Left {
    /// The end of what it wrote to standard error, on one line.
    pub fn trouble(&self) -> String {
        let lines: Vec<&str> = self.err.lines().rev().filter(|it| !it.is_empty()).take(3).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        let text: String = lines.join(" / ").chars().take(300).collect();
        format!("exit {}: {text}", self.code)
    }

    pub fn model_calls(&self) -> Vec<&Exchange> {
        self.exchanges.iter().filter(|it| it.is_model_call()).collect()
    }
}

/// A path in a home of its own.
pub struct Trial<'p> {
    pub path: &'p Path1,
    pub home: Home,
}

impl<'p> Trial<'p> {
    pub fn new(path: &'p Path1) -> Self {
        let home = Home::new();
        // Coding agents look at the folder in which they are.
        home.write("project/main.py", "print('hello')\n");
        let git = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        for words in
            [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "Begin"]]
        {
            let mut command = home.command_of("git".as_ref(), &[&git, words].concat());
            let done = command.current_dir(home.path("project")).status().expect("git runs");
            assert!(done.success());
        }
        Self { path, home }
    }

    fn endpoint(&self, name: &str) -> Endpoint {
        let is_silent = self.path.framework.kind == Kind::Silent;
        Endpoint::start(&self.home, &format!("{name}.log"), is_silent)
    }

    /// The variables with which a person leads the agent to this endpoint.
    fn lead(&self, command: &mut Command, of: SocketAddr, version: &str) {
        command.env("OPENAI_BASE_URL", format!("http://{of}/v1"));
        command.env("OPENAI_API_BASE", format!("http://{of}/v1"));
        for name in ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"] {
            command.env(name, format!("http://{of}{version}"));
        }
        command.env("GOOGLE_GEMINI_BASE_URL", format!("http://{of}"));
        // LiteLLM reads addresses of its own, and expects the version in that of Gemini.
        command.env("GEMINI_API_BASE", format!("http://{of}/v1beta"));
        for name in ["OLLAMA_HOST", "OLLAMA_API_BASE"] {
            command.env(name, format!("http://{of}"));
        }
    }

    /// The agent alone.
    pub fn direct(&self) -> Left {
        let endpoint = self.endpoint("direct");
        let mut command = self.home.command_of("env".as_ref(), &[]);
        command.arg(&self.path.command[0]).args(self.path.led(endpoint.address));
        command.args(&self.path.command[1..]);
        let version = if self.path.wants_version() { "/v1" } else { "" };
        self.lead(&mut command, endpoint.address, version);
        self.end(self.start(command, "direct"), "direct", &endpoint)
    }

    fn start(&self, mut command: Command, name: &str) -> (Child, Instant) {
        command.current_dir(self.home.path("project"));
        command.env("GOT", self.home.path(&format!("{name}.got")));
        command.env("OPENAI_API_KEY", "test-key-of-openai");
        command.env("ANTHROPIC_API_KEY", "test-key-of-anthropic");
        command.env("GEMINI_API_KEY", "test-key-of-gemini");
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        let file = |end: &str| fs::File::create(self.home.path(&format!("{name}.{end}"))).unwrap();
        (command.stdout(file("out")).stderr(file("err")).spawn().unwrap(), Instant::now())
    }

    fn end(&self, (mut child, begun): (Child, Instant), name: &str, endpoint: &Endpoint) -> Left {
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                break child.wait().unwrap().code();
            }
            thread::sleep(Duration::from_millis(10));
        };
        let time = begun.elapsed();
        let read = |end: &str| {
            let bytes = fs::read(self.home.path(&format!("{name}.{end}"))).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let out = read("out");
        // Some frameworks draw boxes after it.
        let mut lines = out.lines().rev().filter(|line| !line.trim().is_empty());
        let answer = lines.clone().find(|line| line.contains("I read:"));
        let answer = answer.or_else(|| lines.next()).unwrap_or_default();
        Left {
            code: status.unwrap_or(-1),
            answer: answer.trim_matches(['│', ' ']).to_owned(),
            err: read("err"),
            got: read("got").lines().map(ToOwned::to_owned).collect(),
            exchanges: endpoint.exchanges(),
            time,
        }
    }

    /// The command of toolyard before the agent's.
    fn watch(&self, name: &str, more: &[&str]) -> Command {
        let [state, journal] =
            ["json", "jsonl"].map(|end| self.home.path(&format!("{name}.{end}")));
        let mut words = vec!["watch", "--headless", "--state", text(&state)];
        words.extend(["--journal", text(&journal)]);
        words.extend(more);
        self.home.command(&words)
    }

    /// The agent behind toolyard, with these options; in a hurry it does not wait long.
    pub fn watched(&self, name: &str, more: &[&str], hurry: Option<&str>) -> Left {
        let endpoint = self.endpoint(name);
        let mut command = self.watch(name, more);
        command.arg("--");
        match hurry {
            None => command.args(&self.path.command),
            Some(seconds) => {
                command.env("AGENT_PATIENCE", seconds).env("AGENT_RETRIES", "0");
                command.env("API_TIMEOUT_MS", format!("{seconds}000"));
                command.env("CLAUDE_CODE_MAX_RETRIES", "0").args(self.path.hurried())
            }
        };
        self.lead(&mut command, endpoint.address, "");
        self.end(self.start(command, name), name, &endpoint)
    }

    /// The same with a tap between the agent and toolyard. `first.jsonl` is its record.
    pub fn tapped(&self) -> (Left, Vec<Tapped>) {
        let endpoint = self.endpoint("first");
        // Whoever takes the port meanwhile makes toolyard refuse to start.
        let free = free();
        let (tapped, record) = tap(free);
        let [from, to] = [free, tapped].map(|it| it.to_string());
        let mut command = self.watch("first", &["--listen", &from]);
        let through = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdks/through.py");
        // Recipes know programs by their names.
        let program = Path::new(&self.path.command[0]).file_name().unwrap().to_str().unwrap();
        let name = format!("bin/{program}");
        let [python, real] = ["python3", &self.path.command[0]];
        let line = format!("#!/bin/sh\nexec {python} {through} {from} {to} {real} \"$@\"\n");
        self.home.write(&name, line);
        fs::set_permissions(self.home.path(&name), Permissions::from_mode(0o755)).unwrap();
        command.arg("--").arg(self.home.path(&name)).args(&self.path.command[1..]);
        self.lead(&mut command, endpoint.address, "");
        let left = self.end(self.start(command, "first"), "first", &endpoint);
        let record = std::mem::take(&mut *record.lock().unwrap());
        (left, record)
    }

    /// The agent over its record, with nobody at the endpoint's address, and with one file more in its folder.
    pub fn again(&self) -> Left {
        self.home.write("project/new.py", "print('new')\n");
        let endpoint = self.endpoint("again");
        let record = self.home.path("first.jsonl");
        let mut command = self.watch("again", &["--recorded", text(&record), "--strict"]);
        command.arg("--").args(&self.path.command);
        self.lead(&mut command, free(), "");
        self.end(self.start(command, "again"), "again", &endpoint)
    }

    /// The agent with a person at the socket, who gives every call another city, and every result another text.
    pub fn edited(&self, arguments: Value, result: &str) -> Left {
        let endpoint = self.endpoint("edited");
        let [before, after] = ["before", "after"].map(|at| format!("{}:{at}", self.path.tool()));
        let options = ["--break", &before, "--break", &after, "--hold", "60"];
        let mut command = self.watch("edited", &options);
        command.arg("--").args(&self.path.command);
        self.lead(&mut command, endpoint.address, "");
        let child = self.start(command, "edited");
        let folder = self.home.path("run/toolyard");
        let result = result.to_owned();
        let begun = Instant::now();
        let person = thread::spawn(move || {
            let socket = loop {
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                let mut sockets = entries.map(|entry| entry.path());
                match sockets.find_map(|socket| UnixStream::connect(socket).ok()) {
                    Some(socket) => break socket,
                    None if begun.elapsed() > PATIENCE => return,
                    None => thread::sleep(Duration::from_millis(10)),
                }
            };
            edit(socket, &arguments, &result);
        });
        let left = self.end(child, "edited", &endpoint);
        person.join().unwrap();
        left
    }
}

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Edits every call that is held, and lets all go when no more comes, until the session ends.
fn edit(mut socket: UnixStream, arguments: &Value, result: &str) {
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut lines = BufReader::new(socket.try_clone().unwrap());
    let mut say = |line: Value| writeln!(socket, "{line}").is_ok();
    for line in [json!({"toolyard_attach": 1}), json!({"from": 0}), json!({"take": true})] {
        say(line);
    }
    let (mut line, mut is_held) = (String::new(), false);
    loop {
        match lines.read_line(&mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(why) if why.kind() == ErrorKind::WouldBlock => {
                if std::mem::take(&mut is_held) {
                    say(json!({"command": "Run"}));
                }
                continue;
            }
            Err(_) => return,
        }
        let told: Value = serde_json::from_str(&std::mem::take(&mut line)).unwrap();
        let event = &told["record"];
        if event["kind"] != "Held" {
            continue;
        }
        let effect = &event["data"]["lane"]["effect"];
        let edit = match event["data"]["boundary"].as_str() {
            Some("before_tool_call") => json!({"arguments": arguments}),
            Some("after_tool_call") => json!({"result": result}),
            _ => continue,
        };
        say(json!({"command": {"EditCall": {"effect": effect, "edit": edit, "shown": true}}}));
        is_held = true;
    }
}
