//! Watched agents: their requests and calls are ordinary effects, as a listener hands them over.

use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::oneshot::error::TryRecvError;
use toolyard::domain::{
    Command, Event, Finish, ModelCallEvent, ModelErrorKind, ModelSpec, Outcome, Reply, RunEvent,
    RunId, SessionEvent, State, ToolCall, ToolCallEvent,
};
use toolyard::engine::{Again, Inbox};
use toolyard::model::relay::{
    self, Arrival, Caller, Heard, ListenerNews, Release, RequestListenerEnd, Sending,
};
use toolyard::tool::foreign_calls;
use toolyard::wire::WireFormat;

use super::yard::{Trial, Yard, on_paused_time};

/// A session that watches, and what a listener tells it.
pub struct Watch {
    pub yard: Yard,
    pub news: UnboundedSender<ListenerNews>,
    /// Where relays tell what they see.
    pub tools: mpsc::UnboundedSender<foreign_calls::RelayNews>,
}

pub fn watch(trial: Trial) -> Watch {
    watch_again(trial, None)
}

/// A watched session that holds where this breakpoint says.
pub async fn held_at(breakpoint: &'static str) -> Watch {
    let watch = watch(Trial::default());
    let spec = Box::new(breakpoint.parse().unwrap());
    watch.yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
    watch.yard.until("it is set", |state| !state.breakpoints.is_empty()).await;
    watch
}

/// The same, over a record if there is one.
pub fn watch_again(trial: Trial, again: Option<Again>) -> Watch {
    let (news, inbox) = mpsc::unbounded_channel();
    let spec_of = Box::new(|model: &str, endpoint: &str| {
        let price = Some(1.0.into());
        let source = format!("{model} at {endpoint}");
        ModelSpec { price_in: price, price_out: price, ..ModelSpec::new(model, source) }
    });
    let (tools, relayed) = mpsc::unbounded_channel();
    let inbox = Some(Inbox { news: inbox, relayed, spec_of, again });
    let yard = Trial {
        inbox,
        watched: true,
        names: &[],
        tasks: 0,
        strategy: "react",
        stay: true,
        ..trial
    }
    .start();
    Watch { yard, news, tools }
}

/// A conversation of an agent that speaks OpenAI chat.
pub struct Agent {
    pub messages: Vec<Value>,
}

impl Agent {
    pub fn asking(text: &str) -> Self {
        let system = json!({"role": "system", "content": "You help."});
        Self { messages: vec![system, json!({"role": "user", "content": text})] }
    }

    pub fn body(&self) -> String {
        let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
        let tool = |name: &str| {
            let function = json!({"name": name, "description": name, "parameters": parameters});
            json!({"type": "function", "function": function})
        };
        let tools = [tool("weather"), tool("ask_expert")];
        json!({"model": "gpt", "stream": true, "messages": self.messages, "tools": tools})
            .to_string()
    }

    /// Sends its messages.
    pub fn send(&self, watch: &Watch) -> RequestListenerEnd {
        self.try_again(watch, 0)
    }

    /// Sends them after so many tries that failed.
    pub fn try_again(&self, watch: &Watch, retries: u32) -> RequestListenerEnd {
        self.deliver(watch, self.body(), retries)
    }

    /// Sends another body.
    pub fn send_body(&self, watch: &Watch, body: &str) -> RequestListenerEnd {
        self.deliver(watch, body.to_owned(), 0)
    }

    fn deliver(&self, watch: &Watch, body: String, retries: u32) -> RequestListenerEnd {
        let (way, line) = relay::way();
        let asked = WireFormat::Chat.read_request(body.as_bytes()).unwrap();
        let endpoint = "api.example.com/v1".into();
        let caller = Caller { endpoint, retries, ..Caller::default() };
        let (format, body) = (WireFormat::Chat, body.into());
        let arrival = Arrival { format, asked, body, caller, way };
        watch.news.send(ListenerNews::Arrived(Box::new(arrival))).unwrap();
        line
    }

