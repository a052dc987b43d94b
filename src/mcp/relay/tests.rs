//! A relay between a client and a server, on paused time.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex, split};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::LocalSet;
use tokio::time::{Instant, timeout};

use super::{Book, Ends, LinePiece, relay};
use crate::OfferedTools;
use crate::tool::foreign_calls::{ForeignCall, RelayAnswer, RelayNews, RelayTurn};
use crate::tool::{ToolError, ToolOutput};

/// The ends of a relay that a test holds.
struct Rig {
    client: Option<mpsc::Sender<LinePiece>>,
    heard: mpsc::Receiver<Vec<u8>>,
    requests: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: WriteHalf<DuplexStream>,
    news: UnboundedReceiver<RelayNews>,
}

impl Rig {
    async fn say(&self, message: &Value) {
        let line = LinePiece::Line(format!("{message}\n").into_bytes());
        self.client.as_ref().unwrap().send(line).await.unwrap();
    }

    async fn call(&mut self, id: u64, token: bool) -> Box<ForeignCall> {
        let meta = if token { json!({"progressToken": format!("t{id}")}) } else { json!({}) };
        let params = json!({"name": "t", "arguments": {"a": id}, "_meta": meta});
        self.say(&json!({"id": id, "method": "tools/call", "params": params})).await;
        match self.news.recv().await.unwrap() {
            RelayNews::Called(call) => call,
            other => panic!("{other:?}"),
        }
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_slice(&self.heard.recv().await.unwrap()).unwrap()
    }

