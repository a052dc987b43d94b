//! MCP servers that people use: `scripts/sdks.sh` installs them.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake_endpoint::{Fake, json as answer};
use crate::mcp_sdk::Ending;
use crate::program::Home;

/// The folder of servers in this language; `None`: they are not there.
pub fn installed(language: &str) -> Option<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks").join(format!("mcp-{language}"));
    if !folder.join("done").exists() {
        eprintln!(
            "SKIPPED: the MCP servers of {language} are not in target/sdks: run scripts/sdks.sh"
        );
        return None;
    }
    Some(folder)
}

/// The server of a package of Node.
fn node(home: &Home, name: &str, args: &[&str]) -> Option<Value> {
    let program = installed("node")?.join(format!("node_modules/.bin/mcp-server-{name}"));
    let file = home.path("memory.json");
    Some(json!({"command": program, "args": args, "env": {"MEMORY_FILE_PATH": file}}))
}

/// The server of a package of Python.
fn python(name: &str, args: &[&str]) -> Option<Value> {
    let program = installed("python")?.join(format!("bin/mcp-server-{name}"));
    Some(json!({"command": program, "args": args}))
}

/// A home with a configuration of this server.
fn home(name: &str, server: impl FnOnce(&Home) -> Option<Value>) -> Option<Home> {
    let home = Home::new();
    let server = server(&home)?;
    home.write("mcp.json", json!({"mcpServers": {name: server}}).to_string());
    Some(home)
}

/// What `toolyard tools` prints in the home.
fn tools(home: &Home, words: &[&str]) -> String {
    home.succeed(&[&["tools"][..], words, &["--mcp", "mcp.json"]].concat())
}

/// The names of its tools without those of the samples.
fn names(home: &Home, key: &str) -> Vec<String> {
    let all: Vec<Value> = serde_json::from_str(&tools(home, &["list", "--json"])).unwrap();
    let of = |spec: &&Value| spec["source"] == format!("mcp:{key}");
    let names = all.iter().filter(of).map(|spec| spec["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn server_everything() {
    let Some(home) = home("all", |home| node(home, "everything", &[])) else { return };
    assert!(names(&home, "all").len() >= 10);
    let checked = tools(&home, &["check"]);
    assert!(checked.contains("revision 2025-11-25"), "{checked}");
    let call = |words: &[&str]| tools(&home, &[&["call"][..], words].concat());
    assert_eq!(call(&["all__echo", "message=hello"]), "Echo: hello\n");
    assert!(call(&["all__get-sum", "a=2", "b=3"]).contains('5'));
    let structured = call(&["all__get-structured-content", "location=Chicago"]);
    assert!(structured.contains("temperature"), "{structured}");
    assert!(call(&["all__get-tiny-image"]).contains("[image image/png"));
    let shown = call(&["all__get-env"]);
    assert!(shown.contains("PATH") && !shown.contains("CARGO"), "{shown}");
    // It takes four seconds, and says each second how far it is.
    let long = call(&["all__trigger-long-running-operation", "duration=2", "steps=4", "--json"]);
    let call: Value = serde_json::from_str(&long).unwrap();
    assert_eq!(call["progress"]["total"], 4.0, "{call}");
}

#[test]
fn server_filesystem() {
    let Some(home) = home("files", |home| node(home, "filesystem", &[home.path(".").to_str()?]))
    else {
        return;
    };
    home.write("note.txt", "buy rope");
    let path = format!("path={}", home.path("note.txt").display());
    assert_eq!(tools(&home, &["call", "files__read_text_file", &path]), "buy rope\n");
    let outside = home.run(&[
        "tools",
        "call",
        "files__read_text_file",
        "path=/etc/passwd",
        "--mcp",
        "mcp.json",
    ]);
    assert!(outside.code == 1 && outside.err.contains("denied"), "{outside:?}");
}

#[test]
fn server_memory() {
    let Some(home) = home("memory", |home| node(home, "memory", &[])) else { return };
    let entity =
        json!({"entities": [{"name": "rope", "entityType": "thing", "observations": ["long"]}]});
    tools(&home, &["call", "memory__create_entities", &entity.to_string()]);
    assert!(tools(&home, &["call", "memory__read_graph"]).contains("rope"));
}

#[test]
fn server_time() {
    let Some(home) = home("time", |_| python("time", &["--local-timezone", "UTC"])) else { return };
    let checked = tools(&home, &["check"]);
    assert!(checked.contains("revision 2026-07-28"), "{checked}");
    let said = tools(&home, &["call", "time__get_current_time", "timezone=Europe/Oslo"]);
    assert!(said.contains("\"timezone\": \"Europe/Oslo\""), "{said}");
    let wrong = home.run(&[
        "tools",
        "call",
        "time__get_current_time",
        "timezone=Moon",
        "--mcp",
        "mcp.json",
    ]);
    assert!(wrong.code == 1 && wrong.err.contains("Moon"), "{wrong:?}");
}

#[test]
fn server_git() {
    let Some(home) = home("git", |_| python("git", &[])) else { return };
    let made = Command::new("git").args(["init", "-q", "r"]).current_dir(home.path(".")).status();
    assert!(made.unwrap().success());
    home.write("r/new.txt", "x");
    let path = format!("repo_path={}", home.path("r").display());
    let said = tools(&home, &["call", "git__git_status", &path]);
    assert!(said.contains("new.txt"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_fetch() {
    let Some(home) =
        home("fetch", |_| python("fetch", &["--ignore-robots-txt", "--allow-private-ips"]))
    else {
        return;
    };
    let page = wiremock::MockServer::start().await;
    let html = "<html><body><article><h1>Ropes</h1><p>Ropes are long.</p></article></body></html>";
    let given = wiremock::ResponseTemplate::new(200).set_body_raw(html, "text/html");
    wiremock::Mock::given(wiremock::matchers::any()).respond_with(given).mount(&page).await;
    let url = format!("url={}", page.uri());
    let call = move || tools(&home, &["call", "fetch__fetch", &url]);
    let said = tokio::task::spawn_blocking(call).await.unwrap();
    assert!(said.contains("Ropes are long"), "{said}");
}

/// A model that calls a tool of a server solves a task with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_solved_with_a_server() {
    let Some(home) = home("all", |home| node(home, "everything", &[])) else { return };
    let message = |message: Value, finish: &str| {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let usage = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12});
        let body = json!({"id": "c", "object": "chat.completion", "model": "m",
            "choices": [choice], "usage": usage});
        answer("200 OK", &body.to_string())
    };
    let call = json!([{"id": "1", "type": "function",
        "function": {"name": "all__get-sum", "arguments": "{\"a\": 2, \"b\": 3}"}}]);
    let fake = Fake::start(vec![
        message(json!({"role": "assistant", "content": null, "tool_calls": call}), "tool_calls"),
        message(json!({"role": "assistant", "content": "It is 5."}), "stop"),
    ])
    .await;
    let url = fake.url.clone();
    let run = move || {
        home.write(
            "c.toml",
            format!("[models.m]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"m\"\nstream = false\n[roles]\ndefault = \"m\"\n"),
        );
        let words = ["--mcp", "mcp.json", "--allow", "mcp:all", "--strategy", "react", "--fresh"];
        let task = ["run", "What is 2 + 3?", "--config", "c.toml", "--no-journal"];
        home.run(&[&task[..], &words].concat())
    };
    let ran = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("It is 5."), "{ran:?}");
    let bodies = fake.bodies();
    let read = bodies[1]["messages"].to_string();
    assert!(read.contains("The sum of 2 and 3 is 5"), "{read}");
}

/// The folder with the programs of the conformance tests; `None`: they are not there.
fn conformance_tests() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks/conformance");
    if !folder.join("done").exists() {
        eprintln!(
            "SKIPPED: the conformance tests of MCP are not in target/sdks: run scripts/sdks.sh"
        );
        return None;
    }
    Some(folder.join("node_modules/.bin"))
}

