//! Calls on the wire of tools: those that only a relay has seen, and those that a model has decided before.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::approval::Approval;
use toolyard::domain::edit::Edit;
use toolyard::domain::{
    Command, Event, Record, Reply, SessionEvent, State, ToolError, ToolErrorKind, ToolOutput,
    ToolSpec,
};
use toolyard::tool::foreign_calls::{
    CallRelayEnd, ForeignCall, RelayAnswer, RelayNews, RelayTurn, Returned, way,
};

use super::guests::{Agent, Watch, answer, calling, held_at, pass, sent, watch};
use super::yard::{Trial, on_paused_time};

fn call(watch: &Watch, id: &str, tool: &str, arguments: Value) -> CallRelayEnd {
    let (way, line) = way();
    let patience = Some(Duration::from_secs(60));
    let (server, tool) = ("files".into(), tool.to_owned());
    let call = ForeignCall { server, id: id.into(), tool, arguments, patience, way };
    watch.tools.send(RelayNews::Called(Box::new(call))).unwrap();
    line
}

fn text(text: &str) -> Returned {
    Ok(ToolOutput::of(text))
}

/// What becomes of the call, which may be held before.
async fn turn(line: &mut CallRelayEnd) -> RelayTurn {
    loop {
        match line.turns.recv().await.unwrap() {
            RelayTurn::Held => {}
            turn => return turn,
        }
    }
}

async fn held(line: &mut CallRelayEnd) {
    assert_eq!(line.turns.recv().await, Some(RelayTurn::Held));
}

/// The server gets the call as it came, and answers this.
async fn run(line: &mut CallRelayEnd, returned: Returned) {
    assert_eq!(turn(line).await, RelayTurn::On(None));
    line.returned.take().unwrap().send(returned).unwrap();
}

/// A model decides calls of these arguments, and the agent gets them.
async fn decide(watch: &Watch, tool: &str, arguments: &[Value]) -> (Agent, Reply) {
    let ids: Vec<_> = (0..arguments.len()).map(|n| format!("c{n}")).collect();
    let calls: Vec<_> =
        ids.iter().zip(arguments).map(|(id, it)| (id.as_str(), tool, it.clone())).collect();
    let reply = calling(&calls);
    let agent = Agent::asking("What is in the file?");
    answer(agent.send(watch), &reply).await;
    (agent, reply)
}

fn armed(fault: &'static str) -> Trial {
    Trial { faults: vec![fault], ..Trial::default() }
}

fn observed(state: &State) -> Vec<String> {
    let calls = state.tool_calls.iter();
    calls.map(|call| call.observation().unwrap_or("none").to_owned()).collect()
}

#[test]
fn a_call_that_only_a_relay_has_seen_is_a_call_of_its_own() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let (mut one, mut two) = (
            call(&watch, "1", "read", json!({"a": 1})),
            call(&watch, "2", "read", json!({"a": 1})),
        );
        run(&mut one, text("first")).await;
        run(&mut two, text("second")).await;
        assert_eq!(
            (turn(&mut one).await, turn(&mut two).await),
            (RelayTurn::AsCame, RelayTurn::AsCame)
        );
        watch.tools.send(RelayNews::Ended { server: "files".into() }).unwrap();
        watch.yard.until("its task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        assert_eq!(observed(&state), ["first", "second"]);
        let guest = state.runs.values().next().unwrap().guest.as_ref().unwrap();
        assert_eq!((guest.wire.as_str(), guest.endpoint.as_str()), ("MCP", "mcp:files"));
    });
}

#[test]
fn only_a_tool_with_another_definition_is_defined_otherwise() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut line = call(&watch, "1", "read", json!({}));
        run(&mut line, text("first")).await;
        let known = watch.yard.state.borrow().tools.get("read").unwrap().spec.as_ref().clone();
        for (description, notices) in [("Reads.", 0), ("Reads.", 0), ("Writes.", 1)] {
            let description = description.to_owned();
            let tools = vec![ToolSpec { description: description.clone(), ..known.clone() }];
            watch.tools.send(RelayNews::Offered { server: "files".into(), tools }).unwrap();
            let is_there = |state: &State| state.tools["read"].spec.description == description;
            watch.yard.until("it is listed", is_there).await;
            let told = |record: &Record| {
                matches!(&record.event, Event::Session(SessionEvent::Noticed { text })
                    if text.contains("its tool read otherwise"))
            };
            let records = watch.yard.records.borrow();
            assert_eq!(records.iter().filter(|it| told(it)).count(), notices, "{description}");
        }
    });
}

#[test]
fn a_fault_before_keeps_the_server_from_a_call_and_one_after_does_not() {
    on_paused_time(async {
        let watch = watch(armed("read:error:text=no"));
        let mut line = call(&watch, "1", "read", json!({}));
        let failed = Err(ToolError::new(ToolErrorKind::Failed, "no"));
        let expected = RelayAnswer { returned: failed, ends_server: false };
        assert_eq!(turn(&mut line).await, RelayTurn::Instead(expected));
    });
    on_paused_time(async {
        let watch = watch(armed("read:answer:text=made up"));
        let mut line = call(&watch, "1", "read", json!({}));
        let expected = RelayAnswer { returned: text("made up"), ends_server: false };
        assert_eq!(turn(&mut line).await, RelayTurn::Instead(expected));
    });
    on_paused_time(async {
        let watch = watch(armed("read:crash"));
        let mut line = call(&watch, "1", "read", json!({}));
        assert!(matches!(
            turn(&mut line).await,
            RelayTurn::Instead(RelayAnswer { ends_server: true, .. })
        ));
    });
    on_paused_time(async {
        let watch = watch(armed("read:reset"));
        let mut line = call(&watch, "1", "read", json!({}));
        run(&mut line, text("the true one")).await;
        assert!(matches!(
            turn(&mut line).await,
            RelayTurn::Instead(RelayAnswer { returned: Err(_), .. })
        ));
        let state = watch.yard.state.borrow();
        let withheld = state.tool_calls.iter().next().unwrap().withheld.clone();
        assert_eq!(withheld.unwrap().text, "the true one");
    });
}

