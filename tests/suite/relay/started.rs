//! `toolyard watch --mcp`: the servers of a configuration are started through relays.

use serde_json::json;

use super::client::Client;
use super::server::{calls, command};
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
    let left = std::fs::read_dir(home.path(".")).unwrap().flatten();
    let left =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with("toolyard-mcp-"));
    assert_eq!(left.count(), 0, "the copy is deleted");
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
