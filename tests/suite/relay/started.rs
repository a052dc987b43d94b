//! `toolyard watch --mcp`: the servers of a configuration are started through relays.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;

use super::client::{Client, text};
use super::http;
use super::server::{calls, command};
use crate::processes::wait_until;
use crate::program::Home;

/// An agent that starts the first server of its configuration as clients do, and makes one call.
const AGENT: &str = r#"
import json, os, subprocess, sys
entry = json.load(open(sys.argv[1]))["mcpServers"]["own"]
environment = {**os.environ, **entry.get("env", {})}
server = subprocess.Popen([entry["command"], *entry["args"]], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "now", "arguments": {"text": "hello"}}}
server.stdin.write((json.dumps(call) + "\n").encode())
server.stdin.flush()
while (line := server.stdout.readline()) and not line.startswith(b"{"):
    pass
print(line.decode())
server.stdin.close()
server.wait()
"#;

#[test]
fn the_calls_of_an_agent_s_servers_are_in_its_session() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let home = Home::new();
    home.write("agent.py", AGENT);
    let words = command(&home.path("notes"));
    let (program, arguments) = words.split_first().unwrap();
    let own = json!({"command": program, "args": arguments, "env": {"TOKEN": "t0p-s3cret-value-1"}, "cwd": "."});
    let file =
        json!({"mcpServers": {"own": own, "off": {"command": "x", "disabled": true}}}).to_string();
    home.write("servers.json", &file);
    let watch = ["watch", "--headless", "--journal", "j.jsonl", "--fault", "now:wrong"];
    let agent = ["--mcp", "servers.json", "--", "python3", "agent.py", "{mcp}"];
    let ran = home.run(&[&watch[..], &agent].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(calls(&home.path("notes")).len(), 1);
    let journal = home.read("j.jsonl");
    assert!(journal.contains("mcp:own") && journal.contains("FaultFired"), "{journal}");
    assert!(!journal.contains("t0p-s3cret") && !ran.err.contains("t0p-s3cret"));
    assert!(ran.err.contains("the server off is left out"), "{}", ran.err);
    assert_eq!(home.read("servers.json"), file, "it is not touched");
    assert!(files(&home).is_empty(), "the copy is deleted");
}

/// The folders of files of sessions.
fn files(home: &Home) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(home.path("run/toolyard")).into_iter().flatten().flatten();
    all.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Named as an agent whose servers are on its command line; it asks the first of them.
const CODEX: &str = r#"#!/usr/bin/env python3
import os, re, sys, urllib.request
url = re.search(r'"url"="([^"]+)"', " ".join(sys.argv)).group(1)
name = re.search(r'"x-toolyard-door"="([^"]+)"', " ".join(sys.argv[sys.argv.index("-c", 4):])).group(1)
def ask(url, token):
    try:
        headers = {"x-toolyard-door": token} if token else {}
        return urllib.request.urlopen(urllib.request.Request(url, b"{\"method\":\"x\"}", headers)).read().decode()
    except urllib.error.HTTPError as error:
        return str(error.code)
copy = open(os.environ["TOOLYARD_MCP_CONFIG"]).read()
print(repr([sys.argv, copy]), file=open("seen", "w"))
token = os.environ[name]
shown = any(word in " ".join(sys.argv) for word in ("/t/", token, os.environ["TOOLYARD_DOOR"] or "/t/"))
print(ask(url, token), ask(url, ""), ask(url, token[::-1]), shown, file=open("answers", "w"))
"#;

