//! A real model of 1.5 billion parameters on a real server: it calls tools, and a fault heals. The server and the file are
//! large and no part of the project, so two variables name them; `docs/guide/real-model.md` says how to get both.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolyard::domain::{State, Usage};

use crate::program::{Home, Ran, text};

/// The program llama-server.
const SERVER: &str = "TOOLYARD_LLAMA_SERVER";
/// A GGUF file of Qwen2.5-Coder-1.5B-Instruct, or of a model that is at least as good.
const MODEL: &str = "TOOLYARD_LLAMA_MODEL";

/// Loading takes seconds, on a busy machine a minute.
const LOADING: Duration = Duration::from_secs(180);

/// A server that ends with its test.
struct Llama {
    child: Child,
    url: String,
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Starts the server with a template that puts calls into tags; `None`, loudly, where there is none.
fn llama() -> Option<Llama> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(program), Some(model)) = (variable(SERVER), variable(MODEL)) else {
        eprintln!(
            "SKIPPED: this test needs a llama-server in {SERVER} and a model file in {MODEL}"
        );
        return None;
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let template = root().join("examples/two-weathers/calls.jinja");
    let mut command = Command::new(program);
    command.arg("-m").arg(model).args(["-c", "8192", "-np", "1", "--host", "127.0.0.1", "--port"]);
    command.arg(port.to_string()).arg("--jinja").arg("--chat-template-file").arg(template);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let llama = Llama { child: child.unwrap(), url: format!("http://127.0.0.1:{port}/v1") };
    let began = Instant::now();
    while !is_healthy(port) {
        assert!(began.elapsed() < LOADING, "the server is not ready");
        thread::sleep(Duration::from_millis(200));
    }
    Some(llama)
}

fn is_healthy(port: u16) -> bool {
    let asked = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    });
    asked.is_ok_and(|answer| answer.lines().next().is_some_and(|line| line.contains(" 200 ")))
}

/// A home with the workspace of two weather tools, and a configuration in which the model acts in all roles.
fn home(llama: &Llama, tools: &str) -> Home {
    let home = Home::new();
    let example = root().join("examples/two-weathers");
    let copied = Command::new("cp").args(["-R", text(&example), text(&home.path("w"))]).status();
    assert!(copied.unwrap().success());
    let url = &llama.url;
    home.write(
        "c.toml",
        format!(
            "[session]\nworkspace = \"w\"\n[models.real]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"m\"\n\
             tools = \"{tools}\"\ncontext = 8192\n[roles]\ndefault = \"real\"\n"
        ),
    );
    home
}

/// The events of a run.
fn events(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let run = ["run", "--config", "c.toml", "--fresh", "--no-journal", "--json"];
    let ran = home.run(&[&run[..], arguments].concat());
    assert!(ran.code < 2, "{ran:?}");
    let events = ran.lines();
    // What a server that has gone leaves unanswered says nothing of the model.
    let failed: Vec<_> = of(&events, "ModelCallFailed").collect();
    assert!(failed.is_empty(), "{failed:?}");
    events
}

fn of<'e>(events: &'e [Value], kind: &'static str) -> impl Iterator<Item = &'e Value> {
    events.iter().filter(move |event| event["kind"] == kind).map(|event| &event["data"])
}

#[test]
fn the_doctor_sees_native_calls() {
    let Some(llama) = llama() else { return };
    let home = home(&llama, "native");
    let out = home.succeed(&["doctor", "--config", "c.toml"]);
    assert!(out.contains("model real: native tool calls"), "{out}");
    assert!(out.contains("model real: a window of 8192 tokens"), "{out}");
}

/// How many of the tasks begin with a call, and how many answers are right: what the actor's prompt is judged by.
#[test]
fn a_small_model_calls_a_tool_before_it_answers() {
    let Some(llama) = llama() else { return };
    for tools in ["native", "text"] {
        for strategy in ["react", "toolnet"] {
            let home = home(&llama, tools);
            let events = events(&home, &["--strategy", strategy]);
            let ended: Vec<_> = of(&events, "TaskFinished").collect();
            let right = ended.iter().filter(|end| end["correct"] == true).count();
            let called = calling_tasks(&events);
            println!(
                "{strategy}, {tools}: {called} of {} tasks called a tool, {right} right",
                ended.len()
            );
            assert!(ended.len() == 20 && called >= 18 && right >= 16, "{strategy}, {tools}");
        }
    }
}