    /// Takes an answer, and the results of its calls.
    pub fn go_on(&mut self, reply: &Reply, results: &[&str]) {
        let call = |call: &ToolCall| {
            let arguments = call.arguments.to_string();
            json!({"id": call.id, "type": "function",
                "function": {"name": call.tool.as_str(), "arguments": arguments}})
        };
        let calls: Vec<_> = reply.calls.iter().map(call).collect();
        self.messages
            .push(json!({"role": "assistant", "content": reply.text, "tool_calls": calls}));
        for (call, result) in reply.calls.iter().zip(results) {
            let id = &call.id;
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        }
    }
}

pub fn calling(calls: &[(&str, &str, Value)]) -> Reply {
    let calls = calls.iter().map(|(id, tool, arguments)| ToolCall {
        id: (*id).into(),
        tool: (*tool).into(),
        arguments: arguments.clone(),
    });
    Reply { calls: calls.collect(), finish: Finish::Calls, ..Reply::of_text("") }
}

/// The body that goes to the endpoint.
pub async fn sent(line: &mut RequestListenerEnd) -> String {
    match (&mut line.sending).await.unwrap() {
        Sending::On { body, pace: None, .. } => String::from_utf8(body.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The messages of a body.
pub fn messages(body: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(body).unwrap()["messages"].as_array().unwrap().clone()
}

/// The endpoint answers, and the agent gets the answer as it came.
pub async fn answer(mut line: RequestListenerEnd, reply: &Reply) {
    sent(&mut line).await;
    pass(line, reply).await;
}

pub async fn pass(line: RequestListenerEnd, reply: &Reply) {
    line.heard.send(Heard::Ended(Ok(reply.clone()))).unwrap();
    assert!(matches!(line.release.await.unwrap(), Release::AsCame));
}

#[test]
fn requests_and_calls_of_an_agent_are_ordinary_effects() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body(), "the bytes that came");
        line.heard.send(Heard::Text("Let me ".into())).unwrap();
        let both = calling(&[
            ("a", "weather", json!({"at": "Oslo"})),
            ("b", "weather", json!({"at": "Rome"})),
        ]);
        pass(line, &both).await;
        {
            let state = watch.yard.state.borrow();
            let running = state.tool_calls.iter().filter(|call| call.started.is_some());
            assert_eq!(running.count(), 2, "they have started when the agent gets them");
        }
        agent.go_on(&both, &["rain", "sun"]);
        answer(agent.send(&watch), &Reply::of_text("Rain in Oslo, sun in Rome.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        expect_first_task(&watch);
        // What it asks next is another task of the same conversation.
        agent.go_on(&Reply::of_text("Rain in Oslo, sun in Rome."), &[]);
        agent.messages.push(json!({"role": "user", "content": "And in Bonn?"}));
        answer(agent.send(&watch), &Reply::of_text("Fog.")).await;
        watch.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        let tasks: Vec<_> =
            state.tasks.iter().map(|task| (task.task.run, &*task.task.text)).collect();
        assert_eq!(tasks[1], (RunId(1), "And in Bonn?"));
        assert_eq!(state.runs.len(), 1);
    });
}

/// What is known after the first task, whose calls were made at once.
fn expect_first_task(watch: &Watch) {
    let records = watch.yard.records.borrow();
    let opened = records.iter().find_map(|record| match &record.event {
        Event::Run(RunEvent::RunOpened { run, guest: Some(guest), .. }) => {
            Some((*run, guest.wire.clone(), guest.endpoint.clone()))
        }
        _ => None,
    });
    let chat = "OpenAI chat".to_owned();
    assert_eq!(opened, Some((RunId(1), chat, "api.example.com/v1".to_owned())));
    let state = watch.yard.state.borrow();
    let calls: Vec<_> = state.tool_calls.iter().collect();
    let told: Vec<_> = calls
        .iter()
        .map(|call| (call.wire_id.as_deref().unwrap(), call.observation().unwrap()))
        .collect();
    assert_eq!(told, [("a", "rain"), ("b", "sun")]);
    assert!(calls.iter().all(|call| call.parent == Some(state.model_calls.get(0).unwrap().id)));
    let task = state.task(toolyard::domain::TaskId(1)).unwrap();
    assert_eq!(task.task.text, "How is the weather in Oslo?");
    assert_eq!(task.answer.as_deref(), Some("Rain in Oslo, sun in Rome."));
    assert_eq!((task.steps.len(), task.outcome()), (2, Some(Outcome::Answered)));
    assert_eq!(task.steps[1].from.as_str(), "weather");
    assert_eq!(state.tools.len(), 2);
    assert_eq!(state.models.known["gpt"].tally.calls, 2);
}

#[test]
fn what_a_fault_made_of_a_result_stays_in_every_later_request() {
    on_paused_time(async {
        let faults = vec!["weather:error:nth=1:text=out of order"];
        let watch = watch(Trial { faults, ..Trial::default() });
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let first = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send(&watch), &first).await;
        agent.go_on(&first, &["rain"]);
        let second = calling(&[("b", "weather", json!({"at": "Rome"}))]);
        let faulted = agent.body().replace("\"rain\"", "\"out of order\"");
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, faulted);
        pass(line, &second).await;
        agent.go_on(&second, &["sun"]);
        let faulted = agent.body().replace("\"rain\"", "\"out of order\"");
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, faulted, "decided once");
        pass(line, &Reply::of_text("No idea.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let call = state.tool_calls.get(0).unwrap();
        assert_eq!(call.observation(), Some("out of order"));
        assert_eq!(call.withheld.as_ref().unwrap().text, "rain");
    });
}