#[test]
fn a_person_holds_changes_and_answers_a_call() {
    on_paused_time(async {
        let watch = held_at("read:before").await;
        let mut line = call(&watch, "1", "read", json!({"a": 1}));
        held(&mut line).await;
        let effect = watch.yard.state.borrow().tool_calls.iter().next().unwrap().id;
        let edit = Edit::Arguments(json!({"a": 2}));
        watch.yard.wish(Command::EditCall { effect, edit: Box::new(edit), shown: true });
        watch.yard.wish(Command::Run);
        assert_eq!(turn(&mut line).await, RelayTurn::On(Some(json!({"a": 2}))));
        line.returned.take().unwrap().send(text("two")).unwrap();
        assert_eq!(turn(&mut line).await, RelayTurn::AsCame);
        let mut line = call(&watch, "2", "read", json!({"a": 3}));
        held(&mut line).await;
        drop(line);
        watch.yard.until("it is over", |state| state.tool_calls_in_flight().count() == 0).await;
    });
}

#[test]
fn rules_of_a_person_count_and_the_rule_for_unknown_tools_does_not() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let rules = |deny: &[&str]| {
            let deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
            Command::SetApproval { approval: Box::new(Approval { deny, ..Approval::default() }) }
        };
        watch.yard.wish(rules(&["write"]));
        watch.yard.until("they are set", |state| !state.approval.deny.is_empty()).await;
        let mut line = call(&watch, "1", "read", json!({}));
        run(&mut line, text("read")).await;
        assert_eq!(turn(&mut line).await, RelayTurn::AsCame);
        let mut line = call(&watch, "2", "write", json!({}));
        let RelayTurn::Instead(answer) = turn(&mut line).await else { panic!("it went on") };
        assert!(answer.returned.unwrap_err().text.contains("write is denied"));
    });
}

#[test]
fn calls_without_end_are_of_many_tasks() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        for n in 0..250 {
            let mut line = call(&watch, &n.to_string(), "read", json!({"n": n}));
            run(&mut line, text("x")).await;
            assert_eq!(turn(&mut line).await, RelayTurn::AsCame);
        }
        let state = watch.yard.state.borrow();
        assert_eq!((state.tasks.len(), state.runs.len()), (3, 1));
    });
}

#[test]
fn a_call_of_both_wires_is_one_call_with_the_times_of_its_way() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let arguments = [json!({"at": "Oslo", "n": 1}), json!({"at": "Oslo", "n": 1})];
        let (mut agent, reply) = decide(&watch, "mcp__files__weather", &arguments).await;
        let same = || json!({"n": 1, "at": "Oslo"});
        let (mut one, mut two) =
            (call(&watch, "1", "weather", same()), call(&watch, "2", "weather", same()));
        let other = call(&watch, "3", "weather", json!({"at": "Rome"}));
        run(&mut two, text("sun")).await;
        run(&mut one, text("rain")).await;
        assert_eq!(
            (turn(&mut one).await, turn(&mut two).await),
            (RelayTurn::AsCame, RelayTurn::AsCame)
        );
        agent.go_on(&reply, &["rain", "It says: sun"]);
        answer(agent.send(&watch), &Reply::of_text("Rain and sun.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        assert_eq!(observed(&state), ["rain", "sun", "none"], "told apart by order");
        let ways: Vec<_> = state.tool_calls.iter().map(|call| call.relayed.clone()).collect();
        let way = ways[0].as_ref().unwrap();
        assert!(way.ran.is_some() && way.read.is_some() && &*way.server == "files", "{way:?}");
        assert!(ways[1].is_some() && ways[2].is_none(), "{ways:?}");
        assert!(state.tool_calls.iter().all(|call| call.withheld.is_none()));
        drop(other);
    });
}

#[test]
fn what_the_stations_decided_at_the_model_s_wire_holds_at_the_server() {
    on_paused_time(async {
        let watch = watch(armed("files__weather:error:text=no"));
        let (mut agent, reply) = decide(&watch, "files__weather", &[json!({"at": "Oslo"})]).await;
        let mut line = call(&watch, "1", "weather", json!({"at": "Oslo"}));
        let failed = Err(ToolError::new(ToolErrorKind::Failed, "no"));
        let expected = RelayAnswer { returned: failed, ends_server: false };
        assert_eq!(turn(&mut line).await, RelayTurn::Instead(expected), "the server never gets it");
        agent.go_on(&reply, &["no"]);
        answer(agent.send(&watch), &Reply::of_text("It failed.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        assert_eq!((observed(&state), state.tool_calls.len()), (vec!["no".to_owned()], 1));
    });
    on_paused_time(async {
        let watch = watch(armed("files__weather:reset"));
        let (mut agent, reply) = decide(&watch, "files__weather", &[json!({"at": "Oslo"})]).await;
        let mut line = call(&watch, "1", "weather", json!({"at": "Oslo"}));
        run(&mut line, text("rain")).await;
        let RelayTurn::Instead(given) = turn(&mut line).await else { panic!("as it came") };
        let read = given.returned.unwrap_err().text;
        agent.go_on(&reply, &[&read]);
        let mut asked = agent.send(&watch);
        let body = sent(&mut asked).await;
        assert_eq!(body, agent.body(), "the agent's own words reach the model");
        pass(asked, &Reply::of_text("It failed.")).await;
    });
}
