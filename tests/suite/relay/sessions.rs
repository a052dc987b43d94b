//! The session that a relay reports to.

use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, text};
use super::server::calls;
use crate::processes::{kills, wait_until};
use crate::program::{Home, unpacked};

/// A watched session that agents elsewhere are awaited by.
struct Watch(Child);

impl Watch {
    fn start(home: &Home, journal: &str, more: &[&str]) -> Self {
        let words = [&["watch", "--headless", "--journal", journal], more].concat();
        let mut command = home.command(&words);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let sockets = || std::fs::read_dir(home.path("run/toolyard")).into_iter().flatten().count();
        let before = sockets();
        wait_until("it has a socket", || sockets() > before);
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The file, or nothing where it is not there yet.
fn read(home: &Home, name: &str) -> String {
    String::from_utf8(unpacked(&home.path(name)).unwrap_or_default()).unwrap()
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn calls_are_in_the_session_that_runs() {
    let home = Home::new();
    let watch = Watch::start(&home, "w.jsonl", &["--fault", "now:error:text=no"]);
    let mut client = Client::start(&home, Some(&["--name", "own"]), "notes");
    client.ask("tools/list", json!({}));
    let id = client.call("now", json!({}));
    assert_eq!(text(&client.answer(id)), ("no", true));
    let id = client.call("sleep", json!({"ms": 0, "text": "it ran"}));
    assert_eq!(text(&client.answer(id)), ("it ran", false));
    let (code, _, said) = client.end();
    assert_eq!(code, Some(0));
    assert!(
        said.contains("own: its calls are in the session") && said.contains("w.jsonl"),
        "{said}"
    );
    assert_eq!(calls(&home.path("notes")).len(), 1);
    wait_until("the session has all", || read(&home, "w.jsonl").contains("TaskFinished"));
    let journal = home.read("w.jsonl");
    assert!(journal.contains("mcp:own") && journal.contains("it ran"), "{journal}");
    drop(watch);
}

#[test]
fn held_calls_fail_when_the_session_is_killed_and_later_ones_pass() {
    (0..kills()).for_each(|_| kill_while_held(&Home::new()));
}

fn kill_while_held(home: &Home) {
    let hold = ["--break", "now:before:alone", "--hold", "60"];
    let watch = Watch::start(home, "w.jsonl", &hold);
    let mut client = Client::start(home, Some(&["--name", "own"]), "notes");
    let held = client.call("now", json!({}));
    wait_until("it is held", || read(home, "w.jsonl").contains("Held"));
    // What comes after it does not wait.
    let other = client.call("sleep", json!({"ms": 0}));
    assert_eq!(text(&client.answer(other)), ("done", false));
    watch.kill();
    let killed = Instant::now();
    let answer = client.answer(held);
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    let (said, failed) = text(&answer);
    assert!(failed && said.contains("the tool did not run"), "{answer}");
    let later = client.call("now", json!({"text": "it passes"}));
    assert_eq!(text(&client.answer(later)), ("it passes", false));
    client.end();
    assert_eq!(calls(&home.path("notes")).len(), 2);
}

#[test]
fn a_session_that_is_killed_leaves_calls_at_work_to_the_server() {
    (0..kills()).for_each(|_| kill_at_work(&Home::new()));
}

fn kill_at_work(home: &Home) {
    let watch = Watch::start(home, "w.jsonl", &[]);
    let mut client = Client::start(home, Some(&["--name", "own"]), "notes");
    let ran = client.call("sleep", json!({"ms": 1500, "text": "it ran"}));
    wait_until("the server has it", || !calls(&home.path("notes")).is_empty());
    watch.kill();
    assert_eq!(text(&client.answer(ran)), ("it ran", false));
    client.end();
    // Nothing says how it ended.
    assert!(!read(home, "w.jsonl").contains("ToolCallFinished"));
    assert_eq!(calls(&home.path("notes")).len(), 1);
}

#[test]
fn a_relay_without_a_session_is_no_obstacle() {
    let home = Home::new();
    home.write("toolyard/config.toml", "what = is this");
    let mut client = Client::start(&home, Some(&["--name", "own"]), "notes");
    let id = client.call("now", json!({"text": "it ran"}));
    assert_eq!(text(&client.answer(id)), ("it ran", false));
    let (code, _, said) = client.end();
    assert!(code == Some(0) && said.contains("own: its calls pass unseen"), "{said}");
}

#[test]
fn a_session_of_another_home_is_taken_only_if_it_is_named() {
    let (home, other) = (Home::new(), Home::new());
    let watch = Watch::start(&home, "w.jsonl", &[]);
    for (more, is_taken) in [(&[][..], false), (&["--session", "w.jsonl"], true)] {
        let words = [&["mcp", "--name", "own"], more, &["--"]].concat();
        let mut command = home.command(&words);
        command.args(super::server::command(&home.path("notes"))).env("HOME", other.path(""));
        let mut client = Client::of(command);
        let id = client.call("now", json!({"text": "from afar"}));
        assert_eq!(text(&client.answer(id)).0, "from afar");
        client.end();
        if is_taken {
            wait_until("it is there", || read(&home, "w.jsonl").contains("from afar"));
        }
        assert_eq!(read(&home, "w.jsonl").contains("from afar"), is_taken);
    }
    drop(watch);
}

#[test]
fn of_two_sessions_none_is_taken_unless_it_is_named() {
    let home = Home::new();
    let (one, two) = (Watch::start(&home, "one.jsonl", &[]), Watch::start(&home, "two.jsonl", &[]));
    let mut client = Client::start(&home, Some(&["--name", "own"]), "notes");
    let id = client.call("now", json!({"text": "alone"}));
    assert_eq!(text(&client.answer(id)).0, "alone");
    let (_, _, said) = client.end();
    assert!(said.contains("several sessions run") && said.contains("two.jsonl"), "{said}");
    for (name, journal) in [("two.jsonl", "two.jsonl"), ("one", "one.jsonl")] {
        let mut client = Client::start(&home, Some(&["--name", "own", "--session", name]), "notes");
        let id = client.call("now", json!({"text": format!("to {name}")}));
        client.answer(id);
        client.end();
        wait_until("it is there", || read(&home, journal).contains(&format!("to {name}")));
    }
    let pid = one.0.id().to_string();
    let mut client = Client::start(&home, Some(&["--session", &pid]), "notes");
    let id = client.call("now", json!({"text": "by its process"}));
    client.answer(id);
    client.end();
    wait_until("it is there", || read(&home, "one.jsonl").contains("by its process"));
    drop(two);
}

#[test]
fn an_old_socket_is_named_and_left_out() {
    let home = Home::new();
    let folder = home.path("run/toolyard");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
    drop(UnixListener::bind(folder.join("1-2.sock")).unwrap());
    let mut client = Client::start(&home, Some(&["--name", "own"]), "notes");
    let id = client.call("now", json!({}));
    assert_eq!(text(&client.answer(id)).0, "done");
    let (code, _, said) = client.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("nobody answers at") && said.contains("1-2.sock"), "{said}");
    let ran = home.run(&["mcp", "--session", "nobody", "--", "true"]);
    assert!(ran.code == 2 && ran.err.contains("--session nobody: no session"), "{}", ran.err);
}

#[test]
fn a_client_that_gives_up_is_told_to_the_session() {
    let home = Home::new();
    let _watch = Watch::start(&home, "w.jsonl", &["--break", "now:before:alone", "--hold", "60"]);
    let mut client = Client::start(&home, Some(&["--name", "own"]), "notes");
    let held = client.call("now", json!({}));
    wait_until("it is held", || read(&home, "w.jsonl").contains("Held"));
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": held}});
    client.say(format!("{cancel}\n").as_bytes());
    wait_until("it is over", || read(&home, "w.jsonl").contains("ToolCallRefused"));
    assert!(
        client.lines_within(Duration::from_millis(50)).iter().all(|line| !line.starts_with(b"{"))
    );
    client.end();
    assert_eq!(home.read("notes"), "", "the server heard nothing of it");
}

/// A server that repeats its environment, its first argument, and the text of its call.
const REPEATS: &str = r#"import json, os, sys
for line in sys.stdin:
    call = json.loads(line)
    text = " ".join([os.environ["API_KEY"], sys.argv[1], json.dumps(call["params"])])
    print(json.dumps({"id": call["id"], "result": {"content": [{"type": "text", "text": text}]}}), flush=True)
"#;

#[test]
fn keys_of_a_server_are_not_in_another_session_and_reach_the_client() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let home = Home::new();
    home.write("server.py", REPEATS);
    let watch = Watch::start(&home, "w.jsonl", &[]);
    let words = ["mcp", "--name", "own", "--session", "w.jsonl", "--"];
    let server = ["python3", "server.py", "--token=t0ken-0f-a-server"];
    let mut command = home.command(&[&words[..], &server].concat());
    command.env("API_KEY", "k3y-0f-a-server").env("DB", "postgres://u:dsn-0f-a-server@h/db");
    let mut client = Client::of(command);
    let sent = "k3y-0f-a-server and dsn-0f-a-server";
    let id = client.call("any", json!({"text": sent}));
    let answer = client.answer(id);
    let told = text(&answer).0;
    assert!(told.starts_with("k3y-0f-a-server --token=t0ken-0f-a-server"), "{told}");
    assert!(told.contains(&format!("\"text\": \"{sent}\"")), "the server got all: {told}");
    let (_, _, said) = client.end();
    assert!(said.contains("w.jsonl"), "{said}");
    wait_until("the session has all", || read(&home, "w.jsonl").contains("TaskFinished"));
    let journal = home.read("w.jsonl");
    assert!(journal.contains("[key] --token=[key]"), "{journal}");
    assert!(journal.contains("[key] and [key]") && !journal.contains("0f-a-server"), "{journal}");
    drop(watch);
}
