//! An endpoint that takes a request only if every known one would, and sessions against it: all loops, both modes of
//! tools, a live switch of model, a session that runs again, an edit in flight, and faults.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::domain::edit::Edit;
use toolyard::domain::{
    Command, Event, Judge, Knob, Message, ModelCallEvent, Record, Role, State, Strategy, Task,
    ToolMode,
};
use toolyard::engine::{self, Setup};
use toolyard::model::{Model, http::Endpoint, openai::OpenAi};
use toolyard::tool::ToolBox;

use crate::engine::yard::Echo;
use crate::fake_endpoint::read;

/// What an endpoint gave with calls and wants back, by the ids of calls.
type Given = HashMap<String, (Value, Value)>;

/// A strict endpoint.
#[derive(Clone, Default)]
struct Strict {
    url: String,
    seen: Arc<Mutex<Vec<Value>>>,
    faults: Arc<Mutex<Vec<String>>>,
    given: Arc<Mutex<Given>>,
    /// It refuses these fields.
    refused: &'static [&'static str],
}

impl Strict {
    /// Starts one whose ids begin with this letter.
    async fn start(letter: char, refused: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let strict = Self { url, refused, ..Self::default() };
        let server = strict.clone();
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
        strict
    }

    fn answer(&self, letter: char, body: &Value) -> (&'static str, String) {
        if let Some(field) = self.refused.iter().find(|field| body.get(**field).is_some()) {
            let message =
                format!("Unsupported parameter: '{field}' is not supported with this model.");
            let error = json!({"error": {"message": message, "param": field, "code": "unsupported_parameter"}});
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

    fn expect_no_faults(&self, what: &str) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "{what}: {faults:#?}");
        assert!(!self.seen.lock().unwrap().is_empty(), "{what}: nothing was asked");
    }

    fn model(&self, name: &str, mode: ToolMode) -> Rc<dyn Model> {
        let mut endpoint = Endpoint::new(name, &self.url, "gpt-x");
        (endpoint.mode, endpoint.structured) = (mode, true);
        (endpoint.max_retries, endpoint.silence_timeout) = (0, Duration::from_secs(5));
        Rc::new(OpenAi::new(endpoint).unwrap())
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
        (_, 0) => say(""),
        (true, _) => say("```python\nprint(echo(text=\"hello\"))\n```"),
        (false, _) => say("Plan: a\n#E1 = echo[{\"text\": \"x\"}]"),
    }
}

/// What strict endpoints refuse in a request.
fn faults(body: &Value, given: &Given, letter: char) -> Vec<String> {
    let mut faults = Vec::new();
    let known = [
        "model",
        "messages",
        "tools",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "max_tokens",
        "max_completion_tokens",
        "response_format",
        "stream",
        "stream_options",
    ];
    let fields = body.as_object().unwrap().keys();
    faults.extend(
        fields.filter(|it| !known.contains(&it.as_str())).map(|it| format!("{it} is unknown")),
    );
    if body.get("tools").is_some_and(|tools| tools.as_array().is_none_or(Vec::is_empty)) {
        faults.push("tools is empty".to_owned());
    }
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (1..=64).contains(&name.len()) && name.chars().all(fits)
    };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        if !is_name(function["name"].as_str().unwrap_or_default()) {
            faults.push(format!("the name of {function}"));
        }
        if function["parameters"]["type"] != "object" || function["description"] == "" {
            faults.push(format!("the parameters or description of {function}"));
        }
    }
    let (mut ids, mut open) = (HashSet::new(), Vec::<String>::new());
    let mut before = "";
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut fault = |text: &str| {
            faults.push(format!("message {at} ({role} after {before}): {text}: {message}"))
        };
        let content = message["content"].as_str().unwrap_or_default();
        let calls: &[Value] = message["tool_calls"].as_array().map_or(&[], Vec::as_slice);
        let allowed: &[&str] = match role {
            "system" | "user" => &["role", "content"],
            "assistant" => &["role", "content", "tool_calls", "reasoning_content"],
            "tool" => &["role", "content", "tool_call_id"],
            _ => &[],
        };
        if message.as_object().unwrap().keys().any(|name| !allowed.contains(&name.as_str())) {
            fault("an unknown field");
        }
        if role != "tool" && !open.is_empty() {
            fault("a call has no result");
        }
        let is_turn = match role {
            "system" => before.is_empty(),
            "user" => matches!(before, "" | "system" | "assistant" | "tool"),
            "assistant" => matches!(before, "user" | "tool"),
            "tool" => matches!(before, "assistant" | "tool"),
            _ => false,
        };
        if !is_turn {
            fault("the order of roles");
        }
        match role {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|call| call == id) {
                    Some(at) => drop(open.remove(at)),
                    None => fault("a result without its call"),
                }
            }
            "assistant" if !calls.is_empty() => {
                if !message["content"].is_null() && content.trim().is_empty() {
                    fault("blank content beside calls");
                }
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default().to_owned();
                    if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                        fault("an id is not nine letters and digits");
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    if serde_json::from_str::<serde_json::Map<String, Value>>(arguments).is_err() {
                        fault("arguments are no object");
                    }
                    if !is_name(call["function"]["name"].as_str().unwrap_or_default()) {
                        fault("a call's name");
                    }
                    let known = ["id", "type", "function", "extra_content"];
                    if call.as_object().unwrap().keys().any(|name| !known.contains(&name.as_str()))
                    {
                        fault("an unknown field of a call");
                    }
                    let null = (Value::Null, Value::Null);
                    let is_own =
                        id.starts_with(letter) && id[1..].bytes().all(|byte| byte.is_ascii_digit());
                    let kept = given.get(&id).unwrap_or(&null);
                    let sent = [&message["reasoning_content"], &call["extra_content"]];
                    if is_own && sent != [&kept.0, &kept.1] {
                        fault("what was given does not come back");
                    }
                    if !ids.insert(id.clone()) {
                        fault("an id comes twice");
                    }
                    open.push(id);
                }
            }
            _ if content.trim().is_empty() => fault("nothing is said"),
            _ => {}
        }
        before = role;
    }
    if !open.is_empty() || !matches!(before, "user" | "tool") {
        faults
            .push(format!("the last message is one of {before}, calls without results: {open:?}"));
    }
    faults
}

