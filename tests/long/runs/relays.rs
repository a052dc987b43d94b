//! Large results of many calls through a relay, in a watched session: memory stays.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::cases;
use crate::program::Home;

/// Bytes of a result, and how many calls.
const CALLS: [(usize, usize); 2] = [(1_000_000, 3_000), (100_000, 30_000)];
/// A part of the runs has at least this many calls: fewer would not fill what is kept.
const LEAST: usize = 250;
/// Calls before the memory is noted.
const FIRST: usize = 100;
/// Kilobytes that may be added after them.
const MOST: usize = 50_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose tool returns this many bytes, which differ from call to call only by their number.
fn server(bytes: usize) -> String {
    format!(
        r#"text=$(head -c {bytes} /dev/zero | tr '\0' x)
while read -r line; do
    id=${{line#*\"id\":}}; id=${{id%%,*}}
    printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"%s %s"}}]}}}}\n' "$id" "$id" "$text"
done
"#
    )
}

/// Kilobytes of memory that a process has now.
fn resident(child: &Child) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn relays_of_large_results_keep_their_memory() {
    for (bytes, calls) in CALLS {
        let (home, calls) = (Home::new(), cases(calls).max(LEAST));
        let watch = ["watch", "--headless", "--journal", "j.jsonl"];
        let mut watched = home.command(&watch);
        let mut watched = watched.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !home.path("j.jsonl").exists() {
            assert!(begun.elapsed() < PATIENCE, "the session has no journal");
            std::thread::sleep(Duration::from_millis(20));
        }
        let (session, server) = (watched.id().to_string(), server(bytes));
        let relay = ["mcp", "--name", "own", "--session", &session, "--", "sh", "-c", &server];
        let mut relay = home.command(&relay);
        let relay = relay.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut relay = relay.spawn().unwrap();
        let (mut to, from) = (relay.stdin.take().unwrap(), relay.stdout.take().unwrap());
        let (mut from, mut answer) = (BufReader::new(from), String::new());
        let mut first = [0; 2];
        for id in 1..=calls {
            let params = r#"{"name":"large","arguments":{}}"#;
            let call =
                format!(r#"{{"id":{id},"method":"tools/call","params":{params},"jsonrpc":"2.0"}}"#);
            writeln!(to, "{call}").unwrap();
            answer.clear();
            from.read_line(&mut answer).unwrap();
            assert!(answer.len() > bytes, "call {id}: {:.300}", answer);
            if id == FIRST {
                first = [&watched, &relay].map(resident);
            }
        }
        let last = [&watched, &relay].map(resident);
        eprintln!(
            "{calls} calls of {bytes} bytes: session and relay {first:?} kB, then {last:?} kB"
        );
        for (before, after) in first.into_iter().zip(last) {
            assert!(after < before + MOST, "{before} kB, then {after} kB");
        }
        drop(to);
        relay.wait().unwrap();
        watched.kill().unwrap();
        watched.wait().unwrap();
    }
}
