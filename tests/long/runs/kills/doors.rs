//! The kinds of sessions to whose doors others come, and imports: each is killed, and starts again.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::{Value, json};
use toolyard::store::journal;

use super::{Counts, after};
use crate::mutations::Numbers;
use crate::program::{Home, Ran, text};
use crate::runs::doors::bodies::{Framed, Sent, framed};
use crate::runs::doors::proxy::{Client, endpoint};

/// The variable that makes a process the agent of the test, with the folder of its notes; and how often it asks.
const AGENT: [&str; 2] = ["TOOLYARD_TEST_AGENT", "TOOLYARD_TEST_TURNS"];
const KEYS: [&str; 3] = ["k3y-0f-the-model", "k3y-0f-the-server", "k3y-0f-the-relay"];
/// Milliseconds until the kill, from the first answer on.
const LIFE: usize = 300;
const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose tool `note` adds its text to a file.
const SERVER: &str = r#"while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    text=${line#*\"text\":\"}; text=${text%%\"*}
    echo "$text" >> notes.txt
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"noted %s"}]}}\n' "$id" "$text"
done
"#;

/// A request to note this text.
fn call(id: usize, text: &str) -> String {
    let params = format!(r#"{{"name":"note","arguments":{{"text":"{text}"}}}}"#);
    format!("{{\"id\":{id},\"method\":\"tools/call\",\"params\":{params},\"jsonrpc\":\"2.0\"}}\n")
}

fn lines(home: &Home, name: &str) -> Vec<String> {
    let text = fs::read_to_string(home.path(name)).unwrap_or_default();
    // A line that is being written when all is killed is no line.
    text.split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'))
        .map(str::to_owned)
        .collect()
}

/// Each text was noted once at most.
fn expect_once(home: &Home) -> usize {
    let mut notes = lines(home, "notes.txt");
    let count = notes.len();
    notes.sort();
    notes.dedup();
    assert_eq!(notes.len(), count, "a call with an effect was made twice");
    count
}

/// The events of this kind that a journal has; `None`: it was killed before its journal began.
fn events(home: &Home, name: &str, kind: &str) -> Option<usize> {
    let path = home.path(name);
    if !path.exists() {
        return None;
    }
    let records = journal::read(&path).unwrap().records;
    home.succeed(&["replay", text(&path), "--json"]);
    Some(records.iter().filter(|record| record.event.kind() == kind).count())
}

/// Waits for its moment: soon after the start, or after what it shows first.
fn wait_for_moment(numbers: &mut Numbers, has_begun: impl Fn() -> bool) {
    let begun = Instant::now();
    if numbers.below(4) > 0 {
        while !has_begun() {
            assert!(begun.elapsed() < PATIENCE, "nothing is shown");
            thread::sleep(Duration::from_millis(2));
        }
    }
    thread::sleep(Duration::from_millis(1 + numbers.below(LIFE) as u64));
}

/// Kills it; false: it had ended.
fn kill(mut child: Child, home: &Home) -> bool {
    let is_over = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    after::expect_no_process(home);
    !is_over
}

fn count(counts: &mut Counts, is_killed: bool, shown: usize, writes: usize) {
    counts.kills += usize::from(is_killed);
    counts.over += usize::from(!is_killed);
    counts.printed += shown;
    counts.writes += writes;
}

/// An endpoint whose model has one thing noted after the other.
fn noter() -> String {
    let address = endpoint(Arc::new(|request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let messages = asked["messages"].as_array().unwrap();
        let of = messages[0]["content"].as_str().unwrap();
        let text = format!("{of}-{}", messages.len());
        let function = json!({"name": "note", "arguments": json!({"text": text}).to_string()});
        let call =
            json!({"id": format!("c{}", messages.len()), "type": "function", "function": function});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
        let body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]});
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        Sent { bytes: framed(head, body.to_string().as_bytes(), Framed::Length), closes: false }
    }));
    format!("http://{address}/v1")
}

