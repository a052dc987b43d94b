//! Official clients get their answers also where these are held for longer than they wait.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use toolyard::domain::{Finish, Message as Said, ModelSpec, Reply, ToolCall, Usage};
use toolyard::model::Model;
use toolyard::model::relay::{Arrival, Holds, ListenerNews, Relay, Release};
use toolyard::serve::watch::{Listening, Upstreams, bind, listen};
use toolyard::wire::{IncomingRequest, WireFormat};

use super::clients::start;
use super::upstream::upstream;
use crate::program::{Home, Ran};

/// What of an exchange is held.
#[derive(Clone, Copy, Debug)]
enum Held {
    Request,
    Calls,
    All,
}

/// The seconds of this variable.
fn seconds(name: &str, usual: u64) -> Duration {
    let said = std::env::var(name).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(said.unwrap_or(usual))
}

/// Two calls; then an answer.
fn rule(_: WireFormat, asked: &IncomingRequest, number: usize) -> Reply {
    let usage = Usage { tokens_in: 30, tokens_out: 12, ..Usage::default() };
    if matches!(asked.request.messages.last(), Some(Said::Tool { .. })) {
        return Reply { usage, ..Reply::of_text("It is sunny.") };
    }
    let call = |city: &str| ToolCall {
        id: format!("call_{number}_{city}"),
        tool: "get_weather".into(),
        arguments: json!({ "city": city }),
    };
    let calls = vec![call("Oslo"), call("Rome")];
    Reply { calls, finish: Finish::Calls, usage, ..Reply::of_text("I look twice.") }
}

/// Lets a request through, and holds the first of each conversation.
fn attend(arrival: Arrival, held: Held, time: Duration) {
    let Arrival { asked, body, way, .. } = arrival;
    let is_first = asked.request.messages.iter().all(|it| !matches!(it, Said::Assistant { .. }));
    let relay = Relay::new(Arc::new(ModelSpec::new("m", "an endpoint")), body, way);
    let hold = |when: bool| {
        if is_first && when {
            thread::sleep(time);
        }
    };
    hold(matches!(held, Held::Request));
    if matches!(held, Held::All) {
        relay.hold(Holds::All);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let said = runtime.block_on(relay.ask(&asked.request, &mut |_| {})).map(Arc::new);
    hold(!matches!(held, Held::Request));
    assert!(relay.end(&said, Release::AsCame), "the agent has hung up");
}

fn hold_a_client(file: &str, held: Held) {
    let Some(command) = start(file) else {
        return eprintln!(
            "SKIPPED: the SDKs of {file} are not in target/sdks: run scripts/sdks.sh"
        );
    };
    let (patience, time) = (seconds("TOOLYARD_PATIENCE", 2), seconds("TOOLYARD_HELD", 5));
    let endpoint = upstream(Arc::new(rule));
    let (news, mut arrivals) = unbounded_channel();
    let upstreams = Upstreams {
        openai: format!("http://{}/v1", endpoint.address),
        anthropic: format!("http://{}", endpoint.address),
        ..Upstreams::default()
    };
    let socket = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listen(Listening {
        socket,
        token: None,
        upstreams,
        intercepting: None,
        has_record: false,
        login: None,
        news,
    })
    .unwrap();
    let session = thread::spawn(move || {
        let mut count = 0;
        while let Some(news) = arrivals.blocking_recv() {
            if let ListenerNews::Arrived(arrival) = news {
                count += 1;
                thread::spawn(move || attend(*arrival, held, time));
            }
        }
        count
    });
    let home = Home::new();
    let mut agent = home.command_of("env".as_ref(), &[]);
    let address = listener.address();
    agent.arg(format!("OPENAI_BASE_URL=http://{address}/v1"));
    agent.arg(format!("ANTHROPIC_BASE_URL=http://{address}"));
    agent.arg(format!("AGENT_PATIENCE={}", patience.as_secs()));
    let ran = Ran::of(agent.args(command).output().unwrap());
    assert_eq!(ran.code, 0, "{file} {held:?}: {}{}", ran.out, ran.err);
    assert_eq!(ran.out, "It is sunny.\n".repeat(12), "{file} {held:?}");
    drop(listener);
    // Six conversations of two questions, each with its calls and its answer: nobody asked twice.
    let asked = endpoint.record.lock().unwrap().len();
    assert_eq!((session.join().unwrap(), asked), (24, 24), "{file} {held:?}");
}

#[test]
fn clients_wait_for_what_is_held() {
    thread::scope(|scope| {
        for file in ["agent.py", "agent.mjs"] {
            for held in [Held::Request, Held::Calls, Held::All] {
                scope.spawn(move || hold_a_client(file, held));
            }
        }
    });
}
