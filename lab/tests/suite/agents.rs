//! The scripted agents say only what an agent could know, and what they do depends on no order.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolyard::app::session::{JournalChoice, SessionHandle, SessionSpec};
use toolyard::domain::Record;
use toolyard::stage::sample::Sample;
use toolyard_lab::agents::{self, Habits};

use crate::honesty::assert_honest;
use crate::program::Home;

/// Every record of a session.
fn ran(spec: &SessionSpec) -> Vec<Record> {
    let SessionHandle { mut records, commands, engine, .. } =
        spec.prepare().unwrap().spawn().unwrap();
    let mut seen = Vec::new();
    while let Some(record) = records.blocking_recv() {
        seen.push((*record).clone());
    }
    drop(commands);
    engine.join().unwrap();
    seen
}

#[test]
fn scripted_agents_know_no_more_than_their_requests_say() {
    let tasks = Sample::General.tasks().unwrap();
    let url = agents::serve(tasks).unwrap();
    for agent in agents::USUAL {
        for (strategy, seed) in [("react+btp", 1), ("react+prompt", 2), ("toolnet", 3)] {
            let home = Home::new();
            home.write("config.toml", "");
            let spec = SessionSpec {
                config: Some(home.path("config.toml")),
                strategy: Some(strategy.parse().unwrap()),
                model: Some(agent.name.into()),
                endpoints: [(agent.name.into(), format!("{url}/{{seed}}"))].into(),
                seed: Some(seed),
                costs: Some("1..10".parse().unwrap()),
                tasks_limit: Some(30),
                fresh: true,
                journal: JournalChoice::None,
                ..SessionSpec::default()
            };
            let seen = ran(&spec);
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
    let url = agents::serve(tasks.clone()).unwrap();
    let manifests = Sample::General.manifests().unwrap();
    let names: Vec<String> = manifests.iter().map(|tool| tool.spec.name.to_string()).collect();
    let client = toolyard::net::client::builder().build().unwrap();
    for agent in agents::USUAL {
        let mut chosen = BTreeSet::new();
        for seed in 0..6 {
            let at = format!("{url}/{seed}/chat/completions");
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
