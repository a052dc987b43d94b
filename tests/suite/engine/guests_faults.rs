//! Every kind of fault acts on a watched agent, or is refused when it is armed.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::domain::fault::FaultKind;
use toolyard::domain::{Command, FaultSpec, Reply, Usage};
use toolyard::model::relay::{Heard, Release, Sending};

use super::guests::{Agent, answer, calling, sent, watch};
use super::yard::{Trial, on_paused_time};

/// A kind with parameters by which it shows.
fn written(kind: &FaultKind) -> String {
    let more = match kind {
        FaultKind::Answer { .. } => ":text=other",
        FaultKind::Flapping { .. } => ":up=0:down=9",
        _ => "",
    };
    format!("{}{more}", kind.name())
}

fn armed(target: &str, kind: &FaultKind) -> Trial {
    let fault = format!("{target}:{}", written(kind));
    Trial { faults: vec![fault.leak()], ..Trial::default() }
}

/// Whether the model reads another result than the agent sends, or reads it later.
async fn acts_on_a_tool(trial: Trial) -> bool {
    let watch = watch(trial);
    let mut agent = Agent::asking("How is the weather?");
    for (n, result) in [r#"{"a":12}"#, r#"{"a":34}"#].into_iter().enumerate() {
        let call = calling(&[(["a", "b"][n], "weather", json!({"at": n}))]);
        answer(agent.send(&watch), &call).await;
        agent.go_on(&call, &[result]);
    }
    let began = Instant::now();
    let mut line = agent.send(&watch);
    let body = sent(&mut line).await;
    body != agent.body() || began.elapsed() > Duration::ZERO
}

/// Whether the agent gets another answer than the endpoint gives, or gets it later.
async fn acts_on_a_model(trial: Trial) -> bool {
    let watch = watch(trial);
    let agent = Agent::asking("How is the weather?");
    let began = Instant::now();
    let mut line = agent.send(&watch);
    let is_slow = match (&mut line.sending).await.unwrap() {
        Sending::Instead(_) | Sending::Recorded { .. } => return true,
        Sending::On { pace, .. } => pace.is_some(),
    };
    let usage = Usage { tokens_in: 50, tokens_out: 20, ..Usage::default() };
    let text = "It is 12 degrees in Oslo today, says the office.".to_owned();
    let reply = Reply { text, usage, ..calling(&[("a", "weather", json!({"at": "Oslo"}))]) };
    line.heard.send(Heard::Ended(Ok(reply))).unwrap();
    let release = line.release.await.unwrap();
    is_slow || began.elapsed() > Duration::ZERO || !matches!(release, Release::AsCame)
}

#[test]
fn without_a_fault_nothing_changes() {
    on_paused_time(async {
        assert!(!acts_on_a_tool(Trial::default()).await);
        assert!(!acts_on_a_model(Trial::default()).await);
    });
}

#[test]
fn every_kind_acts_on_the_tools_of_a_foreign_agent() {
    let tool = toolyard::domain::target::Sort::Tool;
    for kind in FaultKind::ALL.iter().filter(|kind| kind.fits(tool)) {
        on_paused_time(async {
            assert!(acts_on_a_tool(armed("weather", kind)).await, "{}", kind.name());
        });
    }
}

#[test]
fn every_kind_acts_on_the_models_of_a_foreign_agent() {
    let models = toolyard::domain::target::Sort::Models;
    for kind in FaultKind::ALL.iter().filter(|kind| kind.fits(models)) {
        on_paused_time(async {
            assert!(acts_on_a_model(armed("models", kind)).await, "{}", kind.name());
        });
    }
}

#[test]
fn what_cannot_happen_to_a_foreign_agent_is_refused_with_the_reason() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        for (fault, why) in [
            ("role:evaluator:scores", "a watched agent has no evaluator"),
            ("role:planner:error", "name its model instead"),
            ("embedding:error", "embeddings of a watched agent pass unread"),
            ("class:search:error", "tools of a watched agent have no class"),
            ("effect:write:crash", "the effect of a watched agent's tools is unknown"),
        ] {
            let spec: FaultSpec = fault.parse().unwrap();
            watch.yard.wish(Command::ArmFault { spec });
            for _ in 0..1000 {
                if watch.yard.refusals().iter().any(|it| it.contains(why)) {
                    break;
                }
                watch.yard.settle().await;
            }
            assert!(watch.yard.refusals().iter().any(|it| it.contains(why)), "{fault}");
        }
        assert_eq!(watch.yard.state.borrow().faults.len(), 0);
    });
}
