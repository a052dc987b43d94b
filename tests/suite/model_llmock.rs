//! The client under a grader that was not written here: `llmock` (PyPI) breaks a model's answers in
//! known ways and judges from the other side whether the client coped.
//!
//! Opt-in by being installed: by `scripts/sdks.sh`, on the `PATH`, or named by `TOOLYARD_LLMOCK`. Everything stays on
//! this machine. Without it this test is skipped, loudly.

use std::process::{Child, Command, Stdio};
use std::{net::TcpListener, time::Duration};

use serde_json::{Value, json};
use toolyard::domain::{
    Finish, Message, ModelError, ModelErrorKind, Reply, Request, Role, ToolDef,
};
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};
use toolyard::wire::WireFormat;

/// The grader, running until dropped.
struct Llmock {
    program: String,
    url: String,
    server: Child,
}

impl Drop for Llmock {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing is left running.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The grader of `scripts/sdks.sh`, or one on the path.
fn installed() -> String {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/target/sdks/python/bin/llmock");
    if std::path::Path::new(own).exists() { own.into() } else { "llmock".into() }
}

impl Llmock {
    async fn start() -> Option<Self> {
        let program = std::env::var("TOOLYARD_LLMOCK").unwrap_or_else(|_| installed());
        // npm has another program of this name, which cannot report.
        let help = Command::new(&program).args(["report", "--help"]).output();
        if !help.is_ok_and(|help| help.status.success()) {
            eprintln!("SKIPPED: this test needs the grader `llmock`: run scripts/sdks.sh");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(&program)
            .args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()])
            // As slow as a model: otherwise all of an answer is sent before anybody can hang up.
            .args(["--stream-chunk-delay-ms", "20", "--log-level", "warning"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let grader = Self { program, url: format!("http://127.0.0.1:{port}"), server };
        let until = std::time::Instant::now() + Duration::from_secs(30);
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(std::time::Instant::now() < until, "llmock did not start");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Some(grader)
    }

    async fn breaks(&self, fault: Value) {
        let body = json!({"behaviors": [fault]}).to_string();
        let url = format!("{}/_llmock/scenario", self.url);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.post(url).body(body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201, "{}", answer.text().await.unwrap());
    }

    fn report(&self) -> (bool, String) {
        let report = Command::new(&self.program)
            .args(["report", "--strict", "--url", &self.url])
            .output()
            .unwrap();
        (report.status.success(), String::from_utf8_lossy(&report.stdout).into_owned())
    }
}

fn request(text: &str) -> Request {
    Request::new(Role::Actor, vec![Message::user(text)])
}

fn with_tool(text: &str) -> Request {
    let parameters = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let description = "The weather of a city.".into();
    let tool = ToolDef { name: "weather.now".into(), description, parameters: parameters.into() };
    Request { tools: vec![tool].into(), ..request(text) }
}

async fn ask(model: &Hosted, request: &Request) -> (Result<Reply, ModelError>, u32) {
    let mut retries = 0;
    let mut count =
        |progress| retries += u32::from(matches!(progress, ModelProgress::Retrying { .. }));
    let reply = model.ask(request, &mut count).await;
    (reply, retries)
}

/// Asks as an agent does: an answer that broke off after some text is asked for again, knowingly,
/// and not at once, so that the server has seen the first connection go.
async fn ask_until_whole(model: &Hosted, request: &Request) -> (Reply, ModelError) {
    let broken = ask(model, request).await.0.unwrap_err();
    assert!(!broken.partial.is_empty(), "{broken}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    (ask(model, request).await.0.unwrap(), broken)
}

#[tokio::test]
async fn llmock_finds_nothing_to_complain_about_in_chat() {
    graded(WireFormat::Chat, "", "gpt-4o", 3).await;
}

#[tokio::test]
async fn llmock_finds_nothing_to_complain_about_in_responses() {
    graded(WireFormat::Responses, "", "gpt-4o", 6).await;
}

#[tokio::test]
async fn llmock_finds_nothing_to_complain_about_in_messages() {
    graded(WireFormat::Messages, "/anthropic", "claude-sonnet-4-6", 4).await;
}

/// `text_after`: the number of chunks of a stream after which there is some text.
async fn graded(format: WireFormat, below: &str, name: &str, text_after: u32) {
    let Some(grader) = Llmock::start().await else { return };
    let mut endpoint = Endpoint::new("mock", format!("{}{below}/v1", grader.url), name);
    (endpoint.format, endpoint.silence_timeout) = (format, Duration::from_secs(1));
    let model = Hosted::new(endpoint.clone()).unwrap();
    assert!(model.reachable().await.unwrap().text.contains(&format!("has {name:?}")));

    // Plain, streamed and not.
    let (reply, retries) = ask(&model, &request("one")).await;
    let reply = reply.unwrap();
    assert!(!reply.text.is_empty() && !reply.usage.estimated && retries == 0);
    let whole = Hosted::new(Endpoint { stream: false, ..endpoint }).unwrap();
    assert_eq!(ask(&whole, &request("one")).await.0.unwrap().text, reply.text);

    // A tool call, and its result given back.
    let mut conversation = with_tool("What is the weather in Oslo?");
    let called = ask(&model, &conversation).await.0.unwrap();
    assert_eq!((called.finish, called.calls[0].tool.as_str()), (Finish::Calls, "weather.now"));
    assert!(called.calls[0].arguments["city"].is_string());
    let id = called.calls[0].id.clone();
    conversation.messages.push(Message::Assistant {
        text: called.text,
        calls: called.calls,
        source: called.source,
    });
    let tool = "weather.now".into();
    conversation.messages.push(Message::result(id, tool, "rain"));
    assert_eq!(ask(&model, &conversation).await.0.unwrap().finish, Finish::Stop);

    // Refusals that pass, and one that does not.
    grader.breaks(json!({"type": "fail", "status": 429, "retry_after": 1.2, "times": 2})).await;
    assert_eq!(ask(&model, &request("limited")).await.1, 2);
    grader.breaks(json!({"type": "fail", "status": 500, "times": 3})).await;
    assert_eq!(ask(&model, &request("failing")).await.1, 3);
    for status in [400, 401, 404, 422] {
        grader.breaks(json!({"type": "fail", "status": status})).await;
        let (reply, retries) = ask(&model, &request(&format!("refused with {status}"))).await;
        assert!(reply.is_err() && retries == 0);
    }

    // Streams that break before any text are asked for again here, those after text by the asker.
    let kinds = [
        ("truncate", ModelErrorKind::BadAnswer),
        ("disconnect", ModelErrorKind::Connection),
        ("malformed", ModelErrorKind::BadAnswer),
        ("stall", ModelErrorKind::Timeout),
    ];
    for (kind, expected) in kinds {
        let fault = |after| json!({"type": "stream_fault", "kind": kind, "after_chunks": after, "stall_seconds": 3});
        grader.breaks(fault(1)).await;
        let (reply, retries) = ask(&model, &request(&format!("{kind} before text"))).await;
        assert!(reply.is_ok() && retries == 1, "{kind}: {reply:?}");
        grader.breaks(fault(text_after)).await;
        let (_, broken) = ask_until_whole(&model, &request(&format!("{kind} after text"))).await;
        assert_eq!(broken.kind, expected, "{broken}");
    }

    // Broken calls are the agent's to see.
    grader.breaks(json!({"type": "tool_fault", "kind": "malformed_arguments"})).await;
    let odd = ask(&model, &with_tool("Weather, with odd arguments?")).await.0.unwrap();
    assert!(odd.calls[0].arguments.is_string(), "{odd:?}");
    grader.breaks(json!({"type": "tool_fault", "kind": "unknown_tool"})).await;
    let odd = ask(&model, &with_tool("Weather, from an unknown tool?")).await.0.unwrap();
    assert_ne!(odd.calls[0].tool.as_str(), "weather.now");

    let (clean, report) = grader.report();
    assert!(clean, "{report}");
    eprintln!("{report}");
}
