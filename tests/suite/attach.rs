//! The socket of a session as another program meets it: who controls, what comes, and what is refused.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolyard::store::journal::folder;

use crate::processes::wait_until;
use crate::program::{Home, Ran};

mod follow;
mod screens;

/// The sockets of the sessions of this home.
pub fn sockets(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.path("run/toolyard")) else { return Vec::new() };
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "sock"));
    found
}

/// A session without a screen that goes on for longer than any test.
fn endless(home: &Home) -> Child {
    started(home.command(&["run", "--knob", "speed=1/4", "--journal", "j.jsonl"]), home)
}

fn started(mut command: Command, home: &Home) -> Child {
    let before = journals(home);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("its socket and its journal are there", || {
        !sockets(home).is_empty() && journals(home) > before
    });
    child
}

/// How many journals there are, here and in the folder of sessions.
fn journals(home: &Home) -> usize {
    let entries = |folder: &str| fs::read_dir(home.path(folder)).into_iter().flatten().flatten();
    let is_journal = |entry: &fs::DirEntry| folder::is_named(&entry.path());
    ["", "toolyard/journals"].into_iter().flat_map(entries).filter(is_journal).count()
}

fn end(child: Child, signal: Signal) -> Ran {
    kill_process(Pid::from_child(&child), signal).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

/// Another program at the door of a session.
struct Side {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    hello: Value,
}

impl Side {
    fn connect(home: &Home) -> Self {
        let stream = UnixStream::connect(&sockets(home)[0]).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        let mut side = Self { stream, lines, hello: Value::Null };
        side.hello = side.read().expect("a hello");
        side
    }

    /// With the first line said.
    fn new(home: &Home) -> Self {
        let mut side = Self::connect(home);
        side.say(json!({"toolyard_attach": 1}));
        side
    }

    fn say(&mut self, line: Value) {
        writeln!(self.stream, "{line}").unwrap();
    }

    /// The next line; `None` at the end.
    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next line that has this.
    fn wait(&mut self, name: &str) -> Value {
        loop {
            let line = self.read().unwrap_or_else(|| panic!("the end, and no {name}"));
            if let Some(found) = line.get(name) {
                return found.clone();
            }
        }
    }

    /// The next records, so many.
    fn records(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.wait("record")).collect()
    }

    /// Everything up to the end.
    fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.read()).collect()
    }
}

#[test]
fn the_socket_is_private_and_goes_with_the_session() {
    let home = Home::new();
    let child = endless(&home);
    let mode = |path: PathBuf| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(home.path("run/toolyard")), 0o700);
    assert_eq!(mode(sockets(&home)[0].clone()), 0o600);
    let hello = Side::connect(&home).hello;
    assert_eq!(hello["toolyard_attach"], 1);
    assert_eq!(hello["journal"], home.path("j.jsonl").to_str().unwrap());
    assert_eq!(hello["controller"], Value::Null);
    assert_eq!(end(child, Signal::TERM).code, 143);
    assert_eq!(sockets(&home), [""; 0].map(PathBuf::from));
}

#[test]
fn what_nobody_would_attach_to_opens_no_socket() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1", "--no-journal"]);
    home.succeed(&["compare", "--strategies", "react", "--tasks-limit", "1", "--out", "kept"]);
    assert!(!home.path("run/toolyard").exists());
}

#[test]
fn every_side_gets_all_records_in_order_whenever_it_comes_and_goes() {
    let home = Home::new();
    let command =
        home.command(&["run", "--knob", "speed=16", "--tasks-limit", "4", "--journal", "j.jsonl"]);
    let child = started(command, &home);
    let mut whole = Side::new(&home);
    whole.say(json!({"from": 0}));
    let first = whole.records(8);
    // One that is killed in between, and one that goes on where that was.
    let mut killed = Side::new(&home);
    killed.say(json!({"from": 3}));
    assert_eq!(killed.records(5), first[3..]);
    killed.stream.shutdown(Shutdown::Both).unwrap();
    let mut next = Side::new(&home);
    next.say(json!({"from": 8}));
    let rest: Vec<_> = whole.rest();
    assert_eq!(next.rest(), rest);
    // Whether the answers are right is not the question here.
    assert!(Ran::of(child.wait_with_output().unwrap()).code <= 1);
    let mut records: Vec<_> = first;
    records.extend(rest.iter().filter_map(|line| line.get("record").cloned()));
    assert_eq!(records, home.run(&["follow", "j.jsonl", "--json"]).lines());
    assert_eq!(rest.last(), Some(&json!({"ended": true})));
}