#[test]
fn a_fault_of_the_model_is_answered_in_its_place() {
    on_paused_time(async {
        let faults = vec!["role:actor:rate-limit:nth=1"];
        let watch = watch(Trial { faults, ..Trial::default() });
        let agent = Agent::asking("hello");
        let line = agent.send(&watch);
        match line.sending.await.unwrap() {
            Sending::Instead(Err(error)) => assert_eq!(error.kind, ModelErrorKind::RateLimited),
            other => panic!("{other:?}"),
        }
        // The client tries again: one task, and a call that says what it repeats.
        answer(agent.send(&watch), &Reply::of_text("hi")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let calls: Vec<_> = state.model_calls.iter().map(|call| (call.id, call.parent)).collect();
        assert_eq!(calls[1].1, Some(calls[0].0));
        assert_eq!(state.tasks.len(), 1);
    });
}

#[test]
fn a_pause_holds_a_request_and_one_that_hangs_up_is_let_go() {
    on_paused_time(async {
        let watch = watch(Trial { paused: true, ..Trial::default() });
        let agent = Agent::asking("hello");
        let mut line = agent.send(&watch);
        watch.yard.until("it is held", |state| state.control.held.len() == 1).await;
        assert_eq!(line.sending.try_recv().unwrap_err(), TryRecvError::Empty);
        let other = Agent::asking("something else").send(&watch);
        watch.yard.until("both are held", |state| state.control.held.len() == 2).await;
        drop(other);
        watch.yard.until("one is gone", |state| state.control.held.len() == 1).await;
        watch.yard.wish(Command::Run);
        answer(line, &Reply::of_text("hi")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let failed = watch.yard.records.borrow().iter().find_map(|record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallFailed { error, .. }) => Some(error.kind),
            _ => None,
        });
        assert_eq!(failed, Some(ModelErrorKind::Cancelled));
    });
}

#[test]
fn a_sub_agent_is_a_run_with_a_parent_and_runs_end_each_by_itself() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("Ask an expert about Oslo, please.");
        let query = "Describe the climate of Oslo.";
        let asks = calling(&[("a", "ask_expert", json!({"query": query}))]);
        answer(agent.send(&watch), &asks).await;
        let expert = Agent::asking(query);
        answer(expert.send(&watch), &Reply::of_text("Cold.")).await;
        let stranger = Agent::asking("Something else entirely?");
        answer(stranger.send(&watch), &Reply::of_text("Yes.")).await;
        agent.go_on(&asks, &["Cold."]);
        answer(agent.send(&watch), &Reply::of_text("It is cold.")).await;
        watch.yard.until("all have ended", |state| state.tasks_done == 3).await;
        let state = watch.yard.state.borrow();
        let parents: Vec<_> =
            state.runs.values().map(|run| run.guest.as_ref().unwrap().parent).collect();
        assert_eq!(parents, [None, Some(RunId(1)), None]);
    });
}