fn setup(strategy: Strategy, models: Vec<Rc<dyn Model>>, faults: &[&str]) -> Setup {
    let mut tools = ToolBox::default();
    tools.join(Rc::new(Echo::new("echo", "Test", Rc::default())));
    let task = || Task { gold: Some("done".into()), ..Task::from_text("Say hello.") };
    let knobs =
        [(Knob::Judge, f64::from(Judge::Model as u8)), (Knob::MaxSteps, 6.0), (Knob::Tries, 2.0)];
    let spec = SessionSpec {
        workspace: Some("test".into()),
        strategy: Some(strategy),
        knobs: knobs.into(),
        tasks: TaskSource::List(vec![task()]),
        faults: faults.iter().map(|spec| spec.parse().unwrap()).collect(),
        ..SessionSpec::default()
    };
    spec.setup_with(models, tools).unwrap()
}

/// Runs a session to its end. `react` answers records with commands.
async fn run(
    setup: Setup,
    mut react: impl FnMut(&Record) -> Option<Command> + 'static,
) -> (Vec<Record>, State) {
    let (wish, wishes) = mpsc::unbounded_channel();
    let records = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&records);
    let listener = Box::new(move |record: &Arc<Record>| {
        react(record).into_iter().for_each(|command| wish.send(command).unwrap());
        seen.borrow_mut().push((**record).clone());
    });
    let session = engine::run(setup, wishes, listener);
    let state = tokio::time::timeout(Duration::from_secs(60), session).await.unwrap().unwrap();
    let records = records.borrow().clone();
    (records, state)
}

