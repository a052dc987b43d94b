//! What passes `toolyard watch` is what was sent, byte for byte; and clients do behind it what they do without it.

use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use toolyard::domain::{Finish, Message as Said, Reply, ToolCall, Usage};
use toolyard::wire::{IncomingRequest, WireFormat};

use super::clients::{Client, clients};
use super::http::Message;
use super::tap::{Exchange, tap};
use super::upstream::{Upstream, upstream, without_usage};
use crate::program::{Home, Ran, text};

/// Headers of one connection, and the names of hosts.
const OF_CONNECTION: [&str; 6] =
    ["host", "connection", "keep-alive", "transfer-encoding", "te", "upgrade"];

/// What is added to a request for a stream of chat that does not ask for its usage.
const ASKING: &str = "\"stream_options\":{\"include_usage\":true},";

/// Two calls at once; then an answer.
pub fn rule(_: WireFormat, asked: &IncomingRequest, number: usize) -> Reply {
    let messages = asked.request.messages.iter();
    let after: Vec<&Said> =
        messages.rev().take_while(|message| !matches!(message, Said::User { .. })).collect();
    let results = after.iter().filter(|message| matches!(message, Said::Tool { .. })).count();
    let usage = Usage { tokens_in: 30, tokens_out: 12, cached: 8, ..Usage::default() };
    if results > 0 {
        return Reply {
            usage,
            ..Reply::of_text(format!("It is sunny {results} times: \u{1F31E}."))
        };
    }
    let call = |index: usize, city: &str| ToolCall {
        id: format!("call_{number}_{index}"),
        tool: "get_weather".into(),
        arguments: json!({ "city": city }),
    };
    let calls = vec![call(0, "Oslo"), call(1, "Rome \"centro\" é")];
    Reply { calls, finish: Finish::Calls, usage, ..Reply::of_text("I look twice.") }
}

/// The variables that name the endpoint.
pub fn addresses(of: SocketAddr) -> [String; 4] {
    [
        format!("OPENAI_BASE_URL=http://{of}/v1"),
        format!("OPENAI_API_BASE=http://{of}/v1"),
        format!("ANTHROPIC_BASE_URL=http://{of}"),
        format!("ANTHROPIC_API_URL=http://{of}"),
    ]
}

/// What a run of a client left: what it sent and got, and what it printed.
struct Seen {
    client: Vec<Exchange>,
    endpoint: Vec<Exchange>,
    printed: String,
}

fn direct(client: &Client) -> Seen {
    let (home, upstream) = (Home::new(), upstream(Arc::new(rule)));
    let (address, record) = tap(upstream.address);
    let mut command = home.command_of("env".as_ref(), &[]);
    command.args(addresses(address)).args(&client.command);
    let printed = succeed(&mut command, client);
    let client = std::mem::take(&mut *record.lock().unwrap());
    let endpoint = std::mem::take(&mut *upstream.record.lock().unwrap());
    Seen { client, endpoint, printed }
}

/// The same behind toolyard, with the tap between the client and it.
fn watched(client: &Client, home: &Home, upstream: &Upstream) -> Seen {
    // Whoever takes the port meanwhile makes toolyard refuse to start.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (address, record) = tap(free);
    let free = free.to_string();
    let mut command = home.command(&["watch", "--headless", "--listen", &free]);
    command.args(["--state", text(&home.path("s.json")), "--journal", text(&home.path("j.jsonl"))]);
    command.args(["--", "env"]).args(addresses(address)).args(&client.command);
    for variable in addresses(upstream.address) {
        let (name, value) = variable.split_once('=').unwrap();
        command.env(name, value);
    }
    let printed = succeed(&mut command, client);
    let client = std::mem::take(&mut *record.lock().unwrap());
    let endpoint = std::mem::take(&mut *upstream.record.lock().unwrap());
    Seen { client, endpoint, printed }
}

fn succeed(command: &mut Command, client: &Client) -> String {
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}: {}{}", client.name, ran.out, ran.err);
    ran.out
}

/// The headers of a message that are not among these.
fn others<'a>(message: &'a Message, not: &[&str]) -> Vec<(&'a str, &'a str)> {
    let headers = message.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut headers: Vec<_> =
        headers.filter(|(name, _)| !OF_CONNECTION.contains(name) && !not.contains(name)).collect();
    // Of headers with one name, the order counts.
    headers.sort_by_key(|(name, _)| *name);
    headers
}

