//! Kills in the middle of a call: of toolyard, and of the server.

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{configuration, log};
use crate::processes::{has_ended, kills};
use crate::program::Home;

/// How soon whoever waits must know.
const SOON: Duration = Duration::from_secs(2);

/// A call that never ends, and the process of its server.
fn call(home: &Home, folder: &Path) -> (Child, Pid) {
    let _ = std::fs::remove_file(folder.join("plain.log"));
    let file = configuration(&["plain"], folder);
    let words = ["tools", "call", "plain__slow", "text=never", "--mcp", file.to_str().unwrap()];
    let mut command = home.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !log("plain", folder).contains("tools/call slow") {
        assert!(begun.elapsed() < super::LONG, "the call does not arrive");
        std::thread::sleep(Duration::from_millis(5));
    }
    let log = log("plain", folder);
    let pid = log.lines().find_map(|line| line.strip_prefix("started ")).unwrap();
    (child, Pid::from_raw(pid.parse().unwrap()).unwrap())
}

fn ends_soon(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_server_outlives_toolyard() {
    let home = Home::new();
    for _ in 0..kills() {
        let (mut child, server) = call(&home, &home.path("."));
        child.kill().unwrap();
        child.wait().unwrap();
        ends_soon("the server still runs", || has_ended(server));
    }
}

#[test]
fn a_killed_server_fails_the_call_with_an_unknown_outcome() {
    let home = Home::new();
    for _ in 0..kills() {
        let (mut child, server) = call(&home, &home.path("."));
        kill_process(server, Signal::KILL).unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < SOON, "the call still waits");
            std::thread::sleep(Duration::from_millis(5));
        }
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.code() == Some(1) && said.contains("is unknown"), "{said}");
    }
}
