//! The agent and its model. The model is a scripted one that adds up what its tools return; ids repeat in all conversations.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::watched::http::Message;
use crate::watched::started::post;

/// The first word of questions for which the model has a second tool.
pub const CAREFUL: &str = "Careful";

/// The most calls of one answer.
const AT_ONCE: usize = 2;

pub type Asked = Arc<Mutex<Vec<Value>>>;

/// The model's answer to these messages: the calls that are left, some at a time, and then the sum.
fn reply(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    let question = messages[0]["content"].as_str().unwrap();
    let numbers: Vec<&str> = question.split(' ').skip(1).collect();
    if question.starts_with(CAREFUL) {
        return careful(messages, &numbers);
    }
    let results: Vec<i64> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().parse().unwrap_or(-1000))
        .collect();
    let left = &numbers[results.len().min(numbers.len())..];
    if left.is_empty() {
        return json!({"role": "assistant", "content": results.iter().sum::<i64>().to_string()});
    }
    let call = |(n, number): (usize, &&str)| {
        let arguments = json!({"n": number.parse::<i64>().unwrap()}).to_string();
        json!({"index": n, "id": format!("c{n}"), "type": "function",
            "function": {"name": "look", "arguments": arguments}})
    };
    let calls: Vec<_> = left.iter().take(AT_ONCE).enumerate().map(call).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

/// As [`reply`], one call at a time: what `look` does not read is asked of `peek`.
fn careful(messages: &[Value], numbers: &[&str]) -> Value {
    let (mut sum, mut done, mut tool) = (0, 0, "look");
    for message in messages {
        if let Some(call) = message["tool_calls"].get(0) {
            tool = if call["function"]["name"] == "peek" { "peek" } else { "look" };
        } else if message["role"] == "tool" {
            match (message["content"].as_str().unwrap().parse::<i64>(), tool) {
                (Ok(number), _) => (sum, done, tool) = (sum + number, done + 1, "look"),
                (Err(_), "look") => tool = "peek",
                (Err(_), _) => (sum, done, tool) = (sum - 1000, done + 1, "look"),
            }
        }
    }
    let Some(number) = numbers.get(done) else {
        return json!({"role": "assistant", "content": sum.to_string()});
    };
    let arguments = json!({"n": number.parse::<i64>().unwrap()}).to_string();
    let function = json!({"name": tool, "arguments": arguments});
    let call = json!({"index": 0, "id": "c0", "type": "function", "function": function});
    json!({"role": "assistant", "content": null, "tool_calls": [call]})
}

pub fn endpoint() -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), Asked::default());
    let kept = Arc::clone(&asked);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, kept) = (client.unwrap(), Arc::clone(&kept));
            thread::spawn(move || {
                let Ok(Some(request)) = Message::read(&mut client, &mut Vec::new()) else { return };
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                let (message, streams) = (reply(&body), body["stream"] == true);
                kept.lock().unwrap().push(body);
                let finish = if message["tool_calls"].is_null() { "stop" } else { "tool_calls" };
                let part = if streams { "delta" } else { "message" };
                let choice = json!({"index": 0, "finish_reason": finish, part: message});
                let whole = json!({"id": "x", "model": "m", "choices": [choice],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
                let (kind, said) = match streams {
                    true => ("text/event-stream", format!("data: {whole}\n\ndata: [DONE]\n\n")),
                    false => ("application/json", whole.to_string()),
                };
                let _ = write!(
                    client,
                    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
                    said.len()
                );
            });
        }
    });
    (address, asked)
}

/// The message of an answer, whether it came as a stream or not.
fn message(body: &str, streams: bool) -> Value {
    if !streams {
        return serde_json::from_str::<Value>(body).unwrap()["choices"][0]["message"].clone();
    }
    let (mut content, mut calls) = (String::new(), BTreeMap::<u64, Value>::new());
    for line in body.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let Ok(chunk) = serde_json::from_str::<Value>(line) else { continue };
        let delta = &chunk["choices"][0]["delta"];
        content += delta["content"].as_str().unwrap_or_default();
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let call = calls.entry(part["index"].as_u64().unwrap()).or_insert_with(
                || json!({"type": "function", "function": {"name": "", "arguments": ""}}),
            );
            if let Some(id) = part["id"].as_str() {
                call["id"] = id.into();
            }
            for field in ["name", "arguments"] {
                let more = part["function"][field].as_str().unwrap_or_default();
                call["function"][field] =
                    (call["function"][field].as_str().unwrap().to_owned() + more).into();
            }
        }
    }
    match calls.is_empty() {
        true => json!({"role": "assistant", "content": content}),
        false => {
            json!({"role": "assistant", "content": null, "tool_calls": calls.into_values().collect::<Vec<_>>()})
        }
    }
}

/// Not a test, but the agent, when it is started as one: it asks all questions at once, and its tool writes down its calls.
#[test]
fn the_agent() {
    let Ok(questions) = std::env::var("AGENT_QUESTIONS") else { return };
    let base = std::env::var("OPENAI_BASE_URL").unwrap();
    let address: SocketAddr = base["http://".len()..].split('/').next().unwrap().parse().unwrap();
    let path = base["http://".len()..].split_once('/').unwrap().1;
    let path = format!("/{path}/chat/completions");
    let streams = std::env::var("AGENT_STREAMS").is_ok();
    let other = std::env::var("OTHER_RESULTS").unwrap_or_default();
    let other: Vec<&str> = other.split(' ').collect();
    let one = |question: &str| {
        let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let tool = |name: &&str| {
            json!({"type": "function",
                "function": {"name": name, "description": "Looks.", "parameters": parameters}})
        };
        let names = if question.starts_with(CAREFUL) { &["look", "peek"][..] } else { &["look"] };
        let tools: Value = names.iter().map(tool).collect();
        let mut messages = vec![json!({"role": "user", "content": question})];
        loop {
            let body =
                json!({"model": "m", "messages": messages, "tools": tools, "stream": streams});
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(&post(&path, "connection: close\r\n", &body.to_string())).unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            let (answer, _) = Message::take(&bytes).unwrap();
            let said = message(&String::from_utf8(answer.body).unwrap(), streams);
            messages.push(said.clone());
            let calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
            if calls.is_empty() {
                println!("said: {question} = {}", said["content"].as_str().unwrap());
                return;
            }
            for call in calls {
                let arguments = call["function"]["arguments"].as_str().unwrap();
                let n = serde_json::from_str::<Value>(arguments).unwrap()["n"].as_i64().unwrap();
                // An agent that edits files: each call has its own.
                if Path::new("edited").is_dir() {
                    std::fs::write(format!("edited/{n}"), "by the agent").unwrap();
                }
                let result = if other.contains(&&*n.to_string()) { n + 1 } else { n };
                messages.push(json!({"role": "tool", "tool_call_id": call["id"],
                    "content": result.to_string()}));
            }
        }
    };
    thread::scope(|scope| {
        questions.split(';').for_each(|question| drop(scope.spawn(move || one(question))));
    });
}
