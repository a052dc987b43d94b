//! What a session makes of calls on the wire of tools.

use serde_json::json;

use super::client::{Client, kinds, text};
use super::server::calls;
use crate::program::Home;

fn client(home: &Home, more: &[&str]) -> Client {
    Client::start(home, Some(&[&["--name", "own", "--journal", "j.jsonl"], more].concat()), "notes")
}

#[test]
fn a_call_that_fails_before_never_reaches_the_server() {
    let home = Home::new();
    let mut client = client(&home, &["--fault", "now:error:text=no way"]);
    let id = client.call("now", json!({}));
    assert_eq!(text(&client.answer(id)), ("no way", true));
    let id = client.call("sleep", json!({"ms": 0, "text": "it ran"}));
    assert_eq!(text(&client.answer(id)), ("it ran", false));
    assert_eq!(client.end().0, Some(0));
    let called = calls(&home.path("notes"));
    assert_eq!(called.iter().map(|call| &call["params"]["name"]).collect::<Vec<_>>(), ["sleep"]);
    let kinds = kinds(&home.path("j.jsonl"));
    assert!(kinds.iter().any(|kind| kind == "FaultFired"), "{kinds:?}");
}

#[test]
fn a_call_that_fails_after_reaches_the_server_once() {
    let home = Home::new();
    let mut client = client(&home, &["--fault", "now:reset"]);
    let id = client.call("now", json!({"text": "the true one"}));
    let answer = client.answer(id);
    let (said, failed) = text(&answer);
    assert!(failed && !said.contains("the true one"), "{answer}");
    client.end();
    assert_eq!(calls(&home.path("notes")).len(), 1);
    // The session knows both.
    assert!(home.read("j.jsonl").contains("the true one"));
}

#[test]
fn a_silent_server_is_the_error_that_clients_know() {
    let home = Home::new();
    let mut client =
        client(&home, &["--fault", "now:timeout", "--fault", "sleep:answer:text=made up"]);
    let id = client.call("now", json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32001);
    let id = client.call("sleep", json!({"ms": 0}));
    assert_eq!(text(&client.answer(id)), ("made up", false));
    client.end();
    assert_eq!(calls(&home.path("notes")).len(), 0);
}

#[test]
fn a_made_up_text_has_the_structure_that_clients_check() {
    // In place of the server's answer, before it is known and after it.
    for (fault, called) in [("now:answer:text=made up", 0), ("now:wrong", 1)] {
        let home = Home::new();
        let mut client = client(&home, &["--fault", fault]);
        let list = client.ask("tools/list", json!({}));
        client.answer(list);
        let id = client.call("now", json!({"text": "3 in stock"}));
        let answer = client.answer(id);
        let (said, failed) = text(&answer);
        assert!(!failed && said != "3 in stock", "{answer}");
        assert_eq!(answer["result"]["structuredContent"], json!({"result": said}));
        client.end();
        assert_eq!(calls(&home.path("notes")).len(), called);
    }
}

#[test]
fn a_crash_ends_the_server_and_a_slow_call_lets_others_pass() {
    let home = Home::new();
    let mut client = client(&home, &["--fault", "sleep:latency:ms=1500", "--fault", "die:crash"]);
    let slow = client.call("sleep", json!({"ms": 0, "text": "late"}));
    let quick = client.call("now", json!({"text": "soon"}));
    let first: serde_json::Value = loop {
        let line = client.line().unwrap();
        if let Ok(read) = serde_json::from_slice(&line) {
            break read;
        }
    };
    assert_eq!(first["id"], quick);
    assert_eq!(text(&client.answer(slow)), ("late", false));
    let id = client.call("die", json!({}));
    assert!(text(&client.answer(id)).1);
    assert_eq!(client.line(), None, "the server has ended");
    client.end();
    assert_eq!(calls(&home.path("notes")).len(), 2);
}

#[test]
fn a_secret_of_the_server_reaches_its_client_and_not_the_journal() {
    let home = Home::new();
    let secret = "s3rver-s3cret-0123456789";
    home.write("v.json", json!({"TOKEN": secret}).to_string());
    let mut client = client(&home, &["--variables", "v.json"]);
    let id = client.call("now", json!({"text": format!("a key: {secret}")}));
    assert!(text(&client.answer(id)).0.contains(secret));
    client.end();
    assert!(!home.read("j.jsonl").contains(secret));
    assert!(home.read("notes").contains(secret));
}

#[test]
fn a_changed_list_is_told_and_read_until_the_fault_is_over() {
    let home = Home::new();
    let mut client = client(&home, &["--fault", "mcp:own:changed-list:change=drop:nth=1"]);
    let listed = |client: &mut Client| {
        let id = client.ask("tools/list", json!({}));
        let answer = client.answer(id);
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&mut client), ["now", "sleep", "die"]);
    for tools in [&["sleep", "die"][..], &["now", "sleep", "die"]] {
        let id = client.call("now", json!({"text": "it ran"}));
        let notice: serde_json::Value = serde_json::from_slice(&client.line().unwrap()).unwrap();
        assert_eq!(notice["method"], "notifications/tools/list_changed");
        assert_eq!(text(&client.answer(id)), ("it ran", false));
        assert_eq!(listed(&mut client), tools);
    }
    // Once more is no news.
    let id = client.call("now", json!({"text": "it ran"}));
    let answer: serde_json::Value = serde_json::from_slice(&client.line().unwrap()).unwrap();
    assert_eq!(answer["id"], id);
    client.end();
    assert_eq!(calls(&home.path("notes")).len(), 3);
}
