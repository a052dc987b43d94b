//! Real clients whose calls are answered in their stead: their tools do not run, and they answer nevertheless.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::{Finish, Message as Said, Messages, Reply, State, ToolCall};
use toolyard::wire::{IncomingRequest, WireFormat};

use super::clients::clients;
use super::equal::addresses;
use super::upstream::upstream;
use crate::program::{Home, Ran, text};

/// Two calls at once after each question; then what their results were.
fn rule(_: WireFormat, asked: &IncomingRequest, number: usize) -> Reply {
    let after: Vec<&Said> = asked
        .request
        .messages
        .iter()
        .rev()
        .take_while(|message| !matches!(message, Said::User { .. }))
        .filter(|message| matches!(message, Said::Tool { .. }))
        .collect();
    if !after.is_empty() {
        let results: Vec<&str> = after.iter().map(|message| message.text()).collect();
        return Reply::of_text(format!("They said {}.", results.join(" and ")));
    }
    let call = |index: usize, city: &str| ToolCall {
        id: format!("call_{number}_{index}"),
        tool: "get_weather".into(),
        arguments: json!({ "city": city }),
    };
    let calls = vec![call(0, "Oslo"), call(1, "Rome")];
    Reply { calls, finish: Finish::Calls, ..Reply::of_text("I look twice.") }
}

#[test]
fn a_tool_does_not_run_whose_call_is_skipped_and_the_past_of_the_model_stays() {
    for client in clients() {
        let (home, name) = (Home::new(), client.name);
        let upstream = upstream(Arc::new(rule));
        let run = |more: &[&str]| {
            let fault = "get_weather:error:text=out of order";
            let mut command = home.command(
                &[&["watch", "--headless", "--no-journal", "--fault", fault], more, &["--"]]
                    .concat(),
            );
            command.args(&client.command).env("GOT", home.path("got.txt"));
            for variable in addresses(upstream.address) {
                let (name, value) = variable.split_once('=').unwrap();
                command.env(name, value);
            }
            let ran = Ran::of(command.output().unwrap());
            assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
            ran.out
        };
        let state = home.path("s.json");
        let skipped = run(&["--skip", "--state", text(&state)]);
        let said = "They said out of order and out of order.\n";
        assert_eq!(skipped, said.repeat(skipped.lines().count()), "{name}");
        assert!(!home.path("got.txt").exists(), "{name}: its tool has run");
        let asked: Vec<Messages> = upstream
            .record
            .lock()
            .unwrap()
            .drain(..)
            .map(|exchange| {
                let format = match exchange.request.path() {
                    "/v1/chat/completions" => WireFormat::Chat,
                    "/v1/responses" => WireFormat::Responses,
                    _ => WireFormat::Messages,
                };
                format.read_request(&exchange.request.body).unwrap().request.messages
            })
            .collect();
        // Four requests for each conversation of two questions, each the beginning of the next one.
        assert_eq!(asked.len(), 2 * skipped.lines().count(), "{name}");
        for of_one in asked.chunks(4) {
            for pair in of_one.windows(2) {
                let both = pair[0].iter().zip(pair[1].iter());
                assert!(pair[0].len() < pair[1].len(), "{name}");
                both.for_each(|(before, now)| assert_eq!(told(before), told(now), "{name}"));
            }
        }
        let state: State = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
        let calls: Vec<_> = state.tool_calls.iter().collect();
        assert_eq!(calls.len(), asked.len(), "{name}");
        assert!(calls.iter().all(|call| call.is_skipped), "{name}");
        // Without it the tools run, and the model reads the same.
        assert_eq!(run(&[]), skipped, "{name}");
        let got = std::fs::read_to_string(home.path("got.txt")).unwrap();
        // Some clients run both at once.
        let runs = |city: &str| got.lines().filter(|line| *line == city).count();
        assert_eq!((runs("Oslo"), runs("Rome")), (calls.len() / 2, calls.len() / 2), "{name}");
        println!("{name}: {} calls skipped", calls.len());
    }
}

/// What a message says.
fn told(message: &Said) -> (&str, Vec<&ToolCall>) {
    match message {
        Said::Assistant { text, calls, .. } => (text, calls.iter().collect()),
        other => (other.text(), Vec::new()),
    }
}
