//! An agent whose session has no screen of its own is held while an attached screen controls it, and only then.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::by_keys::{agent, forecast};
use super::started::Watch;
use super::upstream::upstream;
use crate::PROGRAM;
use crate::program::{Home, text};
use crate::sitting::{Sitting, assert_harmless};

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

fn hits(journal: &str) -> Vec<bool> {
    let records = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let hits = records.filter(|record| record["kind"] == "BreakpointHit");
    hits.map(|record| record["data"]["holds"] == true || record["holds"] == true).collect()
}

#[test]
fn a_breakpoint_holds_for_an_attached_screen_and_counts_without_one() {
    for (columns, rows) in SIZES {
        let (home, endpoint) = (Home::new(), upstream(Arc::new(forecast)));
        fs::create_dir(home.path("elsewhere")).unwrap();
        let journal = home.path("elsewhere/run.jsonl");
        let url = format!("http://{}/v1", endpoint.address);
        let more = ["--break", "weather:before", "--journal", text(&journal)];
        let watch = Watch::with(&home, &[("OPENAI_BASE_URL", url)], &more);
        let port = watch.address.port();
        let asks = || thread::spawn(move || agent(port));
        // Nobody is there.
        assert_eq!(asks().join().unwrap().1, "They say: rain in Oslo");
        // One only looks.
        let looks = Sitting::start(&home, columns, rows, &["attach", "--watch"]);
        looks.wait_header("WATCHING");
        assert_eq!(asks().join().unwrap().1, "They say: rain in Oslo");
        // One controls, edits and lets it go.
        let mut screen = Sitting::start(&home, columns, rows, &["attach"]);
        screen.wait_header("CONTROLLING");
        let worked = asks();
        screen.wait_header("HELD");
        screen.press("e");
        screen.wait("Edit the arguments of call");
        screen.press("\x1b[B\x1b[F\x7f\x7f\x7f\x7f\x7fBonn\"\x07");
        screen.wait("rain in Bonn");
        let (got, answer) = worked.join().unwrap();
        assert_eq!(
            (got, answer.as_str()),
            (vec![json!({"city": "Bonn"})], "They say: rain in Bonn")
        );
        // It leaves while something is held, which goes on.
        let worked = asks();
        screen.wait_header("HELD");
        screen.press("q");
        screen.wait("What its breakpoint holds goes on");
        screen.press("y");
        assert_eq!(worked.join().unwrap().1, "They say: rain in Oslo");
        assert_harmless(&screen.end().1);
        looks.wait("no screen controls the session any more");
        drop(watch);
        let held = hits(&home.read("elsewhere/run.jsonl"));
        assert_eq!(held, [false, false, true, true], "{columns}x{rows}");
    }
}

/// An agent that asks for a call in a stream, and reads it with the usual time-out of clients that tell none.
const STREAMING: &str = r#"
import json, os, socket, sys
from urllib.parse import urlsplit
url = urlsplit(os.environ["OPENAI_BASE_URL"])
body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "How is it?"}]}).encode()
line = socket.create_connection((url.hostname, url.port), timeout=5)
line.sendall(b"POST " + url.path.encode() + b"/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
print("asked", flush=True)
got = b""
while part := line.recv(65536):
    got += part
print("called" if b"weather" in got and b"[DONE]" in got else got, flush=True)
"#;

#[test]
fn an_agent_that_has_the_terminal_is_held_by_an_attached_screen_or_for_its_time() {
    let (home, endpoint) = (Home::new(), upstream(Arc::new(forecast)));
    home.write("agent.py", STREAMING);
    let url = format!("http://{}/v1", endpoint.address);
    let words = ["watch", "--tty", "--break", "weather:before"];
    let command = ["--", "python3", "agent.py"];
    let sit = |more: &[&str], line: &[&str]| {
        let words = [&[PROGRAM], &words[..], more, line].concat();
        Sitting::of(&home, 120, 40, &words, &[("OPENAI_BASE_URL", &url)])
    };
    let start = Instant::now();
    let alone = sit(&["--hold", "7"], &command);
    alone.wait("called");
    assert!(start.elapsed() >= Duration::from_secs(7), "{:?}", start.elapsed());
    assert_eq!(alone.end().0.exit_code(), 0);
    // With a screen, which lets it wait for longer than its client would.
    let line = "echo ready; read go; exec python3 agent.py";
    let mut waits = sit(&[], &["--", "sh", "-c", line]);
    waits.wait("ready");
    let mut screen = Sitting::start(&home, 120, 40, &["attach"]);
    screen.wait_header("CONTROLLING");
    waits.press("\r");
    waits.wait("asked");
    screen.wait_header("HELD");
    thread::sleep(Duration::from_secs(7));
    assert!(!waits.text().contains("called"), "{}", waits.text());
    screen.press(" ");
    waits.wait("called");
    assert_eq!(waits.end().0.exit_code(), 0);
    screen.wait("agent ended with exit code 0");
    screen.press("q");
    assert_harmless(&screen.end().1);
}
