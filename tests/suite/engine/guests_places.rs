//! Calls of watched agents whose ids repeat, that are the answer of a task, or whose results are in a text.

use serde_json::{Value, json};
use toolyard::domain::{Event, Outcome, Record, Reply, SessionEvent, State, ToolCallPhase};
use toolyard::model::relay::ListenerNews;

use super::guests::{Agent, Watch, answer, calling, messages, pass, sent, watch};
use super::yard::{Trial, on_paused_time};

const DOWN: &str = "503 Service Unavailable";
const CITIES: [&str; 3] = ["Oslo", "Rome", "Bonn"];

fn contents(body: &str) -> Vec<String> {
    let is_result = |message: &&Value| message["role"] == "tool";
    let messages = messages(body);
    let results = messages.iter().filter(is_result);
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn notices(watch: &Watch) -> Vec<String> {
    let records = watch.yard.records.borrow();
    let text = |record: &std::sync::Arc<Record>| match &record.event {
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    };
    records.iter().filter_map(text).collect()
}

fn ended(watch: &Watch, code: Option<i32>) {
    watch.news.send(ListenerNews::Ended { code }).unwrap();
}

/// Asks for each city in turn, each time with the same id.
fn results_of_three_turns(fault: &'static str) -> Vec<Vec<String>> {
    let mut read = Vec::new();
    on_paused_time(async {
        let watch = watch(Trial { faults: vec![fault], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather?");
        for city in CITIES {
            let mut line = agent.send(&watch);
            read.push(contents(&sent(&mut line).await));
            let call = calling(&[("functions.weather:0", "weather", json!({"at": city}))]);
            pass(line, &call).await;
            agent.go_on(&call, &[&format!("sun in {city}")]);
        }
        let mut line = agent.send(&watch);
        read.push(contents(&sent(&mut line).await));
        pass(line, &Reply::of_text("Sun.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let ends = state.tool_calls.iter().map(|call| call.observation().unwrap().to_owned());
        read.push(ends.collect());
    });
    read
}

#[test]
fn a_fault_of_one_call_leaves_other_calls_of_its_id_alone() {
    let sunny = CITIES.map(|city| format!("sun in {city}"));
    for (fault, hit) in [("weather:error:nth=1", 0), ("weather:error:nth=2", 1)] {
        let mut expected = sunny.clone();
        expected[hit] = DOWN.into();
        for (turn, read) in results_of_three_turns(fault).iter().enumerate() {
            assert_eq!(read[..], expected[..turn.min(3)], "{fault}, request {turn}");
        }
    }
}

#[test]
fn calls_of_one_answer_with_one_id_are_told_apart_by_their_places() {
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["weather:error:nth=2"], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather?");
        // A reader gives each call an id of its own; the agent has those of the endpoint.
        let call = |id, at: &str| (id, "weather", json!({"at": at}));
        let read =
            calling(&[call("0", "Oslo"), call("call00001", "Rome"), call("call00002", "Bonn")]);
        answer(agent.send(&watch), &read).await;
        let mut same = read.clone();
        same.calls.iter_mut().for_each(|call| call.id = "0".into());
        agent.go_on(&same, &["rain", "sun", "fog"]);
        let mut line = agent.send(&watch);
        assert_eq!(contents(&sent(&mut line).await), ["rain", DOWN, "fog"]);
        pass(line, &Reply::of_text("Mixed.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let ends: Vec<_> = state.tool_calls.iter().map(|it| it.observation().unwrap()).collect();
        assert_eq!(ends, ["rain", DOWN, "fog"]);
    });
}

#[test]
fn two_conversations_with_one_id_end_each_their_own_call() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agents = CITIES.map(|city| Agent::asking(&format!("How is {city}?")));
        let call = |city: &str| calling(&[("functions.weather:0", "weather", json!({"at": city}))]);
        for (agent, city) in agents.iter().zip(CITIES) {
            answer(agent.send(&watch), &call(city)).await;
        }
        for (agent, city) in agents.iter_mut().zip(CITIES).rev() {
            agent.go_on(&call(city), &[&format!("sun in {city}")]);
            answer(agent.send(&watch), &Reply::of_text("Sun.")).await;
        }
        watch.yard.until("all have ended", |state| state.tasks_done == 3).await;
        let state = watch.yard.state.borrow();
        assert_eq!(state.runs.len(), 3);
        for (call, city) in state.tool_calls.iter().zip(CITIES) {
            assert_eq!(call.observation(), Some(&*format!("sun in {city}")));
        }
    });
}

#[test]
fn a_result_for_no_call_changes_nothing() {
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["weather:error"], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather?");
        let call = calling(&[("a", "weather", json!({}))]);
        answer(agent.send(&watch), &call).await;
        agent.go_on(&call, &["rain"]);
        agent.messages.push(json!({"role": "tool", "tool_call_id": "z", "content": "what?"}));
        let mut line = agent.send(&watch);
        assert_eq!(contents(&sent(&mut line).await), [DOWN, "what?"]);
        pass(line, &Reply::of_text("Rain.")).await;
    });
}

