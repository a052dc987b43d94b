//! `kill -9` of toolyard in the middle of a stream.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};
use toolyard::domain::{Finish, Reply, ToolCall};

use super::http::Message;
use super::started::{Watch, post};
use super::upstream::{Upstream, upstream};
use crate::program::{Home, text};
use crate::runs::kills::after::expect_no_process;

/// The address that a client asks, and the file of what it got.
const CLIENT: [&str; 2] = ["TOOLYARD_TEST_ADDRESS", "TOOLYARD_TEST_GOT"];

const REQUEST: &str =
    r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Count."}]}"#;

/// An endpoint that counts ten times a second, and never ends.
fn counting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || count(client.unwrap()));
        }
    });
    url
}

fn count(mut client: TcpStream) {
    let _ = Message::read(&mut client, &mut Vec::new());
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut text = head.to_owned();
    for number in 1.. {
        let delta = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{number} "}}}}]}}"#);
        let event = format!("data: {delta}\n\n");
        text += &format!("{:x}\r\n{event}\r\n", event.len());
        if client.write_all(text.as_bytes()).is_err() {
            return;
        }
        text.clear();
        thread::sleep(Duration::from_millis(100));
    }
}

/// The last number that came.
fn last(got: &str) -> usize {
    let numbers =
        got.rsplit(r#""content":""#).filter_map(|rest| rest.split_once(" \"")?.0.parse().ok());
    numbers.take(1).next().unwrap_or(0)
}

/// What the journal says that the model said, up to its last event.
fn journaled(home: &Home) -> usize {
    let replayed = home.succeed(&["replay", text(&home.path("j.jsonl")), "--json", "--full"]);
    let state: Value = serde_json::from_str(&replayed).unwrap();
    let partial = state["asks"][0]["partial"].as_str().unwrap().to_owned();
    partial.split_whitespace().next_back().map_or(0, |number| number.parse().unwrap())
}

#[test]
fn a_client_sees_its_connection_end_when_toolyard_is_killed() {
    let home = Home::new();
    let watch = Watch::start(&home, &[("OPENAI_BASE_URL", counting())]);
    let mut client = watch.connect();
    client.write_all(&post("/v1/chat/completions", "", REQUEST)).unwrap();
    let (mut got, mut chunk) = (String::new(), [0; 4096]);
    while last(&got) < 12 {
        let read = client.read(&mut chunk).unwrap();
        assert!(read > 0, "the stream ended: {got}");
        got += &String::from_utf8_lossy(&chunk[..read]);
    }
    watch.kill();
    let killed = Instant::now();
    let mut rest = Vec::new();
    // Either an end without the last chunk, or an error: each is one for a client.
    let _ = client.read_to_end(&mut rest);
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    assert!(
        !String::from_utf8_lossy(&rest).contains("\r\n0\r\n\r\n"),
        "the stream ended as if it were whole"
    );
    let (journaled, got) = (journaled(&home), last(&got));
    println!("killed: the client got {got}, the journal has {journaled}");
    // An event has what came in a tenth of a second.
    assert!(journaled + 3 >= got, "the client got {got}, the journal has {journaled}");
    expect_no_process(&home);
}

/// An endpoint that asks for the weather, and what it reads of a result.
fn forecaster() -> Upstream {
    upstream(Arc::new(|_, asked, _| match asked.results.is_empty() {
        true => {
            let (id, arguments) = ("call_1".to_owned(), json!({"city": "Oslo"}));
            let call = ToolCall { id, tool: "weather".into(), arguments };
            Reply { calls: vec![call], finish: Finish::Calls, ..Reply::of_text("") }
        }
        false => Reply::of_text(asked.request.messages.last().unwrap().text()),
    }))
}

#[test]
fn what_was_held_and_decided_when_toolyard_was_killed_is_known_after_it() {
    let (home, endpoint) = (Home::new(), forecaster());
    let variables = [("OPENAI_BASE_URL", format!("http://{}/v1", endpoint.address))];
    let arguments = ["--fault", "weather:error:text=down", "--break", "role:actor:after:hits=2"];
    let watch = Watch::with(&home, &variables, &[&arguments[..], &["--hold", "60"]].concat());
    let tool = r#"{"type":"function","function":{"name":"weather"}}"#;
    let mut messages = r#"{"role":"user","content":"How is it?"}"#.to_owned();
    let body =
        |messages: &str| format!(r#"{{"model":"m","tools":[{tool}],"messages":[{messages}]}}"#);
    let answer = watch.ask(&post("/v1/chat/completions", "", &body(&messages)));
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    messages += &format!(",{}", answer["choices"][0]["message"]);
    messages += r#",{"role":"tool","tool_call_id":"call_1","content":"rain"}"#;
    let mut client = watch.connect();
    client.write_all(&post("/v1/chat/completions", "", &body(&messages))).unwrap();
    watch.wait("stopped by breakpoint");
    // The journal has the stop before the hold.
    let begun = Instant::now();
    while !home.read("j.jsonl").contains("\"kind\":\"Held\"") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", home.read("j.jsonl"));
        thread::sleep(Duration::from_millis(2));
    }
    watch.kill();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
    assert!(rest.is_empty(), "the client is told nothing: {}", String::from_utf8_lossy(&rest));

    let read = || {
        let record = endpoint.record.lock().unwrap();
        String::from_utf8_lossy(&record.last().unwrap().request.body).into_owned()
    };
    let before = read();
    assert!(before.contains(r#""content":"down""#), "{before}");
    let journal = home.path("j.jsonl");
    let again = home.path("j.2.jsonl");
    let watch =
        Watch::with(&home, &variables, &["--resume", text(&journal), "--journal", text(&again)]);
    watch.wait("held when toolyard ended: m, call");
    let answer = watch.ask(&post("/v1/chat/completions", "", &body(&messages)));
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "down");
    assert_eq!(read(), before, "what was decided stays so");
}

#[test]
fn an_agent_ends_with_a_toolyard_that_is_killed() {
    let home = Home::new();
    let got = home.path("got");
    let own = env::current_exe().unwrap();
    let line = format!(
        "{}=$OPENAI_BASE_URL exec {} watched::killed::be_a_client --exact --ignored",
        CLIENT[0],
        text(&own)
    );
    let mut command =
        home.command(&["watch", "--headless", "--journal", text(&home.path("j.jsonl"))]);
    command.args(["--", "sh", "-c", &line]);
    command.env("OPENAI_BASE_URL", counting()).env(CLIENT[1], &got);
    let mut toolyard = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let read = || last(&fs::read_to_string(&got).unwrap_or_default());
    while read() < 12 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the agent gets nothing");
        thread::sleep(Duration::from_millis(20));
    }
    toolyard.kill().unwrap();
    toolyard.wait().unwrap();
    expect_no_process(&home);
    let (journaled, got) = (journaled(&home), read());
    println!("killed: the agent got {got}, the journal has {journaled}");
    assert!(journaled + 3 >= got, "the agent got {got}, the journal has {journaled}");
}

#[test]
#[ignore = "is an agent of the test above"]
fn be_a_client() {
    let (Ok(url), Ok(file)) = (env::var(CLIENT[0]), env::var(CLIENT[1])) else { return };
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&post("/v1/chat/completions", "", REQUEST)).unwrap();
    let mut file = fs::File::create(file).unwrap();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut chunk) {
        file.write_all(&chunk[..read]).unwrap();
    }
}
