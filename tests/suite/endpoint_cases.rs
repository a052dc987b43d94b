//! What servers really send, and what the task of a person comes to: a workspace with two tools, one model over HTTP.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use toolyard::domain::repair::Repair;
use toolyard::domain::{
    Caveat, Event, ModelCallEvent, Outcome, SessionEvent, State, ToolCallState,
};
use toolyard::store::journal;

use crate::fake_endpoint::read;
use crate::program::{Home, Ran};

/// A task that was run to its end.
struct Run {
    ran: Ran,
    state: State,
    notices: Vec<String>,
    repairs: Vec<Repair>,
    /// The requests that were sent.
    sent: Vec<Value>,
}

impl Run {
    fn task(&self) -> &toolyard::domain::state::TaskState {
        self.state.tasks.iter().next().unwrap()
    }

    fn answer(&self) -> Option<&str> {
        self.task().answer.as_deref()
    }

    fn calls(&self) -> Vec<&ToolCallState> {
        self.task().tool_calls.iter().filter_map(|id| self.state.tool_call(*id)).collect()
    }

    /// The tools that were called with their arguments.
    fn called(&self) -> Value {
        self.calls().iter().map(|call| json!([call.tool, call.arguments])).collect()
    }

    fn noticed(&self, text: &str) -> bool {
        self.notices.iter().any(|notice| notice.contains(text))
    }
}

/// A tool that says its arguments.
fn manifest(name: &str, about: &str, parameters: &str) -> String {
    format!(
        "name = \"{name}\"\ndescription = \"{about}\"\neffect = \"read\"\n{parameters}[source]\n\
         command = [\"sh\", \"-c\", \"printf 'It says: '; cat\"]\n"
    )
}