/// A request of the same messages with this choice of tools.
fn forced(agent: &Agent, choice: &Value) -> String {
    let mut body: Value = serde_json::from_str(&agent.body()).unwrap();
    body["tool_choice"] = choice.clone();
    body.to_string()
}

#[test]
fn a_call_that_the_client_forced_is_the_answer_if_no_result_follows() {
    let named = json!({"type": "function", "function": {"name": "weather"}});
    for choice in [json!("required"), named, json!("auto")] {
        on_paused_time(async {
            let watch = watch(Trial::default());
            let agent = Agent::asking("How is the weather?");
            let call = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
            answer(agent.send_body(&watch, &forced(&agent, &choice)), &call).await;
            ended(&watch, Some(0));
            watch.yard.until("the task has ended", |state| !state.has_work()).await;
            watch.yard.until("it has ended", |state| state.tasks_done == 1).await;
            let state = watch.yard.state.borrow();
            let (call, task) =
                (state.tool_calls.get(0).unwrap(), state.tasks.iter().next().unwrap());
            if choice == "auto" {
                assert!(call.has_no_result());
                assert_eq!(task.outcome(), Some(Outcome::Stopped));
                return;
            }
            assert!(matches!(call.phase, ToolCallPhase::Done { .. }), "{:?}", call.phase);
            assert_eq!((call.helpful, state.marks(call.id).len()), (None, 0));
            assert_eq!(task.outcome(), Some(Outcome::Answered));
            assert_eq!(task.answer.as_deref(), Some(r#"{"at":"Oslo"}"#));
        });
    }
}

#[test]
fn the_question_after_a_forced_answer_is_another_task() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is the weather?");
        let call = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        let required = json!("required");
        answer(agent.send_body(&watch, &forced(&agent, &required)), &call).await;
        agent.go_on(&call, &["Final result processed."]);
        agent.messages.push(json!({"role": "user", "content": "And tomorrow?"}));
        answer(agent.send_body(&watch, &forced(&agent, &required)), &call).await;
        ended(&watch, Some(0));
        watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        let tasks: Vec<_> =
            state.tasks.iter().map(|task| (&*task.task.text, task.outcome())).collect();
        let answered = Some(Outcome::Answered);
        assert_eq!(tasks, [("How is the weather?", answered), ("And tomorrow?", answered)]);
    });
}

/// What smolagents makes of calls and their results.
fn in_text(agent: &mut Agent, calls: &Reply, result: &str) {
    let said = format!("Calling tools:\n{:?}", calls.calls);
    let part = |text: String| json!([{"type": "text", "text": text}]);
    agent.messages.push(json!({"role": "assistant", "content": part(said)}));
    let result = format!("Observation:\n{result}");
    agent.messages.push(json!({"role": "user", "content": part(result)}));
}

fn first_call<T>(watch: &Watch, of: impl Fn(&State) -> T) -> T {
    of(&watch.yard.state.borrow())
}

#[test]
fn a_result_in_a_text_is_no_failure_and_a_fault_changes_it_there() {
    for fault in [None, Some("weather:error:nth=1")] {
        on_paused_time(async {
            let faults = fault.into_iter().collect();
            let watch = watch(Trial { faults, ..Trial::default() });
            let mut agent = Agent::asking("How is the weather?");
            let call = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
            let required = json!("required");
            answer(agent.send_body(&watch, &forced(&agent, &required)), &call).await;
            in_text(&mut agent, &call, "sunny");
            for city in ["Rome", "Bonn"] {
                let mut line = agent.send(&watch);
                let body = sent(&mut line).await;
                let own = agent.body();
                let expected = match fault {
                    Some(_) => {
                        own.replace("Observation:\\nsunny", &format!("Observation:\\n{DOWN}"))
                    }
                    None => own,
                };
                assert_eq!(body, expected, "{fault:?}");
                let next = calling(&[("a", "weather", json!({"at": city}))]);
                pass(line, &next).await;
                in_text(&mut agent, &next, city);
            }
            answer(agent.send(&watch), &Reply::of_text("Sun.")).await;
            watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
            let first = first_call(&watch, |state| state.tool_calls.get(0).unwrap().clone());
            assert_eq!(first.observation(), Some(if fault.is_some() { DOWN } else { "sunny" }));
            assert_eq!(first_call(&watch, |state| state.runs.len()), 1);
            assert_eq!(first_call(&watch, |state| state.marks(first.id).len()), 0);
        });
    }
}