#[test]
fn a_side_that_does_not_read_holds_up_nobody() {
    let home = Home::new();
    let command =
        home.command(&["run", "--knob", "speed=16", "--tasks-limit", "6", "--journal", "j.jsonl"]);
    let child = started(command, &home);
    let mut deaf: Vec<_> = (0..4).map(|_| Side::new(&home)).collect();
    deaf.iter_mut().for_each(|side| side.say(json!({"from": 0})));
    let mut other = Side::new(&home);
    other.say(json!({"from": 0}));
    let read = other.rest();
    assert_eq!(read.last(), Some(&json!({"ended": true})));
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert!(ran.code <= 1, "{}", ran.err);
    let written = home.run(&["follow", "j.jsonl", "--json"]).lines();
    assert_eq!(read.iter().filter(|line| line.get("record").is_some()).count(), written.len());
}

#[test]
fn one_side_controls_and_hands_over() {
    let home = Home::new();
    let child = endless(&home);
    let (mut one, mut two) = (Side::new(&home), Side::new(&home));
    let pid = format!("pid {}, since ", std::process::id());
    two.say(json!({"command": "Pause"}));
    assert_eq!(two.wait("refused"), "cannot pause: no screen controls it; take control first");
    one.say(json!({"take": true}));
    let control = one.wait("control");
    assert_eq!(control["yours"], true);
    assert!(control["controller"].as_str().unwrap().starts_with(&pid), "{control}");
    assert_eq!(two.wait("control")["yours"], false);

    // Only the one that controls is obeyed.
    two.say(json!({"command": "Pause"}));
    let why = two.wait("refused").to_string();
    assert!(why.contains("cannot pause: controlled by pid "), "{why}");
    one.say(json!({"from": 0}));
    one.say(json!({"command": {"TurnKnob": {"knob": "alpha", "value": 0.3}}}));
    while one.wait("record")["kind"] != "KnobTurned" {}
    one.say(json!({"command": "Pause"}));
    while one.wait("record")["kind"] != "Paused" {}

    // A second one asks, and gets control when the first one is gone.
    two.say(json!({"take": true}));
    let why = two.wait("refused").to_string();
    assert!(why.contains("controlled by pid ") && why.contains("asked to hand over"), "{why}");
    assert_eq!(one.wait("asked"), format!("pid {}", std::process::id()));
    one.stream.shutdown(Shutdown::Both).unwrap();
    assert_eq!(two.wait("control")["yours"], true);
    two.say(json!({"leave": true}));
    assert_eq!(two.wait("control"), json!({"yours": false, "controller": null}));
    two.say(json!({"take": true}));
    assert_eq!(two.wait("control")["yours"], true);

    two.say(json!({"command": "Stop"}));
    assert_eq!(two.rest().last(), Some(&json!({"ended": true})));
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn what_is_not_the_protocol_is_refused_with_a_reason_and_hurts_nobody() {
    let home = Home::new();
    let child = endless(&home);
    let first = |line: &[u8]| {
        let mut side = Side::connect(&home);
        side.stream.write_all(line).unwrap();
        let refused = side.wait("refused");
        assert_eq!(side.read(), None);
        refused.as_str().unwrap().to_owned()
    };
    let expected = "expected {\"toolyard_attach\":1} as the first line";
    for wrong in [&b"GET / HTTP/1.1\r\n"[..], b"{}\n", b"\n", b"\xff\xfe\n", b"{\"take\":true}\n"] {
        assert_eq!(first(wrong), expected);
    }
    let newer = first(b"{\"toolyard_attach\":2}\n");
    assert!(newer.starts_with("this session speaks version 1 of the protocol, not 2"), "{newer}");

    let later = |line: &[u8]| {
        let mut side = Side::new(&home);
        // The other end may be closed before everything is written.
        let _ = side.stream.write_all(line);
        let refused = side.wait("refused");
        refused.as_str().unwrap().to_owned()
    };
    let why = later(b"{\"command\":\"Fly\"}\n");
    assert!(why.contains("unknown variant `Fly`"), "{why}");
    let why = later(b"{\"from\":4000000000}\n");
    assert!(why.starts_with("no event 4000000000 yet: the last one is "), "{why}");
    let deep = later(format!("{}\n", "[".repeat(100_000)).as_bytes());
    assert!(deep.len() < 200, "{deep}");
    let long = later(&vec![b'x'; (8 << 20) + 2]);
    assert_eq!(long, "the line is longer than 8388608 bytes");

    // Too many are told so; then there is room again.
    let many: Vec<_> = (0..16).map(|_| Side::new(&home)).collect();
    let mut more = UnixStream::connect(&sockets(&home)[0]).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut more, &mut said).unwrap();
    assert!(said.contains("16 others are attached"), "{said}");
    drop(many);
    let mut after = Side::connect(&home);
    while after.hello.get("refused").is_some() {
        after = Side::connect(&home);
    }
    assert_eq!(end(child, Signal::TERM).code, 143);
}

