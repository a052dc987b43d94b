//! A session that watches a watched agent: two conversations of its own, and one that a tool call began.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolyard::domain::event::Guest;
use toolyard::domain::{
    Boundary, By, ControlEvent, EffectClass, EffectId, EffectRef, Finish, Lane, MenuItem,
    MenuReason, Message, ModelCallEvent, ModelSpec, Opening, Outcome, Reply, Request, Role,
    RunEvent, RunId, SessionEvent, Task, TaskEvent, TaskId, ToolCall, ToolCallEvent, ToolError,
    ToolErrorKind, ToolName, ToolOutput, Usage,
};
use toolyard::ui::agent_output::{AgentLines, AgentOutput, OutputLine, Stream};

use crate::story::{Story, effect, model, opening, tool};

const LARGE: &str = "gpt-5.2";
const SMALL: &str = "gpt-5.2-mini";
const TOOLS: [&str; 4] = ["get_weather", "get_forecast", "research", "search_papers"];

/// Nothing has been asked yet.
pub fn listening() -> Story {
    let mut story = Story::of(Opening { watched: true, ..opening() });
    let priced = |name: &str, dollars: f64| {
        let spec = model(name, "https://api.openai.com/v1", false);
        Arc::new(ModelSpec {
            price_in: Some(dollars.into()),
            price_out: Some((dollars * 8.0).into()),
            price_cached: Some((dollars / 10.0).into()),
            ..spec
        })
    };
    story.tell(RunEvent::AgentStarted { command: "python my_agent.py --city Lisbon".into() });
    story
        .tell(SessionEvent::ModelsAdded { models: vec![priced(LARGE, 1.75), priced(SMALL, 0.25)] });
    story.join(TOOLS.map(|name| tool(name, "", 0.0)));
    story
}

/// A conversation, or a further message of it: the task that it begins.
pub fn begin(story: &mut Story, run: u32, parent: Option<u32>, text: &str) -> TaskId {
    let run = RunId(run);
    if !story.state().runs.contains_key(&run) {
        let guest = Guest {
            parent: parent.map(RunId),
            wire: "Chat Completions".into(),
            endpoint: "api.openai.com/v1".into(),
            session: None,
            patience_ms: None,
        };
        story.tell(RunEvent::RunOpened { run, strategy: None, guest: Some(Arc::new(guest)) });
    }
    let task = TaskId(story.state().tasks.len() as u32 + 1);
    let tasks = vec![Task { run, ..Task::from_text(text) }];
    story.tell(TaskEvent::TasksQueued { first: task, tasks, by: By::Engine });
    story.tell(TaskEvent::TaskStarted { task });
    task
}

/// A step at which the agent offers all of its tools.
pub fn step(story: &mut Story, task: TaskId, step: u32, from: &str) {
    let item = |tool: &str| MenuItem { tool: tool.into(), weight: None, why: MenuReason::All };
    let menu: Vec<MenuItem> = TOOLS.map(item).into();
    let from = ToolName::from(from);
    story.tell(TaskEvent::StepStarted { task, step, from, menu: menu.into() });
}

fn ask(story: &mut Story, task: TaskId, model: &str) -> EffectId {
    let text = story.state().task(task).unwrap().task.text.clone();
    ask_with(story, task, model, vec![Message::user(text)])
}

pub fn ask_with(story: &mut Story, task: TaskId, model: &str, messages: Vec<Message>) -> EffectId {
    let call = story.next_effect();
    let request = Request::new(Role::Actor, messages);
    let (request, role, model) = (Arc::new(request), Role::Actor, model.into());
    let (of, evidence) = (effect(call), None);
    story.tell(ModelCallEvent::ModelCallRequested {
        effect: of,
        task,
        role,
        model,
        request,
        evidence,
    });
    call
}

pub fn asked(story: &mut Story, task: TaskId, model: &str) -> EffectId {
    let call = ask(story, task, model);
    story.tell(ModelCallEvent::ModelCallStarted { effect: effect(call) });
    call
}

/// The model answers after so many milliseconds: a text, and calls of tools.
pub fn answer(story: &mut Story, call: EffectId, text: &str, calls: &[(&str, Value)], ms: u64) {
    let calls: Vec<ToolCall> = calls
        .iter()
        .enumerate()
        .map(|(i, (tool, arguments))| ToolCall {
            id: format!("call_{call}_{i}"),
            tool: (*tool).into(),
            arguments: arguments.clone(),
        })
        .collect();
    let usage = Usage { tokens_in: 2310, tokens_out: 148, cached: 1536, ..Usage::default() };
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
    let reply = Arc::new(Reply { calls, finish, usage, ..Reply::of_text(text) });
    let dollars = Some(0.0061.into());
    story.wait(ms).tell(ModelCallEvent::ModelCallFinished { effect: effect(call), reply, dollars });
}

