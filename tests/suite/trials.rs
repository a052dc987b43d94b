//! What an endpoint does with tools: the doctor says it of a configured one and of a server that it finds, and `init`
//! configures it so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolyard::app::doctor::{FindingLevel, Subject, Terminal, Trials, examine};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::program::{Home, Ran};

/// A server whose list has one entry, and which answers every chat with this.
async fn server(entry: Value, chat: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let list = ResponseTemplate::new(200).set_body_json(json!({ "data": [entry] }));
    Mock::given(path("/v1/models")).respond_with(list).mount(&server).await;
    Mock::given(method("POST")).respond_with(chat).mount(&server).await;
    server
}

fn answer(message: Value, prompt_tokens: u64) -> ResponseTemplate {
    let usage = json!({ "prompt_tokens": prompt_tokens, "completion_tokens": 9 });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    ResponseTemplate::new(200).set_body_json(json!({ "choices": [choice], "usage": usage }))
}

fn text(text: &str, prompt_tokens: u64) -> ResponseTemplate {
    answer(json!({ "role": "assistant", "content": text }), prompt_tokens)
}

fn native() -> ResponseTemplate {
    let function = json!({ "name": "weather_report", "arguments": "{\"city\": \"Lisbon\"}" });
    let call = json!({ "id": "c", "type": "function", "function": function });
    answer(json!({ "role": "assistant", "content": "", "tool_calls": [call] }), 330)
}

fn refusal(status: u16, text: &str) -> ResponseTemplate {
    let error =
        json!({ "error": { "message": text, "type": "invalid_request_error", "code": status } });
    ResponseTemplate::new(status).set_body_json(error)
}

fn qwen() -> Value {
    json!({ "id": "qwen", "owned_by": "llamacpp", "meta": { "n_ctx": 8192 } })
}

/// The warnings and all lines of the doctor about this model, and how many chats there were.
async fn examined(server: &MockServer, more: &str, trials: Trials) -> (Vec<String>, String, usize) {
    let home = Home::new();
    let url = format!("{}/v1", server.uri());
    home.write("c.toml", format!(
        "[models.m]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"qwen\"\n{more}\n[roles]\ndefault = \"m\"\n"
    ));
    let config = home.path("c.toml");
    let findings = examine(&Subject {
        config: Some(&config),
        workspace: None,
        mcp: &[],
        model: None,
        environment: &|name| (name == "TERM").then(|| "xterm".into()),
        terminal: Terminal { is_terminal: true, size: Some((120, 40)) },
        trials,
    })
    .await;
    let of_model = findings.iter().filter(|finding| finding.about == "model m");
    let warned = of_model.clone().filter(|finding| finding.verdict == FindingLevel::Warn);
    let warned = warned.map(|finding| finding.text.clone()).collect();
    let shown: String = of_model.map(|finding| format!("{finding}\n")).collect();
    let chats = server.received_requests().await.unwrap();
    (warned, shown, chats.iter().filter(|request| request.method == "POST").count())
}

#[tokio::test]
async fn an_endpoint_that_calls_tools_is_well() {
    let server = server(qwen(), native()).await;
    let (warned, shown, chats) = examined(&server, "", Trials::Local).await;
    assert_eq!((warned.len(), chats), (0, 1), "{shown}");
    assert!(shown.contains("ok    model m: native tool calls\n"), "{shown}");
    assert!(shown.contains("ok    model m: a window of 8192 tokens\n"), "{shown}");
}

#[tokio::test]
async fn each_fault_is_said_with_the_switch_that_mends_it() {
    let call =
        "```json\n{\"name\": \"weather_report\", \"arguments\": {\"city\": \"Lisbon\"}}\n```";
    let short = json!({ "id": "qwen", "owned_by": "llamacpp", "meta": { "n_ctx": 2048 } });
    let vllm = json!({ "id": "qwen", "owned_by": "vllm", "max_model_len": 32768 });
    let ollama = json!({ "id": "qwen", "owned_by": "library" });
    let too_long = "the request exceeds the available context size (256 tokens), try increasing it";
    let auto =
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set";
    for (entry, chat, says, switch) in [
        (qwen(), text(call, 330), "tool calls arrive as text", "--jinja"),
        (qwen(), text("It is sunny.", 40), "the tools are dropped", "tools = \"text\""),
        (short, native(), "the context is too short: a window of 2048 tokens", "-c 16384"),
        (qwen(), refusal(400, too_long), "the context is too short for one tool", "-c 16384"),
        (vllm, refusal(400, auto), "refuses tools", "--enable-auto-tool-choice"),
        (ollama, refusal(400, "qwen does not support tools"), "refuses tools", "ollama show"),
        (qwen(), text("It is sunny.", 330), "answers without a tool call", "tools = \"text\""),
    ] {
        let server = server(entry, chat).await;
        let (warned, shown, _) = examined(&server, "", Trials::Local).await;
        assert!(warned.len() == 1 && warned[0].starts_with(says), "{says}: {shown}");
        assert!(shown.contains("→") && shown.contains(switch), "{switch}: {shown}");
    }
}