#[test]
fn a_fault_that_cannot_reach_a_result_says_so() {
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["weather:error"], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather?");
        let both = calling(&[("a", "weather", json!({})), ("b", "ask_expert", json!({}))]);
        answer(agent.send(&watch), &both).await;
        in_text(&mut agent, &both, "sunny\nask somebody\nin three lines");
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body());
        pass(line, &calling(&[("c", "weather", json!({}))])).await;
        assert!(notices(&watch).iter().any(|it| it.contains("the model reads the agent's own")));
    });
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["weather:error"], ..Trial::default() });
        let agent = Agent::asking("How is the weather?");
        let call = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send_body(&watch, &forced(&agent, &json!("required"))), &call).await;
        ended(&watch, Some(0));
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        assert!(notices(&watch).iter().any(|it| it.contains("is the agent's answer")));
        let outcome = first_call(&watch, |state| state.tasks.iter().next().unwrap().outcome());
        assert_eq!(outcome, Some(Outcome::Answered));
    });
}

#[test]
fn a_fault_changes_its_line_of_a_text_with_several_results() {
    on_paused_time(async {
        let watch = watch(Trial { faults: vec!["ask_expert:error"], ..Trial::default() });
        let mut agent = Agent::asking("How is the weather?");
        let both = calling(&[("b", "weather", json!({})), ("a", "ask_expert", json!({}))]);
        answer(agent.send(&watch), &both).await;
        // The agent sorts calls and results by their ids.
        let mut sorted = both.clone();
        sorted.calls.reverse();
        in_text(&mut agent, &sorted, "ask somebody\nsunny");
        for _ in 0..2 {
            let mut line = agent.send(&watch);
            let own = agent.body();
            assert_eq!(sent(&mut line).await, own.replace("ask somebody", DOWN));
            let next = Reply::of_text("Sunny.");
            pass(line, &next).await;
            agent.go_on(&next, &[]);
            agent.messages.push(json!({"role": "user", "content": "Sure?"}));
        }
        let ends = first_call(&watch, |state| {
            let ends = state.tool_calls.iter().map(|call| call.observation().unwrap().to_owned());
            ends.collect::<Vec<_>>()
        });
        assert_eq!(ends, ["sunny", DOWN]);
    });
}

#[test]
fn conversations_left_in_the_middle_of_a_call_end_and_can_go_on() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let asks = |number: usize| Agent::asking(&format!("How is the weather, {number}?"));
        let call = |number: usize| {
            calling(&[(&format!("c{number}"), "weather", json!({"at": number.to_string()}))])
        };
        let mut agents: Vec<Agent> = (0..130).map(asks).collect();
        for (number, agent) in agents.iter().enumerate() {
            answer(agent.send(&watch), &call(number)).await;
        }
        let at_work = || watch.yard.state.borrow().at_work.tasks().count();
        for number in 1000..3050 {
            answer(asks(number).send(&watch), &Reply::of_text("Sun.")).await;
        }
        // The two beyond those that are never taken for left.
        watch.yard.until("two have ended", |state| state.tasks_done == 2052).await;
        assert_eq!(at_work(), 128);
        let said = notices(&watch);
        assert_eq!(said.iter().filter(|it| it.contains("shown as stopped")).count(), 1, "{said:?}");
        let of = |number: usize| watch.yard.state.borrow().tasks.get(number).unwrap().outcome();
        assert_eq!((of(0), of(1), of(2)), (Some(Outcome::Stopped), Some(Outcome::Stopped), None));
        for number in [1, 100] {
            agents[number].go_on(&call(number), &["sun"]);
            let mut line = agents[number].send(&watch);
            assert_eq!(sent(&mut line).await, agents[number].body());
            pass(line, &Reply::of_text("Sun.")).await;
        }
        watch.yard.until("both have ended", |state| state.tasks_done == 2054).await;
        let state = watch.yard.state.borrow();
        assert_eq!((state.tasks.len(), of(100)), (2181, Some(Outcome::Answered)));
        let runs = state.runs.len();
        assert_eq!(runs, 2180, "a conversation that goes on is no new one");
    });
}
