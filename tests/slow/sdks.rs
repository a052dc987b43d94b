//! The official SDKs of Python and Node read what our codecs write, and our codecs read what the SDKs send.
//! `scripts/sdks.sh` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolyard::domain::{Finish, Message, Reply, ToolCall, Usage};
use toolyard::wire::{AnswerForm, Answering, FunctionNames, WireFormat};

use crate::fake_endpoint::{Fake, Script, response, send, stream_head};

const EVENTS: AnswerForm = AnswerForm::Events;
const FORMATS: [(&str, WireFormat); 3] = [
    ("chat", WireFormat::Chat),
    ("responses", WireFormat::Responses),
    ("messages", WireFormat::Messages),
];

/// The programs that ask, and what starts them.
fn sdks() -> Vec<(&'static str, PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = root.join("target/sdks");
    let python = installed.join("python/bin/python");
    let node = installed.join("node/read.mjs");
    let mut found = Vec::new();
    if installed.join("python/done").exists() {
        found.push(("python", python, root.join("tests/sdks/read.py")));
    }
    if installed.join("node/done").exists() {
        std::fs::copy(root.join("tests/sdks/read.mjs"), &node).unwrap();
        found.push(("node", "node".into(), node));
    }
    for name in ["python", "node"] {
        if !found.iter().any(|(known, ..)| *known == name) {
            eprintln!("SKIPPED: the SDKs of {name} are not in target/sdks: run scripts/sdks.sh");
        }
    }
    found
}

/// What each SDK says of this answer, and the bodies that it sent.
fn asked(format: &str, mode: &str, script: impl Fn() -> Script) -> Vec<(String, Value, Vec<u8>)> {
    let mut all = Vec::new();
    for (name, program, file) in sdks() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (said, bodies) = runtime.block_on(async {
            let fake = Fake::start(vec![script()]).await;
            let (format, mode, url) = (format.to_owned(), mode.to_owned(), fake.url.clone());
            let run = move || {
                let mut command = Command::new(program);
                command.arg(file).args([&format, &url, &mode]).output().unwrap()
            };
            (tokio::task::spawn_blocking(run).await.unwrap(), fake.bodies())
        });
        let printed = String::from_utf8_lossy(&said.stdout).into_owned();
        let value = serde_json::from_str(&printed);
        let value = value.unwrap_or_else(|_| {
            panic!("{name} {format} {mode}: {printed}{}", String::from_utf8_lossy(&said.stderr))
        });
        let body = bodies.first().map(Value::to_string).unwrap_or_default();
        all.push((format!("{name} {format} {mode}"), value, body.into_bytes()));
    }
    all
}

fn whole(body: &str) -> Script {
    response("200 OK", "content-type: application/json\r\n", body)
}

fn frames(text: &str) -> Script {
    vec![stream_head(), send(text)]
}

fn two_calls() -> Reply {
    let call = |id: &str, city: &str| ToolCall {
        id: id.into(),
        tool: "weather".into(),
        arguments: json!({"city": city}),
    };
    let usage = Usage { tokens_in: 30, tokens_out: 12, cached: 8, ..Usage::default() };
    let calls = vec![call("call_a", "Oslo"), call("call_b", "Bergen \"west\" é")];
    Reply { calls, finish: Finish::Calls, usage, ..Reply::of_text("I look twice.") }
}

#[test]
fn the_sdks_read_what_we_write() {
    let refused = Reply { finish: Finish::Refused, ..Reply::of_text("I will not.") };
    let cut = Reply { finish: Finish::Length, ..Reply::of_text("It is") };
    let names = FunctionNames::default();
    let answering = Answering { id: "a1", model: "m", names: &names, created: 1 };
    for (name, format) in FORMATS {
        for reply in [Reply::of_text("Hello \u{1F31E}."), two_calls(), refused.clone(), cut.clone()]
        {
            let calls = reply.calls.iter();
            let calls: Vec<Value> =
                calls.map(|call| json!([call.id, call.tool, call.arguments])).collect();
            for mode in ["whole", "stream"] {
                let script = || match mode {
                    "whole" => whole(&format.write_answer(&reply, &answering, AnswerForm::Whole)),
                    _ => frames(&format.write_answer(&reply, &answering, EVENTS)),
                };
                for (which, said, _) in asked(name, mode, script) {
                    // The SDK of chat raises an error of its own for an answer that is cut.
                    if said["error"] == "LengthFinishReasonError" {
                        assert_eq!(reply.finish, Finish::Length, "{which}");
                        continue;
                    }
                    assert_eq!(said["text"], reply.text.as_str(), "{which}: {said}");
                    assert_eq!(said["calls"], Value::from(calls.clone()), "{which}: {said}");
                    assert_eq!(said["finish"], finish(format, &reply.finish), "{which}: {said}");
                }
            }
        }
    }
}

