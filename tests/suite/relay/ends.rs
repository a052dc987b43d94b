//! Ends of relays, servers and clients in the middle of a call.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::client::{Client, kinds};
use super::server;
use crate::processes::{PATIENCE, has_ended, kills, wait_until};
use crate::program::Home;

/// The processes below one.
fn below(pid: Pid) -> Vec<Pid> {
    toolyard::process::below(pid, |_| false)
}

#[test]
fn a_server_that_dies_is_an_error_at_once() {
    for n in 0..kills() {
        let home = Home::new();
        let mut client = Client::start(&home, Some(&["--journal", "j.jsonl"]), "notes");
        let dying = client.call("die", json!({}));
        let begun = Instant::now();
        let answer = client.answer(dying);
        assert!(begun.elapsed() < Duration::from_secs(10), "{n}");
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains("its outcome is unknown"), "{why}");
        assert_eq!(client.end().0, Some(9));
        assert!(home.read("j.jsonl").contains("its outcome is unknown"));
        let kinds = kinds(&home.path("j.jsonl"));
        assert_eq!(kinds.last().map(String::as_str), Some("SessionEnded"), "{kinds:?}");
    }
}

#[test]
fn nothing_outlives_a_relay_that_is_killed() {
    for _ in 0..kills() {
        let home = Home::new();
        let mut client = Client::start(&home, Some(&["--journal", "j.jsonl"]), "notes");
        client.call("sleep", json!({"ms": 60_000}));
        wait_until("the server has the call", || {
            home.path("notes").exists() && !home.read("notes").is_empty()
        });
        let pid = Pid::from_child(&client.child);
        let started = below(pid);
        assert!(started.len() >= 2, "the reaper and the server: {started:?}");
        let begun = Instant::now();
        kill_process(pid, Signal::KILL).unwrap();
        while client.line().is_some() {}
        assert!(begun.elapsed() < Duration::from_secs(2), "the client sees the end");
        wait_until("all have ended", || started.iter().all(|pid| has_ended(*pid)));
        client.end();
        // What ran has started, and nothing says how it ended.
        let kinds = kinds(&home.path("j.jsonl"));
        assert_eq!(kinds.last().map(String::as_str), Some("ToolCallStarted"), "{kinds:?}");
    }
}

#[test]
fn a_relay_whose_client_does_not_read_ends_with_a_signal() {
    let large = "x".repeat(1 << 20);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "now", "arguments": {"text": large}}});
    // With the server at work, and after it has ended.
    for last in ["", "{\"id\":2,\"params\":{\"name\":\"die\"}}\n"] {
        let home = Home::new();
        let words = ["mcp", "--journal", "j.jsonl", "--"].map(str::to_owned);
        let words = [&words[..], &server::command(&home.path("notes"))].concat();
        let mut command = home.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut relay = command.spawn().unwrap();
        let mut input = relay.stdin.take().unwrap();
        input.write_all(format!("{call}\n{last}").as_bytes()).unwrap();
        wait_until("the answer has come", || {
            home.path("j.jsonl").exists() && home.read("j.jsonl").contains("ToolCallFinished")
        });
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        kill_process(Pid::from_child(&relay), Signal::TERM).unwrap();
        while relay.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        let took = begun.elapsed();
        let _ = relay.kill();
        assert!(took < Duration::from_secs(2), "{last}: {took:?}");
        assert_eq!(relay.wait().unwrap().code(), Some(128 + 15), "{last}");
    }
}

#[test]
fn a_server_that_cannot_start_is_named() {
    let home = Home::new();
    let ran = home.run(&["mcp", "--no-journal", "--", "no-such-server"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("no-such-server cannot be started"), "{}", ran.err);
}

#[test]
fn a_server_that_ignores_the_end_of_its_client_is_ended() {
    let home = Home::new();
    let words =
        ["mcp", "--no-journal", "--", "sh", "-c", "trap '' TERM; while :; do sleep 1; done"];
    let client = Client::of(home.command(&words));
    let begun = Instant::now();
    assert_eq!(client.end().0, Some(128 + 9));
    assert!(begun.elapsed() < PATIENCE);
}
