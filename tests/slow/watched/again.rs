//! Real clients that run again over their recorded answers, with nobody at the endpoint's address.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use serde_json::Value;

use super::clients::{Client, clients};
use super::equal::{addresses, rule};
use super::started::{Watch, post};
use super::upstream::upstream;
use crate::program::{Home, Ran, text};

/// What is of times, ports, origins and money in a state; and numbers of events, among which notices are.
const OTHER: [&str; 19] = [
    // A copy of an answer comes beside other events.
    "ended_by",
    "events",
    "first_line",
    "n",
    "at",
    "requested",
    "started",
    "ended",
    "micros",
    "last_micros",
    "latency",
    "origin",
    "endpoint",
    "source",
    "dollars",
    "credits",
    "unpriced",
    "budget",
    "totals",
];

fn run(home: &Home, client: &Client, arguments: &[&str], endpoint: SocketAddr) -> Ran {
    other_run(home, client, arguments, endpoint, 0)
}

/// The same, where the tool call with this number returns something else.
fn other_run(
    home: &Home,
    client: &Client,
    arguments: &[&str],
    endpoint: SocketAddr,
    other: usize,
) -> Ran {
    let mut command = home.command(&[&["watch", "--headless"], arguments, &["--"]].concat());
    command.args(&client.command).env("OTHER_RESULT", other.to_string());
    for variable in addresses(endpoint) {
        let (name, value) = variable.split_once('=').unwrap();
        command.env(name, value);
    }
    Ran::of(command.output().unwrap())
}

/// An address where nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Takes out of a state what may differ.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OTHER.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// What a session knows, without notices and what may differ.
fn known(home: &Home, journal: &str) -> Value {
    let state = home.succeed(&["replay", text(&home.path(journal)), "--json", "--full"]);
    let mut state: Value = serde_json::from_str(&state).unwrap();
    let told = state["transcript"].as_array_mut().unwrap();
    told.retain(|entry| entry.pointer("/what/told/event/kind") != Some(&"Noticed".into()));
    strip(&mut state);
    state
}

/// The lines of a journal of this kind.
fn lines(home: &Home, journal: &str, kind: &str) -> Vec<Value> {
    let records = toolyard::store::journal::read(&home.path(journal)).unwrap().records;
    let of_kind = records.iter().filter(|record| record.event.kind() == kind);
    of_kind.map(|record| serde_json::to_value(record).unwrap()).collect()
}

#[test]
fn clients_that_run_again_need_no_endpoint_and_do_the_same() {
    for client in clients() {
        let (home, name) = (Home::new(), client.name);
        let upstream = upstream(Arc::new(rule));
        let journal = home.path("r.jsonl");
        let first = run(&home, &client, &["--journal", text(&journal)], upstream.address);
        assert_eq!(first.code, 0, "{name}: {}", first.err);
        let asked = upstream.record.lock().unwrap().len();
        let again = home.path("a.jsonl");
        let over = ["--recorded", text(&journal), "--strict", "--journal", text(&again)];
        let second = run(&home, &client, &over, nobody());
        assert_eq!((second.code, &second.out), (first.code, &first.out), "{name}: {}", second.err);
        assert_eq!(upstream.record.lock().unwrap().len(), asked, "{name}: nothing is sent");
        let all = format!("{asked} of {asked} model calls answered from the record");
        assert!(second.err.contains(&all), "{name}: {}", second.err);
        let [one, other] = ["r.jsonl", "a.jsonl"].map(|journal| known(&home, journal));
        for (part, value) in one.as_object().unwrap() {
            assert!(*value == other[part], "{name}: {part}: {value}\n{}", other[part]);
        }
        // The record of the run over a record is one, too.
        let last = home.path("b.jsonl");
        let over = ["--recorded", text(&again), "--strict", "--journal", text(&last)];
        let third = run(&home, &client, &over, nobody());
        assert_eq!((third.code, &third.out), (first.code, &first.out), "{name}: {}", third.err);
        println!("{name}: {asked} requests answered from the record");
    }
}