/// The scenarios for clients that need no login. `docs/guide/mcp.md` names those that do.
#[test]
fn conformance() {
    let Some(programs) = conformance_tests() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let client = root.join("tests/sdks/conformance_client.sh");
    let client = format!("{} {}", client.display(), crate::PROGRAM);
    let home = Home::new();
    for scenario in ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"]
    {
        let mut command = Command::new(programs.join("conformance"));
        command.args(["client", "--command", &client, "--scenario", scenario]);
        let ran = command.envs(home.environment()).env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        let is_well = said.contains("OVERALL: PASSED") && !said.contains("Passed: 0/0");
        assert!(is_well, "{scenario}: {said}");
    }
}

/// The scenarios for servers come out with the relay as they do without. The server has what those of tools need.
#[test]
fn conformance_of_a_server_behind_the_relay() {
    let (Some(programs), Some(python)) = (conformance_tests(), installed("python")) else { return };
    let home = Home::new();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (own, relayed) = (free(), free());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks/mcp_conformance.py");
    let mut server = Command::new(python.join("bin/python"));
    server.arg(script).arg(own.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Ending(server.spawn().unwrap());
    let (target, listen) = (format!("http://127.0.0.1:{own}/mcp"), format!("127.0.0.1:{relayed}"));
    let mut relay =
        home.command(&["mcp", "--target", &target, "--listen", &listen, "--no-journal"]);
    let _relay = Ending(relay.stderr(Stdio::null()).spawn().unwrap());
    let begun = Instant::now();
    while [own, relayed].iter().any(|port| TcpStream::connect(("127.0.0.1", *port)).is_err()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "they do not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let outcomes = |port: u16| {
        let mut command = Command::new(programs.join("conformance"));
        command.args(["server", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
        let ran = command.envs(home.environment()).env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let (_, summary) = said.split_once("=== SUMMARY ===").expect("a summary");
        summary.trim().to_owned()
    };
    let without = outcomes(own);
    assert_eq!(outcomes(relayed), without);
    for scenario in [
        "simple-text",
        "image",
        "audio",
        "mixed-content",
        "error",
        "with-progress",
        "sampling",
        "elicitation",
    ] {
        assert!(without.contains(&format!("✓ tools-call-{scenario}: ")), "{without}");
    }
}