/// Runs the task with an endpoint that sends these bodies in turn, and repeats the last one.
async fn run(bodies: Vec<String>, more: &[&str]) -> Run {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    tokio::spawn(async move {
        for at in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let seen = read(&mut stream).await;
            log.lock().unwrap().push(seen.body);
            let body = &bodies[at.min(bodies.len() - 1)];
            let length = body.len();
            let kind = if body.starts_with('{') { "application/json" } else { "text/event-stream" };
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {kind}\r\n");
            let reply = format!("{head}content-length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    let home = Home::new();
    let city = "[parameters.properties.city]\ntype = \"string\"\n";
    let weather = format!("[parameters]\ntype = \"object\"\nrequired = [\"city\"]\n{city}");
    home.write("w/tools/weather.toml", manifest("weather", "The weather of a city.", &weather));
    home.write("w/tools/clock.toml", manifest("clock", "The time now.", ""));
    home.write(
        "c.toml",
        format!(
            "[models.m]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"x\"\nretries = 0\n[roles]\ndefault = \"m\"\n"
        ),
    );
    let task = ["run", "--config", "c.toml", "--workspace", "w", "--journal", "j.jsonl"];
    let strategy = ["--strategy", "react", "How is the weather in Lisbon?"];
    let mut command = home.command(&[&task[..], more, &strategy].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let ran = Ran::of(output.await.unwrap());
    let records = journal::read(&home.path("j.jsonl")).unwrap().records;
    let (mut notices, mut repairs) = (Vec::new(), Vec::new());
    for record in &records {
        match &record.event {
            Event::Session(SessionEvent::Noticed { text }) => notices.push(text.clone()),
            Event::ModelCall(ModelCallEvent::ModelCallFinished { reply, .. }) => {
                repairs.extend(reply.repairs.clone());
            }
            _ => {}
        }
    }
    let sent = sent.lock().unwrap().clone();
    Run { ran, state: State::fold(&records), notices, repairs, sent }
}

fn chunk(delta: Value, finish: Value) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    )
}

/// A streamed text.
fn text(text: &str) -> String {
    let done = "data: [DONE]\n\n";
    chunk(json!({"content": text}), Value::Null) + &chunk(json!({}), json!("stop")) + done
}

/// A streamed call.
fn call(name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
    let done = "data: [DONE]\n\n";
    chunk(json!({"tool_calls": [call]}), Value::Null)
        + &chunk(json!({}), json!("tool_calls"))
        + done
}

/// The reply, and then an answer.
async fn after(first: String) -> Run {
    run(vec![first, text("It is sunny.")], &[]).await
}

fn lisbon() -> Value {
    json!([["weather", {"city": "Lisbon"}]])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_1_a_call_in_the_text_is_made_and_marked() {
    for written in [
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n</tool_call>",
        "[TOOL_CALLS][{\"name\":\"weather\",\"arguments\":{\"city\":\"Lisbon\"}}]",
        "{\"name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}",
        "<function=weather>{\"city\": \"Lisbon\"}</function>",
        // 13.1
        "```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n```",
    ] {
        let run = after(text(written)).await;
        assert_eq!((run.called(), run.answer()), (lisbon(), Some("It is sunny.")), "{written}");
        assert_eq!(run.repairs, [Repair::FromText { tools: vec!["weather".into()] }]);
        assert!(run.noticed("set `tools = \"text\"`"), "{:?}", run.notices);
        let said = &run.sent[1]["messages"];
        let said = said.as_array().unwrap().iter().find(|it| it["role"] == "assistant").unwrap();
        assert_eq!(said["tool_calls"][0]["function"]["name"], "weather", "{said}");
        assert!(!said.to_string().contains("tool_call>"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_1_a_call_that_cannot_be_read_is_no_answer() {
    for written in [
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lis",
        "<tool_call>\n{\"name\": \"erase\", \"arguments\": {}}\n</tool_call>",
    ] {
        let run = run(vec![text(written)], &[]).await;
        assert_eq!((run.called(), run.answer()), (json!([]), None), "{written}");
        assert_ne!(run.ran.code, 0, "{written}");
        assert_eq!(run.sent.len(), 3, "{written}");
        assert!(run.noticed("an unreadable call"), "{:?}", run.notices);
        assert!(run.noticed("set `tools = \"text\"`"), "{:?}", run.notices);
        assert!(run.sent[1].to_string().contains("could not be read"), "{}", run.sent[1]);
    }
    let quoted = "Qwen writes <tool_call>{\"name\": \"weather\"}</tool_call> for a call.";
    assert_eq!(after(text(quoted)).await.answer(), Some(quoted));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_2_thoughts_are_no_answer() {
    let run = after(text("<think>\nIt said sunny. Final Answer: rain\n</think>\n\nSunny.")).await;
    assert_eq!(run.answer(), Some("Sunny."));
    let call = run.task().model_calls.first().and_then(|id| run.state.model_call(*id)).unwrap();
    assert_eq!(call.reply().unwrap().reasoning, "It said sunny. Final Answer: rain");
    let thought = "<think>I look.</think>\n<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>";
    let run = after(text(thought)).await;
    assert_eq!(run.called(), json!([["clock", {}]]));
    assert!(!run.sent[1].to_string().contains("I look."), "{}", run.sent[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_5_a_call_in_another_choice_is_made() {
    let function = json!({"name": "weather", "arguments": "{\"city\": \"Lisbon\"}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let said = json!({"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "I look it up."}});
    let called = json!({"index": 1, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [call]}});
    let run = after(json!({"choices": [said, called]}).to_string()).await;
    assert_eq!((run.called(), run.answer()), (lisbon(), Some("It is sunny.")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_6_and_3_7_an_end_needs_an_answer_and_its_name_may_be_small() {
    let answer = "{\"answer\": \"Sunny\"}";
    let run = run(vec![call("Finish", "{}"), call("Finish", answer)], &[]).await;
    assert_eq!((run.answer(), run.sent.len()), (Some("Sunny"), 2));
    assert!(run.sent[1].to_string().contains("without an answer"), "{}", run.sent[1]);
    let run = after(call("finish", answer)).await;
    assert_eq!((run.answer(), run.sent.len()), (Some("Sunny"), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_3_a_text_without_a_call_carries_a_mark() {
    let run = after(text("I know the answer to the task.")).await;
    assert_eq!(run.task().caveats, [Caveat::WithoutCall]);
    assert_eq!(run.task().outcome(), Some(Outcome::Answered));
    let run = after(call("clock", "{}")).await;
    assert_eq!(run.task().caveats, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_5_names_and_arguments_that_are_nearly_right() {
    let clock = after(call("clock", "null")).await;
    assert_eq!(clock.called(), json!([["clock", {}]]));
    for arguments in [
        "{\"city\": \"Lisbon\",}",
        "{\"city\": \"Lisbon\"}</tool_call>",
        "```json\n{\"city\": \"Lisbon\"}\n```",
    ] {
        let run = after(call("weather", arguments)).await;
        assert_eq!((run.called(), run.answer()), (lisbon(), Some("It is sunny.")), "{arguments}");
        let [Repair::Arguments { .. }] = &run.repairs[..] else { panic!("{:?}", run.repairs) };
    }
    let run = after(call("weather", "{\"city\": \"Lis\nbon\"}")).await;
    assert_eq!(run.called(), json!([["weather", {"city": "Lis\nbon"}]]));
    let run = after(call("functions.weather", "{\"city\": \"Lisbon\"}")).await;
    assert_eq!(run.called(), lisbon());
    let name = Repair::Name { from: "functions.weather".into(), to: "weather".into() };
    assert_eq!(run.repairs, [name]);
    let cut = after(call("weather", "{\"city\": \"Lisbon\"")).await;
    assert!(cut.calls()[0].started.is_none() && cut.repairs.is_empty(), "{:?}", cut.calls());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_11_2_equal_calls_with_equal_results_are_a_loop() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let more = ["--report", report.to_str().unwrap()];
    let run = run(vec![call("weather", "{\"city\": \"Lisbon\"}")], &more).await;
    assert_eq!(run.notices.iter().filter(|it| it.contains("a loop: weather")).count(), 1);
    let helpful: Vec<_> = run.calls().iter().map(|call| call.helpful).collect();
    assert_eq!(helpful[..3], [Some(true), Some(false), Some(false)]);
    assert_eq!(run.state.loops(run.task()), 1);
    // The report counts it, and no breakpoint was set.
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["tasks"][0]["loops"], 1, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_13_1_a_call_in_a_fence_is_made() {
    for written in [
        "```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n```",
        "```\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n```\n",
        "I look it up.\n\n```json\n{\"name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}\n```",
    ] {
        let run = after(text(written)).await;
        assert_eq!((run.called(), run.answer()), (lisbon(), Some("It is sunny.")), "{written}");
        assert!(run.noticed("set `tools = \"text\"`"), "{:?}", run.notices);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_13_2_the_prompt_demands_a_call_and_an_answer_without_one_is_marked() {
    let run = after(text("I know the answer to the task.")).await;
    assert_eq!(run.task().caveats, [Caveat::WithoutCall]);
    let prompt = run.sent[0]["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("call"), "{prompt}");
    assert!(run.ran.out.contains("without a tool call"), "{}", run.ran.out);
}