#[test]
fn a_session_that_was_killed_leaves_a_socket_that_the_next_one_deletes() {
    let home = Home::new();
    let killed = endless(&home);
    let stale = sockets(&home);
    end(killed, Signal::KILL);
    assert_eq!(sockets(&home), stale);
    let ran = home.run(&["attach", "j.jsonl"]);
    assert!(ran.code == 2 && ran.err.contains("does not run on this machine"), "{ran:?}");
    let command = home.command(&["run", "--knob", "speed=1/4", "--journal", "k.jsonl"]);
    let next = command_started(command, &home, &stale[0]);
    assert_eq!(end(next, Signal::TERM).code, 143);
    assert_eq!(sockets(&home), [""; 0].map(PathBuf::from));
}

/// Starts a session, and waits until its socket is there and the stale one is not.
fn command_started(mut command: Command, home: &Home, stale: &PathBuf) -> Child {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a new socket", || {
        let all = sockets(home);
        all.len() == 1 && all[0] != *stale
    });
    child
}

#[test]
fn a_session_runs_where_no_socket_can_be_opened() {
    let home = Home::new();
    fs::create_dir_all(home.path("run/toolyard")).unwrap();
    let mut command = home.command(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    // Neither a folder that others can read, nor a path that is too long.
    command.env("XDG_RUNTIME_DIR", home.path(&"x".repeat(200)));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = home.run(&["run", "--tasks-limit", "1", "--journal", "k.jsonl"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn why_nobody_can_attach_is_said_with_what_to_do_instead() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1", "--journal", "j.jsonl"]);
    home.write("newer.jsonl", "{\"toolyard_journal\":9,\"program\":\"9.1\"}\n");
    home.write("notes.txt", "nothing\n");
    for (arguments, why) in [
        (&["attach"][..], "no running session in "),
        (&["attach", "j.jsonl"], "its session has ended; toolyard replay "),
        (&["attach", "nope"], "nope: no such journal, here or in "),
        (&["attach", "newer.jsonl"], "written in format 9, but this version reads"),
        (&["attach", "notes.txt"], "no journal header"),
        (&["follow", "newer.jsonl"], "written in format 9, but this version reads"),
        (&["follow", "nope.jsonl"], "nope.jsonl: No such file"),
    ] {
        let ran = home.run(arguments);
        assert!(ran.code == 2 && ran.err.contains(why), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn the_list_of_sessions_says_which_run() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1"]);
    let command = home.command(&["run", "--knob", "speed=1/4"]);
    let child = started(command, &home);
    let table = home.succeed(&["sessions"]);
    let ends = |word: &str| table.lines().filter(|line| line.contains(word)).count();
    assert_eq!((ends(" running "), ends(" done ")), (1, 1), "{table}");
    let listed: Value = serde_json::from_str(&home.succeed(&["sessions", "--json"])).unwrap();
    assert_eq!([&listed[0]["running"], &listed[1]["running"]], [true, false]);
    assert_eq!(end(child, Signal::TERM).code, 143);
}