/// The agent calls a tool.
pub fn call(story: &mut Story, task: TaskId, step: u32, tool: &str, arguments: Value) -> EffectId {
    let of = request_call(story, task, step, tool, arguments);
    story.tell(ToolCallEvent::ToolCallStarted { effect: of });
    of.id
}

/// The model's last answer in a task decides a call.
fn request_call(
    story: &mut Story,
    task: TaskId,
    step: u32,
    tool: &str,
    arguments: Value,
) -> EffectRef {
    let call = story.next_effect();
    let parent = story.state().task(task).unwrap().model_calls.last().copied();
    let of = EffectRef { parent, ..EffectRef::new(call, EffectClass::Unknown) };
    story.tell(ToolCallEvent::ToolCallRequested {
        effect: of,
        task,
        step,
        tool: tool.into(),
        arguments,
        evidence: None,
        by: By::Engine,
        wire_id: Some(format!("call_{call}").into()),
    });
    of
}

/// An answer whose calls are `calls`; the last of them is held before it leaves.
pub fn holding(calls: &[(&str, Value)]) -> Story {
    let mut story = listening();
    let task = begin(&mut story, 1, None, "Book me the cheapest flight from Lisbon to Oslo");
    let first = asked(&mut story, task, LARGE);
    answer(&mut story, first, "", calls, 800);
    let mut last = None;
    for (tool, arguments) in calls {
        let of = request_call(&mut story, task, 1, tool, arguments.clone());
        last = Some(of);
        if last.map(|of| of.id.0) != Some(first.0 + calls.len() as u32) {
            story.tell(ToolCallEvent::ToolCallStarted { effect: of });
        }
    }
    let lane = Lane::Effect(last.unwrap().id);
    story.tell(ControlEvent::Held { lane, boundary: Boundary::BeforeToolCall });
    story.wait(3200);
    story
}

/// A task of an answer with these calls, which all came back after so many milliseconds.
pub fn calling(story: &mut Story, calls: &[(&str, Value)], ms: u64) -> TaskId {
    let task = begin(story, 1, None, "Book me the cheapest flight from Lisbon to Oslo");
    let first = asked(story, task, LARGE);
    answer(story, first, "", calls, 800);
    let begun: Vec<EffectId> = calls
        .iter()
        .map(|(tool, arguments)| call(story, task, 1, tool, arguments.clone()))
        .collect();
    story.wait(ms);
    begun.into_iter().for_each(|call| returned(story, call, "TP762 189, DY1793 121", 0));
    let second = asked(story, task, LARGE);
    answer(story, second, "DY1793 is the cheapest.", &[], 700);
    ended(story, task, "DY1793 is the cheapest.");
    task
}

pub fn returned(story: &mut Story, call: EffectId, text: &str, ms: u64) {
    let output = Arc::new(ToolOutput::of(text));
    story.wait(ms).tell(ToolCallEvent::ToolCallFinished { effect: effect(call), output });
}

pub fn ended(story: &mut Story, task: TaskId, answer: &str) {
    let (answer, caveats) = (Some(answer.to_owned()), Vec::new());
    let outcome = Outcome::Answered;
    story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct: None, caveats });
}

/// The first conversation waits for a sub-agent, which a model answers; the third one has its answer. A request was
/// not understood, and a fault changed what the model read of one call.
pub fn watched() -> Story {
    let mut story = listening();
    let weather =
        begin(&mut story, 1, None, "Which of Lisbon and Porto is warmer this weekend, and why?");
    step(&mut story, weather, 1, "start");
    let first = asked(&mut story, weather, LARGE);
    let city = |name: &str| json!({"city": name, "days": 3});
    let calls = [("get_weather", city("Lisbon")), ("get_forecast", city("Porto"))];
    answer(&mut story, first, "I look at both cities.", &calls, 4200);
    let lisbon = call(&mut story, weather, 1, "get_weather", city("Lisbon"));
    let fault = story.break_tool("get_forecast");
    let porto = call(&mut story, weather, 1, "get_forecast", city("Porto"));
    story.tell(toolyard::domain::FaultEvent::FaultFired { fault, effect: effect(porto) });
    let error = ToolError::new(ToolErrorKind::Failed, "HTTP 503, retry later");
    story.tell(ToolCallEvent::ToolCallFailed { effect: effect(porto), error });
    returned(&mut story, lisbon, "{\"celsius\": 27, \"sky\": \"clear\"}", 2300);
    let output = Arc::new(ToolOutput::of("{\"celsius\": 22}"));
    story.tell(ToolCallEvent::ResultWithheld { effect: effect(porto), output });

    let names = begin(&mut story, 2, None, "Name a bakery in Porto.");
    step(&mut story, names, 1, "start");
    let bakery = asked(&mut story, names, SMALL);
    answer(&mut story, bakery, "Padaria Ribeiro, near the Clérigos tower.", &[], 900);
    ended(&mut story, names, "Padaria Ribeiro, near the Clérigos tower.");

    step(&mut story, weather, 2, "get_weather");
    let second = asked(&mut story, weather, LARGE);
    let why = json!({"question": "Why is Porto cooler than Lisbon in summer?"});
    answer(
        &mut story,
        second,
        "The forecast failed; I ask for the reasons.",
        &[("research", why.clone())],
        3400,
    );
    call(&mut story, weather, 2, "research", why);
    let research = begin(&mut story, 3, Some(1), "Why is Porto cooler than Lisbon in summer?");
    step(&mut story, research, 1, "start");
    let what = "POST /v1/realtime/sessions".to_owned();
    let why = Some("the path is not known".to_owned());
    story.tell(RunEvent::RequestPassed { what, why });
    let third = asked(&mut story, research, SMALL);
    let (text, reasoning) =
        ("Porto lies on the open Atlantic, where cold water".to_owned(), String::new());
    let of = effect(third);
    story.wait(1200).tell(ModelCallEvent::ModelCallProgressed { effect: of, text, reasoning });
    story
}