/// A watched agent with a relayed server.
pub fn watch(numbers: &mut Numbers, counts: &mut Counts) {
    let (home, url) = (Home::new(), noter());
    home.write("server.sh", SERVER);
    let server = json!({"command": "sh", "args": ["server.sh"], "env": {"API_TOKEN": KEYS[1]}});
    home.write("servers.json", json!({"mcpServers": {"own": server}}).to_string());
    let own = env::current_exe().unwrap();
    let agent = [text(&own), "runs::kills::doors::be_an_agent", "--exact", "--ignored"];
    let watched = |more: &[&str], turns: &str| {
        let words = ["watch", "--headless", "--mcp", "servers.json"];
        let mut command = home.command(&[&words[..], more, &["--"], &agent].concat());
        command.env("OPENAI_BASE_URL", &url).env("OPENAI_API_KEY", KEYS[0]);
        command.env(AGENT[0], home.path("")).env(AGENT[1], turns);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut command = watched(&["--journal", "j.jsonl"], "400");
    let toolyard = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_moment(numbers, || home.path("got").exists());
    let is_killed = kill(toolyard, &home);
    let (got, noted) = (lines(&home, "got").len(), lines(&home, "noted").len());
    let known =
        ["ModelCallFinished", "ToolCallFinished"].map(|kind| events(&home, "j.jsonl", kind));
    let [answers, results] = known.map(Option::unwrap_or_default);
    assert!(answers >= got, "{answers} of {got} answers are in the journal");
    // The relay is a process of the agent's: without a session, it passes the result that is on its way.
    assert!(results + 1 >= noted, "{results} of {noted} results are in the journal");
    counts.early += usize::from(known[0].is_none());
    let more: &[&str] = match known[0] {
        Some(_) => &["--resume", "j.jsonl", "--journal", "j.2.jsonl"],
        None => &["--journal", "j.2.jsonl"],
    };
    let ran = Ran::of(watched(more, "2").output().unwrap());
    assert_eq!(ran.code, 0, "it starts again: {ran:?}");
    assert_eq!(lines(&home, "got").len(), got + 2, "{ran:?}");
    assert!(events(&home, "j.2.jsonl", "ModelCallFinished") >= Some(2));
    count(counts, is_killed, got + noted, expect_once(&home));
    after::expect_no_process(&home);
    after::expect_no_key(&home, &KEYS, &["servers.json"]);
}

/// Asks a model, and makes the calls of its answers at a relayed server, as often as it is to.
#[test]
#[ignore = "is an agent of the test above"]
fn be_an_agent() {
    let [Ok(folder), Ok(turns)] = AGENT.map(env::var) else { return };
    let copy = fs::read_to_string(env::var("TOOLYARD_MCP_CONFIG").unwrap()).unwrap();
    let entry = serde_json::from_str::<Value>(&copy).unwrap()["mcpServers"]["own"].clone();
    let arguments = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mut server = Command::new(entry["command"].as_str().unwrap());
    let of_entry = entry["env"].as_object().into_iter().flatten();
    server.envs(of_entry.map(|(name, value)| (name, value.as_str().unwrap())));
    let mut server =
        server.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    converse(Path::new(&folder), turns.parse().unwrap(), input, BufReader::new(output));
    server.wait().unwrap();
}

/// Asks so often, and notes what came. It ends early where the other sides have ended.
fn converse(folder: &Path, turns: usize, mut input: impl Write, mut output: impl BufRead) {
    let note = |name: &str, line: &str| {
        let path = folder.join(name);
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    };
    let url = env::var("OPENAI_BASE_URL").unwrap();
    let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut client = Client::new(host.parse().unwrap());
    let own = format!("n{}", std::process::id());
    let mut messages = vec![json!({"role": "user", "content": own})];
    for turn in 0..turns {
        let body = json!({"model": "m", "messages": messages}).to_string();
        let head = format!(
            "POST /{path}/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n",
            env::var("OPENAI_API_KEY").unwrap()
        );
        let answer = client.ask(&framed(&head, body.as_bytes(), Framed::Length), false);
        let Ok(Some(answer)) = answer else { return };
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        note("got", &answer.to_string());
        let message = answer["choices"][0]["message"].clone();
        let function = &message["tool_calls"][0]["function"];
        let arguments: Value =
            serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
        let _ = input.write_all(call(turn, arguments["text"].as_str().unwrap()).as_bytes());
        let mut line = String::new();
        if output.read_line(&mut line).unwrap_or_default() == 0 {
            return;
        }
        note("noted", line.trim_end());
        let result = json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": line});
        messages.extend([message, result]);
    }
}

/// A relay with a session of its own.
pub fn relay(numbers: &mut Numbers, counts: &mut Counts) {
    let home = Home::new();
    home.write("server.sh", SERVER);
    let relayed = |journal: &str| {
        let words = ["mcp", "--name", "own", "--journal", journal, "--", "sh", "server.sh"];
        let mut command = home.command(&words);
        command.env("API_KEY", KEYS[2]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let mut relay = relayed("j.jsonl");
    let (mut input, output) = (relay.stdin.take().unwrap(), relay.stdout.take().unwrap());
    let (begun, mut output) = (AtomicBool::new(false), BufReader::new(output));
    let (shown, is_killed) = thread::scope(|scope| {
        let begun = &begun;
        let client = scope.spawn(move || {
            for turn in 0.. {
                let mut line = String::new();
                let is_said = input.write_all(call(turn, &format!("n{turn}")).as_bytes()).is_ok();
                if !is_said || output.read_line(&mut line).unwrap_or_default() == 0 {
                    return turn;
                }
                begun.store(true, Ordering::Relaxed);
            }
            0
        });
        wait_for_moment(numbers, || begun.load(Ordering::Relaxed));
        let is_killed = kill(relay, &home);
        (client.join().unwrap(), is_killed)
    });
    let known = events(&home, "j.jsonl", "ToolCallFinished");
    assert!(known.unwrap_or_default() >= shown, "{known:?} of {shown} results are in the journal");
    counts.early += usize::from(known.is_none());
    let writes = expect_once(&home);
    assert!(writes >= shown, "{writes} of {shown}");
    let mut again = relayed("j.2.jsonl");
    again.stdin.take().unwrap().write_all(call(1, "last").as_bytes()).unwrap();
    let out = again.wait_with_output().unwrap();
    assert!(out.status.success() && out.stdout.ends_with(b"noted last\"}]}}\n"), "{out:?}");
    count(counts, is_killed, shown, expect_once(&home));
    after::expect_no_process(&home);
    after::expect_no_key(&home, &KEYS, &[]);
}

/// Uses that an import adds.
const USES: usize = 3000;

/// An import of past uses: all of them are there after it, or none.
pub fn import(numbers: &mut Numbers, counts: &mut Counts) {
    let home = Home::new();
    let uses = (0..USES).map(|n| format!("{{\"query\":\"weather in city {n}\",\"tool\":\"forecast\",\"parameters\":{{\"n\":{n}}},\"result\":\"rain\",\"helpful\":true}}\n"));
    home.write("uses.jsonl", uses.collect::<String>());
    let words = ["experience", "import", "uses.jsonl", "--file", "past.db"];
    let mut command = home.command(&words);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_moment(numbers, || home.path("past.db").exists());
    let is_killed = kill(child, &home);
    let there = |home: &Home| match home.path("past.db").exists() {
        true => home.succeed(&["experience", "export", "--file", "past.db"]).lines().count(),
        false => 0,
    };
    let before = there(&home);
    assert!(before == 0 || before == USES, "{before} of {USES} uses are there");
    counts.early += usize::from(before == 0);
    if before == 0 {
        home.succeed(&words);
        assert_eq!(there(&home), USES);
    }
    count(counts, is_killed, before, 0);
    after::expect_no_process(&home);
}