#[tokio::test]
async fn calls_as_text_are_what_the_mode_text_wants() {
    let call = "Thought: I look.\nAction: weather_report\nAction Input: {\"city\": \"Lisbon\"}";
    let server = server(qwen(), text(call, 300)).await;
    let (warned, shown, _) = examined(&server, "tools = \"text\"", Trials::Local).await;
    assert!(warned.is_empty() && shown.contains("tool calls as text, as set"), "{shown}");
}

#[tokio::test]
async fn an_endpoint_that_charges_gets_no_trial_unless_asked() {
    let server = server(qwen(), native()).await;
    let paid = "provider = \"openai\"\nprice_in = 1\nprice_out = 2";
    for (trials, sent) in [(Trials::None, 0), (Trials::Local, 0), (Trials::All, 1)] {
        let (_, shown, chats) = examined(&server, paid, trials).await;
        assert_eq!(chats, sent, "{trials:?}: {shown}");
    }
}

async fn run(home: &Home, arguments: &[&str], places: &str) -> Ran {
    let mut command = home.command(arguments);
    command.env("TOOLYARD_LOCAL_SERVERS", places);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

#[tokio::test]
async fn a_server_that_runs_is_found_and_tried_by_the_doctor() {
    let server = server(qwen(), native()).await;
    let url = format!("{}/v1", server.uri());
    let places = format!("ollama=http://127.0.0.1:1/v1,vllm={url}");
    let ran = run(&Home::new(), &["doctor"], &places).await;
    for says in [
        &*format!("model servers: vllm at {url}: 1 model, such as qwen"),
        &format!("`--model {url}#qwen`"),
        "model servers: vllm: native tool calls",
        "model servers: vllm: a window of 8192 tokens",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
    let ran = run(&Home::new(), &["doctor"], "ollama=http://127.0.0.1:1/v1").await;
    assert!(ran.out.contains("none of ollama answers on this machine"), "{}", ran.out);
    let ran = run(&Home::new(), &["doctor"], "olama=http://127.0.0.1:1/v1").await;
    assert!(ran.code == 1 && ran.out.contains("did you mean `ollama`?"), "{}", ran.out);
}

#[tokio::test]
async fn a_project_begins_with_the_settings_that_its_server_needs() {
    let as_text = server(qwen(), text("It is sunny.", 40)).await;
    let calls = server(json!({ "id": "good" }), native()).await;
    let (text_url, good_url) = (format!("{}/v1", as_text.uri()), format!("{}/v1", calls.uri()));
    let home = Home::new();
    let places = format!("ollama={text_url} llamacpp={good_url} lmstudio=http://127.0.0.1:1/v1");
    let ran = run(&home, &["init", "mine"], &places).await;
    for says in [
        "qwen: the tools are dropped",
        "→ start llama-server with --jinja",
        "good: native tool calls",
        "no lmstudio at http://127.0.0.1:1/v1",
        "all roles use llamacpp",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
    let config = home.read("mine/config.toml");
    let (good, bad) = config.split_once("[models.ollama]").unwrap();
    assert!(bad.contains("context = 8192\n") && bad.contains("\ntools = \"text\"\n"), "{config}");
    assert!(!good.contains("tools ="), "{config}");
    let checked = run(&home, &["doctor", "--config", "mine/config.toml"], "none").await;
    assert_eq!(checked.code, 0, "{checked:?}");

    let ran = run(&home, &["init", "other", "--no-probe"], &places).await;
    assert!(!ran.out.contains("tool calls"), "{}", ran.out);
    assert!(!home.read("other/config.toml").contains("\ntools ="));
}

#[tokio::test]
async fn a_port_that_takes_connections_and_says_nothing_delays_nobody_for_long() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let places = format!("vllm=http://{}/v1", listener.local_addr().unwrap());
    let began = Instant::now();
    let ran = run(&Home::new(), &["init", "mine"], &places).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(ran.out.contains("all roles use the simulated model"), "{}", ran.out);
}
