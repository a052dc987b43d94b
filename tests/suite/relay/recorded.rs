//! A server that says what another one said in a session.

use serde_json::json;

use super::client::{Client, text};
use crate::program::Home;

/// A session with the server, in which a fault has changed a result.
fn record(home: &Home) {
    let fault = ["--fault", "now:wrong:nth=2", "--journal", "j.jsonl", "--name", "own"];
    let mut client = Client::start(home, Some(&fault), "notes");
    let list = client.ask("tools/list", json!({}));
    client.answer(list);
    for text in ["one", "two"] {
        let id = client.call("now", json!({ "text": text }));
        client.answer(id);
    }
    let id = client.call("die", json!({}));
    client.answer(id);
    client.end();
}

fn replayed(home: &Home, more: &[&str]) -> Client {
    Client::of(home.command(&[&["mcp", "--recorded", "j.jsonl", "--no-journal"], more].concat()))
}

#[test]
fn a_recorded_server_needs_no_server() {
    let home = Home::new();
    record(&home);
    let mut client = replayed(&home, &[]);
    let greeting = client.ask("initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(client.answer(greeting)["result"]["serverInfo"]["name"], "own");
    let list = client.ask("tools/list", json!({}));
    let list = client.answer(list);
    let names: Vec<_> =
        list["result"]["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, [&json!("now"), &json!("sleep"), &json!("die")]);
    // The order of calls may differ. The result is the server's, not the one that the fault made of it.
    let said = ["two", "one"].map(|text| client.call("now", json!({ "text": text })));
    let said = said.map(|id| client.answer(id));
    assert_eq!(text(&said[0]), ("two", false));
    assert_eq!(said[1]["result"]["structuredContent"], json!({"result": "one"}));
    let unknown = client.call("now", json!({"text": "three"}));
    let unknown = client.answer(unknown);
    let (why, is_error) = text(&unknown);
    assert!(is_error && why.contains("nearest recorded call is now {\"text\":\"one\"}"), "{why}");
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn faults_act_on_a_recorded_server_too() {
    let home = Home::new();
    record(&home);
    let mut client = replayed(&home, &["--fault", "now:error:text=down"]);
    let id = client.call("now", json!({"text": "one"}));
    assert_eq!(text(&client.answer(id)), ("down", true));
}

#[test]
fn a_journal_without_such_a_server_is_refused() {
    let home = Home::new();
    record(&home);
    home.write("empty.jsonl", "");
    for (words, why) in [
        (&["--recorded", "j.jsonl", "--name", "other"][..], "no server other; its servers are own"),
        (&["--recorded", "no.jsonl"], "no.jsonl"),
        (&["--recorded", "empty.jsonl"], "empty.jsonl"),
        (&["--recorded", "j.jsonl", "--target", "http://127.0.0.1:1"], "--recorded"),
    ] {
        let ran = home.run(&[&["mcp"], words].concat());
        assert!(ran.code == 2 && ran.err.contains(why), "{ran:?}");
    }
}