#[test]
fn a_header_of_an_entry_is_in_no_argument_and_in_no_copy() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let (home, (target, _)) = (Home::new(), http::server(false));
    home.write("codex", CODEX);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path("codex"), mode).unwrap();
    let headers = json!({"Authorization": "Bearer h34der-0f-an-entry"});
    let url = format!("{target}?api_key=qu3ry-0f-an-entry");
    let own = json!({"type": "http", "url": url, "headers": headers});
    home.write("servers.json", json!({"mcpServers": {"own": own}}).to_string());
    let words = ["watch", "--headless", "--journal", "j.jsonl", "--mcp", "servers.json"];
    let ran = home.run(&[&words[..], &["--", "./codex"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let seen = home.read("seen");
    assert!(seen.contains("mcp_servers.own=") && !seen.contains("0f-an-entry"), "{seen}");
    let answers = home.read("answers");
    let expected = "POST /mcp?api_key=qu3ry-0f-an-entry HTTP/1.1\nauthorization: Bearer h34der-0f-an-entry 403 403 False\n";
    assert_eq!(answers, expected);
}

#[test]
fn files_with_keys_are_private_and_go_with_the_next_session_after_a_kill() {
    let home = Home::new();
    let own = json!({"command": "true", "env": {"TOKEN": "t0p-s3cret-value-2"}});
    home.write("servers.json", json!({"mcpServers": {"own": own}}).to_string());
    let words = ["watch", "--headless", "--journal", "j.jsonl", "--mcp", "servers.json", "--"];
    let agent = ["sh", "-c", "echo $TOOLYARD_MCP_CONFIG > copy.new; mv copy.new copy; sleep 60"];
    let mut watch = home.command(&[&words[..], &agent].concat()).spawn().unwrap();
    wait_until("the agent runs", || home.path("copy").exists());
    let there = files(&home);
    assert_eq!(there.len(), 1);
    assert!(home.read("copy").starts_with(&there[0].display().to_string()));
    assert!(there[0].display().to_string().contains(&format!("-{}-", watch.id())));
    assert_eq!(there[0].metadata().unwrap().mode() & 0o777, 0o700);
    // Those of a session that runs stay.
    assert_eq!(home.run(&["watch", "--headless", "--journal", "k.jsonl", "--", "true"]).code, 0);
    assert_eq!(files(&home), there);
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert_eq!(home.run(&["watch", "--headless", "--journal", "l.jsonl", "--", "true"]).code, 0);
    assert!(files(&home).is_empty());
}

/// A server whose results have a variable of its environment and its first argument.
const TELLS: &str = r#"while read -r line; do
    printf '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"%s %s"}]}}\n' "$API_KEY" "$1"
done"#;

#[test]
fn keys_of_a_relayed_server_are_in_no_journal() {
    let home = Home::new();
    home.write("server.sh", TELLS);
    let words = ["mcp", "--name", "s", "--journal", "j.jsonl", "--"];
    let server = ["sh", "server.sh", "--token=t0ken-0f-a-server"];
    let mut command = home.command(&[&words[..], &server].concat());
    command.env("API_KEY", "k3y-0f-a-server");
    let mut client = Client::of(command);
    let id = client.call("any", json!({}));
    let answer = client.answer(id);
    assert_eq!(text(&answer).0, "k3y-0f-a-server --token=t0ken-0f-a-server");
    client.end();
    let journal = home.read("j.jsonl");
    assert!(journal.contains("[key] --token=[key]"), "{journal}");
    assert!(!journal.contains("0f-a-server"), "{journal}");
}

#[test]
fn what_cannot_be_started_is_named() {
    let home = Home::new();
    home.write("servers.json", json!({"mcpServers": {"a": {"args": []}}}).to_string());
    let ran = home.run(&["watch", "--headless", "--mcp", "servers.json", "--", "true"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("no server can be started") && ran.err.contains("servers.json:1"),
        "{}",
        ran.err
    );
    home.write("servers.json", json!({"mcpServers": {"a": {"command": "true"}}}).to_string());
    let words = ["watch", "--headless", "--no-journal", "--mcp", "servers.json", "--", "true"];
    let ran = home.run(&words);
    assert!(ran.code == 2 && ran.err.contains("--mcp needs a journal"), "{}", ran.err);
}

#[test]
fn a_client_does_not_read_tools_that_the_options_leave_out() {
    let home = Home::new();
    for (option, names) in [
        ("--without=d*", &["now", "sleep"][..]),
        ("--only=now", &["now"]),
        ("--without=*", &[]),
        ("--without=gone", &["now", "sleep", "die"]),
    ] {
        let mut client = Client::start(&home, Some(&["--no-journal", option]), "list-notes");
        let id = client.ask("tools/list", json!({}));
        let answer = client.answer(id);
        let tools = answer["result"]["tools"].as_array().unwrap();
        let listed: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(listed, names, "{option}");
        let id = client.call("now", json!({"text": "x"}));
        let answer = client.answer(id);
        assert_eq!(answer["error"]["code"] == -32602, !names.contains(&"now"), "{answer}");
    }
}
