//! The strict endpoint: it takes a request only if every known one would, and gives with calls what it wants back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::{rc::Rc, time::Duration};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use toolyard::domain::ToolMode;
use toolyard::model::{Model, hosted::Hosted, http::Endpoint};

use super::rules::{faults, word};
use crate::fake_endpoint::read;

/// What an endpoint gave with calls and wants back, by the ids of calls.
pub(super) type Given = HashMap<String, (Value, Value)>;

/// A strict endpoint.
#[derive(Clone, Default)]
pub(super) struct Strict {
    pub url: String,
    pub seen: Arc<Mutex<Vec<Value>>>,
    faults: Arc<Mutex<Vec<String>>>,
    given: Arc<Mutex<Given>>,
    /// It refuses these fields.
    refused: &'static [&'static str],
    /// It refuses these words in the schemas of tools.
    words: &'static [&'static str],
}

impl Strict {
    /// Starts one whose ids begin with this letter.
    pub async fn start(letter: char, refused: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        Self { url, refused, ..Self::default() }.serve(letter, listener)
    }

    /// Starts one that refuses these words in the schemas of tools.
    pub async fn without_words(words: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        Self { url, words, ..Self::default() }.serve('a', listener)
    }

    fn serve(self, letter: char, listener: TcpListener) -> Self {
        let server = self.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let body = read(&mut stream).await.body;
                let (status, answer) = server.answer(letter, &body);
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
                     content-length: {}\r\n\r\n",
                    answer.len()
                );
                let _ = stream.write_all(format!("{head}{answer}").as_bytes()).await;
            }
        });
        self
    }

    fn answer(&self, letter: char, body: &Value) -> (&'static str, String) {
        if let Some(field) = self.refused.iter().find(|field| body.get(**field).is_some()) {
            let message =
                format!("Unsupported parameter: '{field}' is not supported with this model.");
            let error = json!({"error": {"message": message, "param": field, "code": "unsupported_parameter"}});
            return ("400 Bad Request", error.to_string());
        }
        if let Some((at, word)) = word(body, self.words) {
            // As Gemini says it.
            let place = format!("tools[{at}].function_declarations[0].parameters");
            let message = format!(
                "Invalid JSON payload received. Unknown name \"{word}\" at '{place}': Cannot find field."
            );
            let error =
                json!([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]);
            return ("400 Bad Request", error.to_string());
        }
        let mut given = self.given.lock().unwrap();
        let found = faults(body, &given, letter);
        let mut seen = self.seen.lock().unwrap();
        seen.push(body.clone());
        if !found.is_empty() {
            self.faults.lock().unwrap().extend(found.iter().cloned());
            let error = json!({"error": {"message": found.join("; "), "code": "bad_request"}});
            return ("400 Bad Request", error.to_string());
        }
        let message = reply(body, letter, seen.len());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if let Some(id) = call["id"].as_str() {
                let kept = (message["reasoning_content"].clone(), call["extra_content"].clone());
                given.insert(id.to_owned(), kept);
            }
        }
        let finish = if message.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
        let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4}});
        ("200 OK", answer.to_string())
    }

    pub fn expect_no_faults(&self, what: &str) {
        self.expect_takes(what);
        assert!(!self.seen.lock().unwrap().is_empty(), "{what}: nothing was asked");
    }

    /// As [`Self::expect_no_faults`], also where nothing was asked.
    pub fn expect_takes(&self, what: &str) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "{what}: {faults:#?}");
    }

    pub fn model(&self, name: &str, mode: ToolMode) -> Rc<dyn Model> {
        let mut endpoint = Endpoint::new(name, &self.url, "gpt-x");
        (endpoint.mode, endpoint.structured) = (mode, true);
        (endpoint.max_retries, endpoint.silence_timeout) = (0, Duration::from_secs(5));
        Rc::new(Hosted::new(endpoint).unwrap())
    }
}

/// A reply for any role: an empty one first, then calls with and without ids, then an end.
fn reply(body: &Value, letter: char, n: usize) -> Value {
    let messages = body["messages"].as_array().unwrap();
    let prompt: String = messages.iter().filter_map(|it| it["content"].as_str()).collect();
    let system = messages[0]["content"].as_str().unwrap_or_default();
    let say =
        |text: &str| json!({"role": "assistant", "content": text, "reasoning_content": "Hm."});
    let results = messages.iter().filter(|it| it["role"] == "tool").count();
    let names: Vec<&str> = body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    if names.contains(&"echo") && results < 3 {
        if n % 4 == 1 {
            return say("");
        }
        let call = |id: Option<String>, arguments: &str| {
            let mut call = json!({"type": "function", "function": {"name": "echo", "arguments": arguments},
                "extra_content": {"google": {"thought_signature": format!("c{n}")}}});
            if let Some(id) = id {
                call["id"] = id.into();
            }
            call
        };
        let own = format!("{letter}{n:08}");
        let calls = match n % 3 {
            0 => vec![call(Some(own), r#"{"text": "hello"}"#), call(None, "null")],
            1 => vec![call(None, r#"{"text": "hi"}"#)],
            _ => vec![call(Some(own), r#"{"text": "#)],
        };
        return json!({"role": "assistant", "content": "", "tool_calls": calls,
            "reasoning_content": format!("I think {n}.")});
    }
    if names.contains(&"Finish") && results < 5 {
        let arguments = json!({"gave_up": true}).to_string();
        let call = json!({"id": format!("{letter}{n:08}"), "type": "function",
            "function": {"name": "Finish", "arguments": arguments}});
        return json!({"role": "assistant", "content": null, "tool_calls": [call]});
    }
    if prompt.contains("You can use these tools") {
        return match n % 3 {
            0 => say(""),
            1 => say("Thought: I look.\nAction: echo\nAction Input: {\"text\": \"hello\"}"),
            _ => say("Thought: I know.\nFinal Answer: done"),
        };
    }
    if system.contains("JSON") {
        return say(
            r#"{"helpful": true, "better": 1, "right": true, "reason": "yes", "classes": {"echo": "Test"},
                "scores": [{"tool": "echo", "score": 1, "reason": "x"}],
                "plans": [{"plan": "a", "evidence": [{"id": 1, "tool": "echo", "input": "x"}]}]}"#,
        );
    }
    match (system.contains("Python"), n % 3) {
        // No tool is to blame by what the program does.
        (true, _) if messages.len() < 4 => {
            say("```python\nfound = echo(text=\"hello\")\nprint(1 / 0)\n```")
        }
        (_, 0) => say(""),
        (true, _) => say("```python\nprint(echo(text=\"hello\"))\n```"),
        (false, _) => say("Plan: a\n#E1 = echo[{\"text\": \"x\"}]"),
    }
}
