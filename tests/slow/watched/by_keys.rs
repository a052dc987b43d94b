//! A person holds and changes what a watched agent sends and reads, with keys alone.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::{Finish, Reply, ToolCall};
use toolyard::wire::{IncomingRequest, WireFormat};

use super::http::Message;
use super::started::post;
use super::upstream::{Upstream, upstream};
use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};

/// How long the client of the agent waits. It is held for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks for the weather, and says what it reads of it.
pub fn forecast(_: WireFormat, asked: &IncomingRequest, number: usize) -> Reply {
    let last = asked.request.messages.last().unwrap();
    if asked.results.is_empty() {
        let (id, arguments) = (format!("call_{number}"), json!({"city": "Oslo"}));
        let call = ToolCall { id, tool: "weather".into(), arguments };
        return Reply { calls: vec![call], finish: Finish::Calls, ..Reply::of_text("Let me see.") };
    }
    Reply::of_text(format!("They say: {}", last.text()))
}

/// An agent that asks two models in turn, and what its tool gets.
pub fn agent(port: u16) -> (Vec<Value>, String) {
    let function = json!({"name": "weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}});
    let mut messages = vec![json!({"role": "user", "content": "How is the weather?"})];
    let mut got = Vec::new();
    loop {
        let tools = json!([{"type": "function", "function": function}]);
        let body = json!({"model": "m", "messages": messages, "tools": tools}).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let patience = format!("x-stainless-read-timeout: {}\r\n", PATIENCE.as_secs_f64());
        stream.write_all(&post("/v1/chat/completions", &patience, &body)).unwrap();
        let answer = Message::read(&mut stream, &mut Vec::new()).unwrap().unwrap();
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let message = &answer["choices"][0]["message"];
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            return (got, message["content"].as_str().unwrap().to_owned());
        };
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let result = format!("rain in {}", arguments["city"].as_str().unwrap());
            got.push(arguments);
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A watched agent on a screen of this size.
struct Shown {
    sitting: Sitting,
    endpoint: Upstream,
    port: u16,
    _home: Home,
}

fn shown((columns, rows): (u16, u16), more: &[&str]) -> Shown {
    let (home, port, endpoint) = (Home::new(), free_port(), upstream(Arc::new(forecast)));
    let listen = format!("127.0.0.1:{port}");
    let words = [crate::PROGRAM, "watch", "--no-journal", "--listen", &listen];
    let url = format!("http://{}/v1", endpoint.address);
    let words = [&words[..], more].concat();
    let sitting = Sitting::of(&home, columns, rows, &words, &[("OPENAI_BASE_URL", &url)]);
    sitting.wait("requests here are in the pane Output");
    Shown { sitting, endpoint, port, _home: home }
}

impl Shown {
    fn end(mut self) {
        self.sitting.press("qy");
        let (_, bytes) = self.sitting.end();
        assert_harmless(&bytes);
    }
}

#[test]
fn a_person_answers_a_call_that_the_agent_never_sees() {
    for size in [(80, 24), (120, 40)] {
        let mut shown = shown(size, &["--skip", "--break", "weather:before"]);
        let port = shown.port;
        let worked = thread::spawn(move || agent(port));
        shown.sitting.wait_header("HELD");
        shown.sitting.press("a");
        shown.sitting.wait("in its place");
        shown.sitting.press("snow\x07");
        shown.sitting.wait("They say: snow");
        let (got, answer) = worked.join().unwrap();
        assert_eq!((got, answer.as_str()), (Vec::new(), "They say: snow"));
        assert_eq!(shown.endpoint.record.lock().unwrap().len(), 2, "the model was asked on");
        shown.end();
    }
}

#[test]
fn a_person_changes_the_call_and_the_result_of_a_foreign_agent() {
    for size in [(80, 24), (120, 40)] {
        let mut shown = shown(size, &["--break", "weather:before", "--break", "weather:after"]);
        let (port, sitting) = (shown.port, &mut shown.sitting);
        let worked = thread::spawn(move || agent(port));
        sitting.wait_header("HELD");
        thread::sleep(PATIENCE);
        if size.0 >= 120 {
            sitting.wait("kept alive");
        }
        sitting.press("e");
        sitting.wait("Edit the arguments of call");
        sitting.wait("the model remembers the edited call");
        // From the end of the value: another city, in place of the first one.
        sitting.press("\x1b[B\x1b[F\x7f\x7f\x7f\x7f\x7fBonn\"\x07");
        sitting.wait("rain in Bonn");
        sitting.wait_header("HELD");
        sitting.press("e");
        sitting.wait("Edit the result of call");
        sitting.press("\x1b[F\x7f\x7f\x7f\x7fParis\x07");
        sitting.wait("They say: rain in Paris");
        let (got, answer) = worked.join().unwrap();
        assert_eq!(got, [json!({"city": "Bonn"})], "the real function");
        assert_eq!(answer, "They say: rain in Paris");
        let asked = shown.endpoint.record.lock().unwrap().len();
        assert_eq!(asked, 2, "each request was sent once");
        shown.end();
    }
}