fn on_real_time(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

const MODES: [ToolMode; 2] = [ToolMode::Native, ToolMode::Text];

#[test]
fn a_strict_endpoint_takes_every_request_of_every_loop() {
    on_real_time(async {
        for mode in MODES {
            // What is added to a loop changes its menus and its end, whatever the mode of tools.
            let is_plain = |it: &Strategy| !it.to_string().contains('+');
            let all = Strategy::all().filter(|it| mode == ToolMode::Native || is_plain(it));
            for strategy in all {
                let strict = Strict::start('a', &[]).await;
                let setup = setup(strategy, vec![strict.model("one", mode)], &[]);
                run(setup, |_| None).await;
                strict.expect_no_faults(&format!("{strategy} {mode:?}"));
            }
        }
    });
}

#[test]
fn fields_that_are_refused_reach_the_endpoint_once_whatever_the_role() {
    on_real_time(async {
        for strategy in ["react+reflexion", "toolnet", "workers", "tot-dfs", "atc"] {
            let refused = &["temperature", "stop", "response_format", "stream_options", "stream"];
            let strict = Strict::start('a', refused).await;
            let setup =
                setup(strategy.parse().unwrap(), vec![strict.model("one", ToolMode::Text)], &[]);
            let (records, _) = run(setup, |_| None).await;
            strict.expect_no_faults(strategy);
            for field in refused {
                let text = format!("leave out `{field}`");
                let said = records.iter().filter(|it| format!("{:?}", it.event).contains(&text));
                assert!(said.count() <= 1, "{strategy}: {field}");
            }
            let failed = |it: &&Record| {
                matches!(it.event, Event::ModelCall(ModelCallEvent::ModelCallFailed { .. }))
            };
            let failed: Vec<_> = records.iter().filter(failed).collect();
            assert!(failed.is_empty(), "{strategy}: {failed:?}");
        }
    });
}

#[test]
fn after_a_switch_of_model_each_endpoint_gets_what_it_takes() {
    on_real_time(async {
        for (mode, other) in [(MODES[0], MODES[0]), (MODES[1], MODES[0]), (MODES[0], MODES[1])] {
            for strategy in ["react", "toolnet", "dfsdt", "tot-dfs"] {
                let (one, two) = (Strict::start('a', &[]).await, Strict::start('b', &[]).await);
                let models = vec![one.model("one", mode), two.model("two", other)];
                let mut asked = 0;
                let switch = move |record: &Record| {
                    let Event::ModelCall(ModelCallEvent::ModelCallFinished { .. }) = record.event
                    else {
                        return None;
                    };
                    asked += 1;
                    let model = if asked % 4 < 2 { "one" } else { "two" };
                    Some(Command::BindRole { role: Role::Actor, model: model.into() })
                };
                run(setup(strategy.parse().unwrap(), models, &[]), switch).await;
                one.expect_no_faults(&format!("{strategy} {mode:?}"));
                two.expect_no_faults(&format!("{strategy} {mode:?}, second"));
            }
        }
    });
}

#[test]
fn a_session_runs_again_and_goes_on_with_what_its_endpoint_wants_back() {
    on_real_time(async {
        let strict = Strict::start('a', &["temperature"]).await;
        let make =
            || setup("react".parse().unwrap(), vec![strict.model("one", ToolMode::Native)], &[]);
        let (records, _) = run(make(), |_| None).await;
        strict.expect_no_faults("the first");
        let asked = strict.seen.lock().unwrap().len();
        let is_reply = |it: &Record| {
            matches!(it.event, Event::ModelCall(ModelCallEvent::ModelCallFinished { .. }))
        };
        let third = records.iter().filter(|it| is_reply(it)).nth(2).unwrap().n;
        // A journal that breaks off in the first task.
        let recorded: Vec<Record> =
            records.into_iter().take_while(|record| record.n <= third).collect();
        run(Setup { recorded, ..make() }, |_| None).await;
        strict.expect_no_faults("the second");
        assert!(strict.seen.lock().unwrap().len() > asked);
    });
}

#[test]
fn an_edit_in_flight_and_faults_leave_requests_that_a_strict_endpoint_takes() {
    on_real_time(async {
        for faults in [
            &["role:actor:empty:p=0.4"][..],
            &["echo:garbage:p=0.5"],
            &["echo:empty:p=0.5"],
            &["echo:error:p=0.5", "role:actor:error:p=0.2"],
        ] {
            let strict = Strict::start('a', &[]).await;
            let models = vec![strict.model("one", ToolMode::Native)];
            run(setup("react".parse().unwrap(), models, faults), |_| None).await;
            strict.expect_no_faults(&format!("{faults:?}"));
        }
        let strict = Strict::start('a', &[]).await;
        let edit = |record: &Record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { effect, request, .. }) => {
                let mut messages = request.messages.clone();
                for message in &mut messages {
                    if let Message::Assistant { text, .. } | Message::System { text } = message {
                        text.clear();
                    }
                }
                let edit = Box::new(Edit::Messages(messages));
                Some(Command::EditCall { effect: effect.id, edit, shown: true })
            }
            _ => None,
        };
        let models = vec![strict.model("one", ToolMode::Native)];
        run(setup("react".parse().unwrap(), models, &[]), edit).await;
        strict.expect_no_faults("edits");
    });
}