/// How a format says that an answer ended.
fn finish(format: WireFormat, finish: &Finish) -> &'static str {
    match (format, finish) {
        (WireFormat::Chat, Finish::Calls) => "tool_calls",
        (WireFormat::Chat, Finish::Length) => "length",
        (WireFormat::Chat, _) => "stop",
        (WireFormat::Responses, Finish::Length) => "max_output_tokens",
        (WireFormat::Responses, _) => "completed",
        (WireFormat::Messages, Finish::Calls) => "tool_use",
        (WireFormat::Messages, Finish::Length) => "max_tokens",
        (WireFormat::Messages, Finish::Refused) => "refusal",
        (WireFormat::Messages, _) => "end_turn",
        // No answer of an SDK has this finish: `FORMATS` has the formats of these SDKs.
        (WireFormat::Gemini | WireFormat::Ollama | WireFormat::Generate, _) => "not spoken",
    }
}

#[test]
fn the_sdks_raise_what_we_write_as_an_error() {
    let names = FunctionNames::default();
    let answering = Answering { id: "a1", model: "m", names: &names, created: 1 };
    for (name, format) in FORMATS {
        let refused = || {
            let body = format.write_error(429, "slow down");
            response("429 Too Many Requests", "content-type: application/json\r\n", &body)
        };
        for (which, said, _) in asked(name, "whole", refused) {
            assert_eq!(said["error"], "RateLimitError", "{which}: {said}");
            assert!(said["said"].as_str().unwrap().contains("slow down"), "{which}: {said}");
        }
        let begun = format.write_answer(&Reply::of_text("It was"), &answering, EVENTS);
        let begin = begun.split_inclusive("\n\n").take(2).collect::<String>();
        let event = format.write_error_event(529, "overloaded now", (EVENTS, false));
        let broken = || frames(&(begin.clone() + &event));
        for (which, said, _) in asked(name, "stream", broken) {
            assert!(said["error"].is_string(), "{which}: {said}");
            assert!(said["said"].as_str().unwrap().contains("overloaded now"), "{which}: {said}");
        }
    }
}

#[test]
fn we_read_what_the_sdks_send() {
    let names = FunctionNames::default();
    let answering = Answering { id: "a1", model: "m", names: &names, created: 1 };
    for (name, format) in FORMATS {
        let script = || frames(&format.write_answer(&Reply::of_text("Rain."), &answering, EVENTS));
        for (which, said, body) in asked(name, "long", script) {
            assert_eq!(said["text"], "Rain.", "{which}: {said}");
            let asked = format.read_request(&body).unwrap();
            assert_eq!((asked.model.as_str(), asked.streams), ("m", true), "{which}");
            assert_eq!(asked.unknown, Default::default(), "{which}");
            let request = &asked.request;
            assert_eq!(request.tools[0].name.as_str(), "weather", "{which}");
            assert_eq!(request.tools[0].parameters["required"], json!(["city"]), "{which}");
            let messages: Vec<_> = request.messages.iter().collect();
            let [system, user, assistant, result] = messages[..] else {
                panic!("{which}: {request:#?}")
            };
            assert_eq!(*system, Message::system("Be brief."), "{which}");
            assert_eq!(user.text(), "What is it?", "{which}");
            assert_eq!(user.blocks()[1].label().unwrap(), "[image 9 B]", "{which}");
            let Message::Assistant { text, calls, .. } = assistant else { panic!("{which}") };
            let call = ToolCall {
                id: "call_1".into(),
                tool: "weather".into(),
                arguments: json!({"city": "Oslo"}),
            };
            assert_eq!((text.as_str(), &calls[..]), ("I look.", &[call][..]), "{which}");
            assert_eq!(*result, Message::result("call_1", "weather".into(), "rain"), "{which}");
            let text = String::from_utf8(body).unwrap();
            assert_eq!(&text[asked.results[0].range.clone()], "\"rain\"", "{which}");
            let arguments = &text[asked.calls[0].range.clone()];
            assert!(arguments.contains("Oslo"), "{which}: {arguments}");
        }
    }
}