/// Compares an exchange before toolyard with the same one behind it. Whether the usage was asked for and hidden.
fn expect_passed(which: &str, client: &Exchange, endpoint: &Exchange) -> bool {
    let (sent, arrived) = (&client.request, &endpoint.request);
    assert_eq!(sent.first, arrived.first, "{which}");
    let hides = sent.body != arrived.body;
    if hides {
        let body = String::from_utf8(arrived.body.clone()).unwrap();
        let without = body.replacen(ASKING, "", 1);
        assert_eq!(without.as_bytes(), sent.body, "{which}: {body}");
        assert_eq!(arrived.path(), "/v1/chat/completions", "{which}");
    }
    let not: &[&str] = if hides { &["content-length"] } else { &[] };
    // Codings that toolyard cannot read are not offered.
    let not = [not, &["accept-encoding"]].concat();
    assert_eq!(others(sent, &not), others(arrived, &not), "{which}");
    let offered = |message: &Message| -> Vec<String> {
        let all = message.header("accept-encoding").unwrap_or_default().split(',');
        all.map(|it| it.trim().to_owned()).filter(|it| it != "br" && it != "zstd").collect()
    };
    // Events of a stream cannot be cut where they are compressed.
    let streams =
        serde_json::from_slice::<serde_json::Value>(&sent.body).unwrap()["stream"] == true;
    let expected = if streams { vec!["identity".to_owned()] } else { offered(sent) };
    assert_eq!(expected, offered(arrived), "{which}");
    let (said, got) = (&endpoint.answer, &client.answer);
    assert_eq!(said.first, got.first, "{which}");
    assert_eq!(others(said, &[]), others(got, &[]), "{which}");
    let text = |message: &Message| String::from_utf8(message.body.clone()).unwrap();
    let expected = if hides { without_usage(&text(said)) } else { text(said) };
    assert_eq!(expected, text(got), "{which}");
    hides
}

#[test]
fn clients_send_and_get_the_same_bytes_behind_toolyard() {
    for client in clients() {
        let name = client.name;
        let direct = direct(&client);
        assert!(direct.client.len() >= 16, "{name}: {} exchanges", direct.client.len());
        assert_eq!(direct.client.len(), direct.endpoint.len(), "{name}");
        let (home, upstream) = (Home::new(), upstream(Arc::new(rule)));
        let watched = watched(&client, &home, &upstream);
        assert_eq!(watched.client.len(), watched.endpoint.len(), "{name}");
        let mut hidden = 0;
        for (at, pair) in watched.client.iter().zip(&watched.endpoint).enumerate() {
            let which = format!("{name}, request {at}");
            hidden += usize::from(expect_passed(&which, pair.0, pair.1));
        }
        assert_eq!(direct.printed, watched.printed, "{name}");
        assert_eq!(direct.client.len(), watched.client.len(), "{name}");
        for (at, (direct, watched)) in direct.client.iter().zip(&watched.client).enumerate() {
            let which = format!("{name}, request {at}");
            assert_eq!(direct.request.first, watched.request.first, "{which}");
            let [one, other] = [direct, watched].map(|it| others(&it.request, &[]));
            assert_eq!(one, other, "{which}");
            assert!(direct.request.body == watched.request.body, "{which}: another body");
            assert!(direct.answer.body == watched.answer.body, "{which}: another answer");
            assert_eq!(others(&direct.answer, &[]), others(&watched.answer, &[]), "{which}");
        }
        let state = home.json("s.json");
        let count = |part: &str| state[part].as_array().unwrap().len();
        let bytes: usize = watched.client.iter().map(|it| it.answer.body.len()).sum();
        println!(
            "{name}: {} exchanges, {bytes} bytes of answers, usage hidden {hidden} times",
            count("asks")
        );
        assert_eq!(count("asks"), watched.client.len(), "{name}");
        let conversations = state["runs"].as_object().unwrap().len();
        assert_eq!(
            conversations * 4,
            watched.client.len(),
            "{name}: {conversations} conversations"
        );
        assert_eq!(
            (count("tasks"), count("calls")),
            (conversations * 2, conversations * 4),
            "{name}"
        );
        let usage = &state["tasks"].as_array().unwrap()[0];
        let tokens = ["tokens_in", "tokens_out", "cached"].map(|it| usage[it].as_u64().unwrap());
        assert_eq!(tokens, [60, 24, 16], "{name}");
        let failed = state["calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|call| call["phase"]["done"]["output"].is_null());
        assert_eq!(failed.count(), 0, "{name}");
        expect_all_tokens(&state, name);
    }
}

/// Every model call has the tokens that the endpoint counted, also where the client did not ask for them.
fn expect_all_tokens(state: &serde_json::Value, name: &str) {
    for ask in state["asks"].as_array().unwrap() {
        let usage = &ask["phase"]["done"]["reply"]["usage"];
        assert_eq!(
            (&usage["tokens_in"], &usage["tokens_out"]),
            (&json!(30), &json!(12)),
            "{name}: {ask}"
        );
    }
}
