//! Forks of real clients: in some of their conversations one result and one reply change.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::program::{Home, Ran};
use crate::watched::clients::{Client, clients};
use crate::watched::equal::{addresses, rule};
use crate::watched::upstream::upstream;

/// The most conversations of a client that are forked: all six of one take most of a minute.
const CONVERSATIONS: usize = 2;
/// A text that is spelled differently in JSON.
const CHANGED: &str = "CHANGED <&\"é";

fn run(home: &Home, arguments: &[&str], endpoint: SocketAddr) -> Ran {
    let mut command = home.command(arguments);
    for variable in addresses(endpoint) {
        let (name, value) = variable.split_once('=').unwrap();
        command.env(name, value);
    }
    Ran::of(command.output().unwrap())
}

/// The last call of each kind in each conversation that ended: its number, and the requests of that conversation after it.
fn last_calls(home: &Home, kind: &str) -> Vec<(u64, usize)> {
    let lines = home.read("r.jsonl.zst");
    let events: Vec<Value> =
        lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut of_task, mut of_call) = (BTreeMap::new(), BTreeMap::new());
    let mut last: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
    for event in &events {
        let (name, data) = (event["kind"].as_str().unwrap(), &event["data"]);
        let number = |value: &Value| value.as_u64();
        if name == "TasksQueued" {
            let run = number(&data["tasks"][0]["run"]).unwrap_or(1);
            of_task.insert(number(&data["first"]).unwrap(), run);
        } else if name.ends_with("CallRequested") {
            let run = of_task[&number(&data["task"]).unwrap()];
            of_call.insert(number(&data["effect"]["id"]).unwrap(), run);
            if name == "ModelCallRequested" {
                last.entry(run).and_modify(|(_, later)| *later += 1);
            }
        } else if name == kind {
            let id = number(&data["effect"]["id"]).unwrap();
            last.insert(of_call[&id], (id, 0));
        }
    }
    last.into_values().collect()
}

fn forks(client: &Client) {
    let (home, upstream) = (Home::new(), upstream(Arc::new(rule)));
    let command: Vec<&str> = client.command.iter().map(String::as_str).collect();
    let watch = ["watch", "--headless", "--journal", "r.jsonl.zst", "--"];
    let name = client.name;
    let first = run(&home, &[&watch[..], &command].concat(), upstream.address);
    assert_eq!(first.code, 0, "{name}: {}", first.err);
    let mut tried = 0;
    for (kind, part) in [("ToolCallFinished", "result"), ("ModelCallFinished", "reply")] {
        for (call, later) in last_calls(&home, kind).into_iter().take(CONVERSATIONS) {
            upstream.record.lock().unwrap().clear();
            let (call, set) = (call.to_string(), format!("{part}={CHANGED}"));
            let fork = ["fork", "r.jsonl.zst", "--call", &call, "--set", &set];
            let ran = run(
                &home,
                &[&fork[..], &["--headless", "--trust-journal"]].concat(),
                upstream.address,
            );
            assert_eq!(ran.code, 0, "{name}: {part} of {call}: {}", ran.err);
            let sent = upstream.record.lock().unwrap();
            assert_eq!(sent.len(), later, "{name}: {part} of {call}: {}", ran.err);
            for exchange in sent.iter() {
                let body: Value = serde_json::from_slice(&exchange.request.body).unwrap();
                let has_it = serde_json::to_string(&body).unwrap().contains("CHANGED <&");
                assert!(has_it, "{name}: {part} of {call}: {body}");
            }
            tried += 1;
        }
    }
    println!("{name}: {tried} forks");
}

#[test]
fn forks_of_real_clients_change_one_conversation() {
    clients().iter().for_each(forks);
}
