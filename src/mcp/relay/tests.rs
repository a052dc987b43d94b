//! A relay between a client and a server, on paused time.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex, split};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::LocalSet;
use tokio::time::{Instant, timeout};

use super::{Ends, LinePiece, relay};
use crate::tool::ToolOutput;
use crate::tool::relayed::{ForeignCall, RelayAnswer, RelayNews, RelayTurn};

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
            tokio::task::spawn_local(relay("own".into(), ends, news));
            let requests = BufReader::new(requests).lines();
            test(Rig { client: Some(client), heard, requests, server: answers, news: told }).await;
        },
    ));
}

fn instead(text: &str) -> RelayTurn {
    let returned = Ok(ToolOutput { text: text.into(), cut_from: None });
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