/// The same with the first conversation's next request held, after the sub-agent has ended.
pub fn held() -> Story {
    let mut story = watched();
    let (research, third) = (TaskId(3), EffectId(story.next_effect().0 - 1));
    answer(&mut story, third, "Cold water rises along the coast.", &[], 700);
    ended(&mut story, research, "Cold water rises along the coast.");
    returned(&mut story, EffectId(third.0 - 1), "Cold water rises along the coast.", 40);
    step(&mut story, TaskId(1), 3, "research");
    let fourth = ask(&mut story, TaskId(1), LARGE);
    let lane = Lane::Effect(fourth);
    story.tell(ControlEvent::Held { lane, boundary: Boundary::BeforeModelCall });
    story.wait(14_000);
    story
}

/// A call that a relay of an MCP server holds; its client gives up after 60 s.
pub fn relayed() -> Story {
    let mut story = listening();
    let (run, endpoint) = (RunId(1), "mcp:weather".to_owned());
    let (wire, patience_ms) = (Guest::MCP.to_owned(), Some(60_000));
    let guest = Some(Arc::new(Guest { wire, endpoint, patience_ms, ..Guest::default() }));
    story.tell(RunEvent::RunOpened { run, strategy: None, guest });
    let task = begin(&mut story, 1, None, "calls of weather");
    step(&mut story, task, 1, "start");
    let effect = call(&mut story, task, 1, "get_weather", json!({"city": "Lisbon"}));
    let lane = Lane::Effect(effect);
    story.tell(ControlEvent::Held { lane, boundary: Boundary::AfterToolCall });
    story.wait(14_000).tell(SessionEvent::Noticed { text: "still here".into() });
    story
}

/// One conversation whose model has read a result, which is the call that is returned.
pub fn read() -> (Story, EffectId) {
    let mut story = listening();
    let question = "How is the weather in Lisbon?";
    let task = begin(&mut story, 1, None, question);
    step(&mut story, task, 1, "start");
    let first = asked(&mut story, task, LARGE);
    let city = json!({"city": "Lisbon"});
    answer(&mut story, first, "", &[("get_weather", city.clone())], 900);
    let weather = call(&mut story, task, 1, "get_weather", city);
    returned(&mut story, weather, "27 degrees, clear", 300);
    step(&mut story, task, 2, "get_weather");
    let result =
        Message::result(format!("call_{weather}"), "get_weather".into(), "27 degrees, clear");
    let second = ask_with(&mut story, task, LARGE, vec![Message::user(question), result]);
    story.tell(ModelCallEvent::ModelCallStarted { effect: effect(second) });
    answer(&mut story, second, "It is warm: 27 degrees.", &[], 1200);
    ended(&mut story, task, "It is warm: 27 degrees.");
    (story, weather)
}

/// A conversation that calls these tools one after the other.
pub fn calls(story: &mut Story, tools: &[&str]) {
    let task = begin(story, 1, None, "Read the files.");
    for (at, tool) in (1..).zip(tools) {
        step(story, task, at, "start");
        let call = call(story, task, at, tool, json!({}));
        returned(story, call, "read", 10);
    }
}

/// An agent that has said so many lines, every fifth of them to standard error.
#[derive(Debug)]
struct Said(u64);

impl AgentOutput for Said {
    fn version(&self) -> u64 {
        self.0
    }

    fn lines(&self) -> Vec<OutputLine> {
        let text = |n| format!("step {n}: the weather of Lisbon and of Porto, once more in full");
        let stream = |n| if n % 5 == 0 { Stream::Err } else { Stream::Out };
        (1..=self.0).map(|n| OutputLine { n, text: text(n), stream: stream(n) }).collect()
    }

    fn changed(&self, _: u64) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// Its lines on the screen.
pub fn said(lines: u64) -> AgentLines {
    let mut agent = AgentLines::new(Arc::new(Said(lines)));
    agent.read();
    agent
}