    async fn request(&mut self) -> Value {
        serde_json::from_str(&self.requests.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn answer(&mut self, id: u64, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        let line = format!("{}\n", json!({"id": id, "result": {"content": content}}));
        self.server.write_all(line.as_bytes()).await.unwrap();
    }
}

/// Runs a test beside a relay.
fn with_relay<F: Future<Output = ()>>(test: impl FnOnce(Rig) -> F) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(LocalSet::new().run_until(
        async {
            let (client, to_relay) = mpsc::channel(8);
            let (to_client, heard) = mpsc::channel(8);
            let (ours, its) = duplex(1 << 16);
            let (server, to_server) = split(its);
            let (requests, answers) = split(ours);
            let (news, told) = mpsc::unbounded_channel();
            let ends = Ends { client: to_relay, to_client, server, to_server };
            tokio::task::spawn_local(relay(
                Book::new("own".into(), news, OfferedTools::default()),
                ends,
            ));
            let requests = BufReader::new(requests).lines();
            test(Rig { client: Some(client), heard, requests, server: answers, news: told }).await;
        },
    ));
}

fn instead(text: &str) -> RelayTurn {
    let returned = Ok(ToolOutput::of(text));
    RelayTurn::Instead(RelayAnswer { returned, ends_server: false })
}

#[test]
fn a_client_that_asked_for_progress_is_kept_waiting_for_longer_than_it_waits() {
    with_relay(|mut rig| async move {
        let call = rig.call(1, true).await;
        assert_eq!(call.patience, None);
        call.way.tell(RelayTurn::Held);
        let (began, mut last) = (Instant::now(), 0.0);
        // Each note restarts its time limit.
        while began.elapsed() < Duration::from_secs(90) {
            let note = timeout(Duration::from_secs(60), rig.hear()).await.unwrap();
            let params = &note["params"];
            let progress = params["progress"].as_f64().unwrap();
            assert!(progress > last && params["progressToken"] == "t1", "{note}");
            last = progress;
        }
        call.way.tell(RelayTurn::On(None));
        assert_eq!(rig.request().await["id"], 1);
        let note = json!({"progressToken": "t1", "progress": 5});
        let note = json!({"method": "notifications/progress", "params": note});
        rig.server.write_all(format!("{note}\n").as_bytes()).await.unwrap();
        assert_eq!(rig.hear().await["params"]["progress"], 5);
        rig.answer(1, "late").await;
        assert_eq!(call.way.returned().await.unwrap().unwrap().text, "late");
        call.way.tell(RelayTurn::Held);
        assert!(rig.hear().await["params"]["progress"].as_f64().unwrap() > 5.0);
        call.way.tell(RelayTurn::AsCame);
        assert_eq!(rig.hear().await["result"]["content"][0]["text"], "late");
    });
}

#[test]
fn without_a_token_the_client_hears_nothing_and_its_patience_is_known() {
    with_relay(|mut rig| async move {
        let call = rig.call(1, false).await;
        assert_eq!(call.patience, Some(Duration::from_secs(60)));
        call.way.tell(RelayTurn::Held);
        assert!(timeout(Duration::from_secs(50), rig.hear()).await.is_err());
        call.way.tell(instead("made up"));
        assert_eq!(rig.hear().await["result"]["content"][0]["text"], "made up");
    });
}

#[test]
fn what_comes_after_a_call_waits_until_it_is_decided_or_held() {
    with_relay(|mut rig| async move {
        let call = rig.call(1, false).await;
        rig.say(&json!({"id": 2, "method": "ping"})).await;
        assert!(timeout(Duration::from_millis(500), rig.request()).await.is_err());
        call.way.tell(RelayTurn::On(Some(json!({"b": 1}))));
        assert_eq!(rig.request().await["params"]["arguments"], json!({"b": 1}));
        assert_eq!(rig.request().await["id"], 2);
        rig.answer(1, "x").await;
        rig.answer(2, "pong").await;
        assert!(timeout(Duration::from_millis(500), rig.hear()).await.is_err());
        call.way.tell(RelayTurn::Held);
        assert_eq!(rig.hear().await["id"], 2);
        call.way.tell(RelayTurn::AsCame);
        assert_eq!(rig.hear().await["id"], 1);
    });
}

#[test]
fn a_call_that_is_answered_while_it_runs_has_one_answer() {
    with_relay(|mut rig| async move {
        let call = rig.call(1, false).await;
        call.way.tell(RelayTurn::On(None));
        assert_eq!(rig.request().await["id"], 1);
        call.way.tell(instead("by hand"));
        assert_eq!(rig.hear().await["result"]["content"][0]["text"], "by hand");
        assert_eq!(rig.request().await["method"], "notifications/cancelled");
        rig.answer(1, "too late").await;
        rig.answer(9, "other").await;
        assert_eq!(rig.hear().await["id"], 9);
    });
}

#[test]
fn a_session_that_ends_lets_calls_pass_and_fails_those_that_are_held() {
    with_relay(|mut rig| async move {
        let (held, ran) = (rig.call(1, false).await, rig.call(2, false).await);
        ran.way.tell(RelayTurn::On(None));
        held.way.tell(RelayTurn::Held);
        assert_eq!(rig.request().await["id"], 2);
        drop((held, ran));
        rig.news.close();
        assert_eq!(rig.hear().await["result"]["isError"], true);
        rig.answer(2, "it ran").await;
        assert_eq!(rig.hear().await["result"]["content"][0]["text"], "it ran");
        rig.say(&json!({"id": 3, "method": "tools/call", "params": {"name": "t"}})).await;
        assert_eq!(rig.request().await["id"], 3);
    });
}

#[test]
fn what_is_held_reaches_the_server_before_the_end_of_its_client() {
    with_relay(|mut rig| async move {
        let call = rig.call(1, false).await;
        call.way.tell(RelayTurn::Held);
        rig.client = None;
        assert!(timeout(Duration::from_secs(600), rig.request()).await.is_err());
        call.way.tell(RelayTurn::On(None));
        assert_eq!(rig.request().await["id"], 1);
        assert_eq!(rig.requests.next_line().await.unwrap(), None, "the server sees the end");
        rig.answer(1, "done").await;
        call.way.returned().await.unwrap().unwrap();
        call.way.tell(RelayTurn::AsCame);
        assert_eq!(rig.hear().await["id"], 1);
        assert!(matches!(rig.news.recv().await, Some(RelayNews::Ended { .. })));
    });
}

/// The result of call 1 in a form that no official server writes.
async fn odd_answer(rig: &mut Rig, line: &str) -> (ForeignCall, Result<ToolOutput, ToolError>) {
    let call = rig.call(1, false).await;
    call.way.tell(RelayTurn::On(None));
    assert_eq!(rig.request().await["id"], 1);
    rig.server.write_all(line.as_bytes()).await.unwrap();
    let returned = call.way.returned().await.unwrap();
    (*call, returned)
}

/// Forms of the same answer, and a part of what the session reads in it.
const ODD: [(&str, &str); 8] = [
    ("[{\"id\": 1 ,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}]\r\n", "hi"),
    ("[{\"id\":9},{\"id\":\"1\",\"result\":{\"content\":[]}}]\n", ""),
    ("{\"id\":\"1\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n", "hi"),
    ("{\"id\": 1,\"result\":{\"content\":[],\"x\":NaN}}\n", "could be read"),
    ("{\"result\":[,], \"id\" : 1}\n", "could be read"),
    ("log {\"id\":1,\"result\":{}}\n", "could be read"),
    ("{\"id\":null,\"error\":{\"message\":\"no such city\"}}\n", "no such city"),
    ("{\"id\":1}\n", "null"),
];

#[test]
fn an_answer_in_an_odd_form_ends_its_call_and_passes_as_it_is() {
    for (line, read) in ODD {
        with_relay(|mut rig| async move {
            let (call, returned) = odd_answer(&mut rig, line).await;
            let text = returned.map_or_else(|error| error.text, |output| output.text);
            assert!(text.contains(read), "{line} {text}");
            call.way.tell(RelayTurn::AsCame);
            let heard = rig.heard.recv().await.unwrap();
            assert_eq!(String::from_utf8(heard).unwrap(), line);
            // Nothing is made up for an id that was answered.
            let Rig { server, mut heard, client, requests, .. } = rig;
            drop((server, requests));
            assert!(heard.recv().await.is_none(), "{line}");
            drop(client);
        });
    }
}

#[test]
fn an_answer_in_an_odd_form_can_be_replaced() {
    for (line, _) in ODD {
        with_relay(|mut rig| async move {
            let (call, _) = odd_answer(&mut rig, line).await;
            call.way.tell(instead("made up"));
            let heard = rig.hear().await;
            let of = heard.as_array().map_or(&heard, |list| list.last().unwrap());
            assert_eq!(of["result"]["content"][0]["text"], "made up", "{line} {heard}");
            assert_eq!(of["id"], 1);
        });
    }
}

#[test]
fn an_id_in_another_answer_is_not_this_one() {
    for line in [
        "{\"id\":12}",
        "{\"id\":1.5,\"x\":NaN}",
        "{\"x\":NaN,\"ids\":1}",
        "{\"method\":\"m\",\"id\":1}",
    ] {
        with_relay(|mut rig| async move {
            let call = rig.call(1, false).await;
            call.way.tell(RelayTurn::On(None));
            rig.request().await;
            rig.server.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            assert_eq!(rig.heard.recv().await.unwrap(), format!("{line}\n").into_bytes());
            assert!(timeout(Duration::from_secs(5), call.way.returned()).await.is_err(), "{line}");
        });
    }
}

/// A list of two calls and a request, as old revisions allow.
const LIST: &str = "[{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}, {\"id\":\"p\",\"method\":\"ping\"},\
    {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"u\"}}]\n";

async fn listed(rig: &mut Rig, first: RelayTurn, second: RelayTurn) -> [Box<ForeignCall>; 2] {
    let line = LinePiece::Line(LIST.as_bytes().to_vec());
    rig.client.as_ref().unwrap().send(line).await.unwrap();
    let mut calls = Vec::new();
    for turn in [first, second] {
        let Some(RelayNews::Called(call)) = rig.news.recv().await else { panic!("no call") };
        call.way.tell(turn);
        calls.push(call);
    }
    calls.try_into().unwrap()
}

#[test]
fn a_list_of_calls_passes_as_it_is_and_its_answers_are_read() {
    with_relay(|mut rig| async move {
        let calls = listed(&mut rig, RelayTurn::On(None), RelayTurn::On(None)).await;
        assert_eq!(rig.requests.next_line().await.unwrap().unwrap(), LIST.trim_end());
        let answer = |id: u8| json!({"id": id, "result": {"content": [{"type": "text", "text": id.to_string()}]}});
        let line = format!("[{}, {{\"id\":\"p\"}} ,{}]\n", answer(2), answer(1));
        rig.server.write_all(line.as_bytes()).await.unwrap();
        for (call, text) in calls.iter().zip(["1", "2"]) {
            assert_eq!(call.way.returned().await.unwrap().unwrap().text, text);
        }
        calls[0].way.tell(instead("other"));
        calls[1].way.tell(RelayTurn::AsCame);
        let heard = rig.hear().await;
        assert_eq!(heard[0], answer(2));
        assert_eq!((&heard[1]["id"], &heard[2]["id"]), (&json!("p"), &json!(1)));
        assert_eq!(heard[2]["result"]["content"][0]["text"], "other");
    });
}

#[test]
fn a_list_with_a_call_that_is_held_or_changed_never_reaches_the_server() {
    for turn in [RelayTurn::Held, instead("fault"), RelayTurn::On(Some(json!({})))] {
        with_relay(|mut rig| async move {
            let calls = listed(&mut rig, RelayTurn::On(None), turn).await;
            let heard = rig.hear().await;
            let ids: Vec<_> = heard.as_array().unwrap().iter().map(|it| &it["id"]).collect();
            assert_eq!(ids, [&json!(1), &json!("p"), &json!(2)]);
            assert!(heard[2]["error"]["message"].as_str().unwrap().contains("one at a time"));
            for call in calls {
                assert!(call.way.returned().await.unwrap().is_err());
            }
            assert!(timeout(Duration::from_secs(5), rig.request()).await.is_err());
        });
    }
}