#[test]
fn a_past_that_changes_is_told_and_a_call_without_a_result_fails() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let first =
            calling(&[("a", "weather", json!({"at": "Oslo"})), ("b", "weather", json!({}))]);
        answer(agent.send(&watch), &first).await;
        // It sends the result of one of two calls.
        agent.go_on(&first, &["rain"]);
        answer(agent.send(&watch), &Reply::of_text("Rain.")).await;
        agent.messages.truncate(2);
        agent.go_on(&Reply::of_text("In short: rain."), &[]);
        agent.messages.push(json!({"role": "user", "content": "And tomorrow?"}));
        answer(agent.send(&watch), &Reply::of_text("Sun.")).await;
        watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
        let records = watch.yard.records.borrow();
        let lost: Vec<_> = records
            .iter()
            .filter_map(|record| match &record.event {
                Event::ToolCall(ToolCallEvent::ToolCallFailed { error, .. }) => Some(&*error.text),
                _ => None,
            })
            .collect();
        assert_eq!(lost, ["the agent never sent its result"]);
        let rewritten = records.iter().find_map(|record| match &record.event {
            Event::Run(RunEvent::HistoryRewritten { kept, dropped, .. }) => Some((*kept, *dropped)),
            _ => None,
        });
        assert_eq!(rewritten, Some((2, 2)));
    });
}

#[test]
fn an_agent_that_ends_leaves_nothing_running() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let agent = Agent::asking("How is the weather in Oslo?");
        let calls = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send(&watch), &calls).await;
        watch
            .yard
            .until("the agent runs it", |state| state.tool_calls_in_flight().count() == 1)
            .await;
        watch.news.send(ListenerNews::Ended { code: Some(7) }).unwrap();
        watch.yard.until("the task has ended", |state| !state.has_work()).await;
        let state = watch.yard.state.borrow();
        assert_eq!(state.watched.as_ref().unwrap().ended, Some(Some(7)));
        assert_eq!(state.effects_in_flight().count(), 0);
        assert!(state.tool_calls.iter().all(|call| call.has_no_result()));
        let task = state.tasks.iter().next().unwrap();
        assert_eq!(task.outcome(), Some(Outcome::Stopped));
    });
}

#[test]
fn a_call_that_is_held_when_its_agent_ends_has_no_result_once_it_is_let_go() {
    on_paused_time(async {
        let watch = held_at("weather:before").await;
        let mut line = Agent::asking("How is the weather in Oslo?").send(&watch);
        sent(&mut line).await;
        let calls = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        line.heard.send(Heard::Ended(Ok(calls))).unwrap();
        watch.yard.until("the call is held", |state| !state.control.held.is_empty()).await;
        watch.news.send(ListenerNews::Ended { code: None }).unwrap();
        let has_ended = |state: &State| state.watched.as_ref().is_some_and(|it| it.ended.is_some());
        watch.yard.until("the agent has ended", has_ended).await;
        assert!(watch.yard.state.borrow().has_work());
        watch.yard.wish(Command::Run);
        watch.yard.until("the task has ended", |state| !state.has_work()).await;
        assert!(watch.yard.state.borrow().tool_calls.iter().all(|call| call.has_no_result()));
    });
}

#[test]
fn a_definition_that_changes_and_a_name_at_two_endpoints_are_told() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let agent = Agent::asking("hello");
        answer(agent.send(&watch), &Reply::of_text("hi")).await;
        let body = agent.body().replace("\"description\":\"weather\"", "\"description\":\"!\"");
        let body = body.replace("hello", "good day");
        let (way, line) = relay::way();
        let asked = WireFormat::Chat.read_request(body.as_bytes()).unwrap();
        let caller = Caller { endpoint: "other.example.com".into(), ..Caller::default() };
        let (format, body) = (WireFormat::Chat, body.into());
        let arrival = Arrival { format, asked, body, caller, way };
        watch.news.send(ListenerNews::Arrived(Box::new(arrival))).unwrap();
        answer(line, &Reply::of_text("hi")).await;
        watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        let models: Vec<_> = state.models.known.keys().map(|name| name.as_str()).collect();
        assert_eq!(models[2..], ["gpt", "gpt at other.example.com"]);
        assert_eq!(state.tools["weather"].spec.description, "!");
        let said = watch.yard.records.borrow().iter().any(|record| {
            matches!(&record.event, Event::Session(SessionEvent::Noticed { text })
                if text.contains("its tool weather otherwise"))
        });
        assert!(said);
    });
}
