//! The simulated and the scripted agents say only what an agent could know: retrieval reads their words, so a tool's name
//! or a result in them would decide what they are offered.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolyard::app::outside::{self, Habits};
use toolyard::app::session::{JournalChoice, SessionSpec};
use toolyard::domain::{Event, ModelCallEvent, Record, Role, State, Task};
use toolyard::stage::sample::Sample;
use toolyard::store::journal;

use crate::program::Home;
use crate::session::ran;

/// What a retriever reads: thoughts of the actor, and the needs that a planner names.
fn words(role: Role, text: &str) -> String {
    let lines = text.lines().filter(|line| role == Role::Actor || line.starts_with("Lacking:"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A name in the forms in which a text may have it.
fn forms(name: &str) -> [String; 2] {
    [name.to_owned(), name.replace('_', " ")]
}

/// The results of a task's steps which are not in its text, and so must be found.
fn unknown(task: &Task) -> impl Iterator<Item = &str> {
    let finds = task.chain.iter().filter_map(|step| step.finds.as_deref());
    finds.filter(|finds| finds.len() > 3 && !task.text.contains(*finds))
}

/// Asserts that the actor and the planner of a session name no tool, and call only tools that are offered to them; and
/// that they use no result before a tool has returned it.
fn assert_honest(who: &str, records: &[Record]) {
    let manifests = Sample::General.manifests().unwrap();
    let tools: Vec<String> = manifests.iter().map(|tool| tool.spec.name.to_string()).collect();
    let mut state = State::default();
    let mut read = 0;
    for record in records {
        state.apply(record);
        let Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) =
            &record.event
        else {
            continue;
        };
        let call = state.model_call(effect.id).unwrap();
        let Some(task) = state.task(call.task) else { continue };
        if !matches!(call.role, Role::Actor | Role::Planner) {
            continue;
        }
        let offered: BTreeSet<_> = call.request.tools.iter().map(|tool| &tool.name).collect();
        for made in &reply.calls {
            let allowed = &call.request.allowed;
            let may = allowed.is_empty() || allowed.contains(&made.tool);
            assert!(offered.contains(&made.tool) && may, "{who} calls {}", made.tool);
        }
        let said = words(call.role, &reply.text);
        for name in tools.iter().flat_map(|tool| forms(tool)) {
            // `calculator` is a tool, and a word.
            let in_task = task.task.text.to_lowercase().contains(&name);
            assert!(in_task || !said.contains(&name), "{who}: {said:?} names {name}");
        }
        let values: Vec<_> = reply.calls.iter().map(|made| made.arguments.to_string()).collect();
        let all = format!("{said} {}", values.concat());
        if all.trim().is_empty() {
            continue;
        }
        read += 1;
        let seen: String = task
            .tool_calls
            .iter()
            .filter_map(|call| state.tool_call(*call))
            .filter_map(|call| Some(call.observation()?.to_lowercase()))
            .collect();
        for finds in unknown(&task.task) {
            let is_found = seen.contains(&finds.to_lowercase());
            assert!(is_found || !all.contains(finds), "{who}: {all:?} knows {finds}");
        }
    }
    assert!(read > 20, "{who}: {read} texts");
}

#[test]
fn no_tool_is_named_and_no_result_before_it_is_found() {
    for strategy in ["react+btp", "toolnet", "workers+btp"] {
        let home = Home::new();
        let run = ["run", "--journal", "j.jsonl", "--strategy", strategy, "--tasks-limit", "60"];
        home.run(&run);
        let loaded = journal::read(&home.path("j.jsonl")).unwrap();
        assert_honest(strategy, &loaded.records);
    }
}

#[test]
fn scripted_agents_know_no_more_than_their_requests_say() {
    let tasks = Sample::General.tasks().unwrap();
    let url = outside::serve(tasks).unwrap();
    for agent in outside::USUAL {
        for (strategy, seed) in [("react+btp", 1), ("react+prompt", 2), ("toolnet", 3)] {
            let home = Home::new();
            home.write("config.toml", "");
            let spec = SessionSpec {
                config: Some(home.path("config.toml")),
                strategy: Some(strategy.parse().unwrap()),
                model: Some(agent.name.into()),
                outside: Some(outside::seeded(&url, seed)),
                costs: Some("1..10".parse().unwrap()),
                tasks_limit: Some(30),
                fresh: true,
                journal: JournalChoice::None,
                ..SessionSpec::default()
            };
            let (seen, _) = ran(&spec);
            assert_honest(&format!("{} with {strategy}", agent.name), &seen);
        }
    }
}

/// A request for a task, with the tools in this order.
fn request(agent: &Habits, task: &str, tools: &[String]) -> Value {
    let tool = |name: &String| json!({"type": "function", "function": {"name": name}});
    json!({
        "model": agent.name,
        "messages": [{"role": "user", "content": format!("Task: {task}")}],
        "tools": tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

#[tokio::test]
async fn what_scripted_agents_call_does_not_depend_on_the_order_of_tools() {
    let tasks = Sample::General.tasks().unwrap();
    let url = outside::serve(tasks.clone()).unwrap();
    let manifests = Sample::General.manifests().unwrap();
    let names: Vec<String> = manifests.iter().map(|tool| tool.spec.name.to_string()).collect();
    let client = reqwest::Client::new();
    for agent in outside::USUAL {
        let mut chosen = BTreeSet::new();
        for seed in 0..6 {
            let at = format!("{}/chat/completions", outside::seeded(&url, seed));
            for task in &tasks[..12] {
                let mut orders = vec![names.clone(), names.iter().rev().cloned().collect()];
                orders.push([&names[7..], &names[..7]].concat());
                let mut calls = Vec::new();
                for order in orders {
                    let body = request(agent, &task.text, &order).to_string();
                    let answer = client.post(&at).body(body).send().await.unwrap();
                    let answer: Value =
                        serde_json::from_str(&answer.text().await.unwrap()).unwrap();
                    let message = &answer["choices"][0]["message"];
                    calls.push(message["tool_calls"][0]["function"]["name"].clone());
                }
                assert!(calls.iter().all(|call| *call == calls[0]), "{}: {calls:?}", agent.name);
                chosen.insert((task.text.clone(), calls[0].to_string()));
            }
        }
        let orders = chosen.len();
        // The usual tool is the same with each seed; the others differ.
        assert_eq!(agent.name == "regular", orders == 12, "{}: {orders}", agent.name);
    }
}