#[test]
fn another_result_is_named_where_the_model_would_read_it() {
    let found = clients().into_iter().find(|client| client.name == "the SDKs of Python");
    let Some(client) = found else { return };
    let (home, upstream) = (Home::new(), upstream(Arc::new(rule)));
    let journal = home.path("r.jsonl");
    let first = run(&home, &client, &["--journal", text(&journal)], upstream.address);
    assert_eq!(first.code, 0, "{}", first.err);
    let requests = lines(&home, "r.jsonl", "ModelCallRequested");
    for other in [1, 4, 10, 15, 24] {
        let again = format!("a{other}.jsonl");
        let path = home.path(&again);
        let over = ["--recorded", text(&journal), "--strict", "--journal", text(&path)];
        let second = other_run(&home, &client, &over, nobody(), other);
        assert_eq!(second.code, 1, "{}", second.err);
        let parted = &lines(&home, &again, "RunParted")[..];
        let [parted] = parted else { panic!("{parted:?}") };
        let parted = &parted["data"];
        // Each conversation has four requests, and two calls after the first and the third one.
        let (conversation, call) = ((other - 1) / 4, (other - 1) % 4);
        let request = &requests[conversation * 4 + 1 + call / 2 * 2];
        assert_eq!(parted["nearest"], request["n"], "{other}");
        let city = ["Oslo", "Rome \"centro\" é"][call % 2];
        assert_eq!(parted["asked"], format!("rainy in {city}"), "{other}");
        assert_eq!(parted["recorded"], format!("sunny in {city}"), "{other}");
        let messages = request["data"]["request"]["messages"].as_array().unwrap();
        let results = messages.iter().enumerate().filter(|(_, message)| message["from"] == "tool");
        let (at, _) = results.clone().nth(call).unwrap();
        assert_eq!(parted["field"], format!("messages[{at}].content"), "{other}");
        assert!(second.err.contains(&format!("messages[{at}].content")), "{}", second.err);
        // The model can read the recorded result instead.
        let over =
            ["--recorded", text(&journal), "--strict", "--results", "recorded", "--no-journal"];
        let third = other_run(&home, &client, &over, nobody(), other);
        assert_eq!((third.code, &third.out), (0, &first.out), "{}", third.err);
    }
}

#[test]
fn what_is_no_record_of_a_watched_agent_is_refused_and_half_a_record_is_told() {
    let home = Home::new();
    home.succeed(&["run", "--tasks-limit", "1", "--journal", "own.jsonl"]);
    let (root, newer) =
        (env!("CARGO_MANIFEST_DIR"), "{\"toolyard_journal\":99,\"program\":\"9.0\"}\n");
    let whole = std::fs::read(format!("{root}/tests/data/journals/watched.jsonl")).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    std::fs::write(home.path("newer.jsonl"), newer).unwrap();
    std::fs::write(home.path("empty.jsonl"), lines[..2].concat()).unwrap();
    std::fs::write(home.path("torn.jsonl"), &whole[..whole.len() - 20]).unwrap();
    let over = |journal: &str| {
        home.run(&["watch", "--headless", "--no-journal", "--recorded", journal, "--", "true"])
    };
    for (journal, says) in [
        ("none.jsonl", "No such file"),
        ("own.jsonl", "watched agents did not act in this session; `toolyard run --recorded`"),
        ("newer.jsonl", "read it with toolyard 9.0 or newer"),
        ("empty.jsonl", "no request of an agent is in it"),
    ] {
        let ran = over(journal);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(journal) && ran.err.contains(says), "{}", ran.err);
    }
    // A session that was killed before its first request goes on from nothing.
    for (name, count) in [("empty.jsonl", 2), ("head.jsonl", 1)] {
        std::fs::write(home.path(name), lines[..count].concat()).unwrap();
        let on = home.run(&[
            "watch",
            "--headless",
            "--no-journal",
            "--resume",
            name,
            "--",
            "echo",
            "it runs",
        ]);
        assert!(on.code == 0 && on.err.contains("no agent had sent a request yet"), "{on:?}");
        assert!(on.out.contains("it runs"), "{on:?}");
    }
    let torn = over("torn.jsonl");
    assert_eq!(torn.code, 0, "{}", torn.err);
    assert!(torn.err.contains("torn.jsonl: ignored an incomplete last line"), "{}", torn.err);
    let alone = home.run(&["watch", "--headless", "--strict", "--", "true"]);
    assert_eq!((alone.code, alone.err.contains("--recorded")), (2, true), "{}", alone.err);
    // A session that still runs.
    let upstream = upstream(Arc::new(rule));
    let running =
        Watch::start(&home, &[("OPENAI_BASE_URL", format!("http://{}/v1", upstream.address))]);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#;
    running.ask(&post("/v1/chat/completions", "", body));
    let half = over("j.jsonl");
    assert_eq!(half.code, 0, "{}", half.err);
    assert!(half.err.contains("j.jsonl: its session still runs"), "{}", half.err);
    running.end();
}