/// The tasks in which a tool was called.
fn calling_tasks(events: &[Value]) -> usize {
    let mut called = 0;
    let mut has_called = false;
    for event in events {
        match event["kind"].as_str() {
            Some("TaskStarted") => has_called = false,
            Some("ToolCallFinished") if !has_called => {
                has_called = true;
                called += 1;
            }
            _ => {}
        }
    }
    called
}

/// An attempt at a task: the weight of the first tool on its first menu, the tools that returned something, and whether
/// its answer is right.
#[derive(Debug, Default)]
struct Attempt {
    weight: f64,
    returned: Vec<String>,
    right: bool,
}

/// Every attempt, in order. Reflexion has several at one task.
fn attempts(events: &[Value], first: &str) -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut called = Value::Null;
    for event in events {
        let data = &event["data"];
        if event["kind"] == "StepStarted" && data["step"] == 1 {
            let menu = data["menu"].as_array().unwrap();
            let item = menu.iter().find(|item| item["tool"] == first);
            let weight = item.and_then(|item| item["weight"].as_f64()).unwrap_or_default();
            attempts.push(Attempt { weight, ..Attempt::default() });
        }
        let Some(attempt) = attempts.last_mut() else { continue };
        match event["kind"].as_str() {
            Some("ToolCallRequested") => called = data["tool"].clone(),
            Some("ToolCallFinished") => {
                attempt.returned.push(called.as_str().unwrap().to_owned());
            }
            Some("TaskFinished") => attempt.right = data["correct"] == true,
            _ => {}
        }
    }
    attempts
}

#[test]
fn a_broken_tool_loses_its_weight_and_another_one_answers() {
    let Some(llama) = llama() else { return };
    let home = home(&llama, "native");
    let fault = ["--strategy", "toolnet+reflexion", "--fault", "weather:error:from-task=2"];
    let events = events(&home, &[&fault[..], &["--tasks-limit", "6"]].concat());
    let attempts = attempts(&events, "weather");
    attempts.iter().for_each(|attempt| println!("{attempt:?}"));
    let healed = attempts.iter().filter(|attempt| {
        let is_second = attempt.returned.iter().any(|tool| tool == "weather_station");
        attempt.weight < attempts[0].weight && is_second && attempt.right
    });
    assert!(healed.count() > 0);
}

/// An agent that asks about the weather of some cities in one conversation, with the address of its endpoint; the share of
/// its prompts that the server had in its cache.
fn cached_share(llama: &Llama, name: &str, more: &[&str]) -> f64 {
    let home = Home::new();
    let agent = root().join("tests/sdks/cities.py");
    let state = home.path("s.json");
    let watch = ["watch", "--headless", "--no-journal", "--state", text(&state)];
    let mut command =
        home.command(&[&watch[..], more, &["--", "python3", text(&agent), name]].concat());
    let ran = Ran::of(command.env("OPENAI_BASE_URL", &llama.url).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let state: State = serde_json::from_value(home.json("s.json")).unwrap();
    let usages: Vec<_> = state.model_calls.iter().filter_map(|call| call.usage()).collect();
    let sum = |part: fn(&Usage) -> u64| usages.iter().map(part).sum::<u64>();
    let (cached, all) = (sum(|usage| usage.cached), sum(|usage| usage.tokens_in));
    let made = state.tool_calls.iter().filter(|call| call.withheld.is_some()).count();
    eprintln!(
        "{name}: {cached} of {all} tokens cached, {} requests, {made} results made",
        usages.len()
    );
    assert_eq!(made > 0, !more.is_empty(), "{name}");
    cached as f64 / all as f64
}

#[test]
fn a_fault_of_a_watched_agent_costs_no_cache() {
    let Some(llama) = llama() else { return };
    let plain = cached_share(&llama, "Ann", &[]);
    // As long as what the tool says.
    let fault = "get_weather:error:every=2:text=The station at that place is not in order now.";
    let faulted = cached_share(&llama, "Bob", &["--fault", fault]);
    println!("{plain:.3} cached without a fault, {faulted:.3} with one");
    assert!(plain > 0.5 && (plain - faulted).abs() < 0.02, "{plain} {faulted}");
}
