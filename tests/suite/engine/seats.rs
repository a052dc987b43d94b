//! Who is there is asked at each stop: an attached screen that controls holds as the session's own does, and what it
//! leaves goes on.

use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use toolyard::domain::{
    Approval, Command, EffectId, Mode, ModelError, ModelErrorKind, Refusal, State, ToolCallPhase,
};

use super::yard::{Trial, Yard, calls, on_paused_time, say};

const LONG: Duration = Duration::from_secs(3600);
const HOLD: Duration = Duration::from_secs(3);
const LEFT: &str = "no screen controls the session any more, so what its breakpoint held goes on";

/// A session without a screen, at whose seat an attached screen may sit.
fn trial(hold: Option<Duration>) -> (watch::Sender<bool>, Trial) {
    let (taken, attached) = watch::channel(false);
    let replies = ["a", "b"].map(|text| Ok(calls(&[("echo", json!({"text": text}))])));
    let replies = replies.into();
    (taken, Trial { replies, paused: true, attached: Some(attached), hold, ..Trial::default() })
}

async fn begin(trial: Trial) -> Yard {
    let yard = trial.start();
    yard.settle().await;
    let spec = Box::new("echo".parse().unwrap());
    yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
    yard
}

fn is_told(yard: &Yard, text: &str) -> bool {
    format!("{:?}", yard.state.borrow().transcript).contains(text)
}

async fn held(yard: &Yard) {
    yard.settle().await;
    let is_stopped =
        |state: &State| state.control.mode == Mode::Paused && state.control.stop.is_some();
    yard.until("it is held", is_stopped).await;
    assert_eq!(yard.held(), ["before a tool call"]);
}

#[test]
fn a_breakpoint_counts_while_nobody_is_there() {
    on_paused_time(async {
        let (_taken, trial) = trial(None);
        let yard = begin(trial).await;
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        let known = state.breakpoints.values().next().unwrap();
        assert_eq!((known.hits, known.stops, state.tasks_done), (2, 0, 1));
    });
}

#[test]
fn what_a_screen_leaves_behind_goes_on_after_the_time_of_a_hold() {
    on_paused_time(async {
        for (hold, waits) in [(None, Duration::ZERO), (Some(HOLD), HOLD)] {
            let (taken, trial) = trial(hold);
            let yard = begin(trial).await;
            taken.send_replace(true);
            yard.wish(Command::Run);
            held(&yard).await;
            sleep(LONG).await;
            held(&yard).await;
            if hold.is_some() {
                // It comes back in time.
                taken.send_replace(false);
                sleep(HOLD / 2).await;
                taken.send_replace(true);
                sleep(LONG).await;
                held(&yard).await;
            }
            yard.wish(Command::Run);
            held(&yard).await;
            assert!(!is_told(&yard, LEFT));
            taken.send_replace(false);
            let since = Instant::now();
            yard.until("it goes on", |state| state.control.held.is_empty()).await;
            assert!(since.elapsed() >= waits && since.elapsed() < waits + Duration::from_secs(1));
            assert!(is_told(&yard, LEFT));
            assert_eq!(yard.session.await.unwrap().tasks_done, 1);
        }
    });
}

#[test]
fn without_a_screen_a_breakpoint_holds_for_its_time() {
    on_paused_time(async {
        let (_taken, trial) = trial(Some(HOLD));
        let yard = begin(Trial { attached: None, ..trial }).await;
        yard.wish(Command::Run);
        let since = Instant::now();
        held(&yard).await;
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        let took = since.elapsed();
        assert!(took >= HOLD * 2 && took < HOLD * 3, "two calls: {took:?}");
        assert!(!is_told(&yard, LEFT), "nobody was there");
    });
}

#[test]
fn a_pause_of_a_person_lasts_until_a_person_ends_it() {
    on_paused_time(async {
        let (taken, trial) = trial(Some(HOLD));
        let yard = trial.start();
        taken.send_replace(true);
        yard.settle().await;
        yard.wish(Command::Step);
        yard.until("it is held", |state| state.control.mode == Mode::Paused).await;
        taken.send_replace(false);
        sleep(LONG).await;
        assert_eq!(yard.mode(), Mode::Paused);
        yard.wish(Command::Run);
        assert_eq!(yard.session.await.unwrap().tasks_done, 1);
    });
}

#[test]
fn consent_is_asked_of_an_attached_screen_and_refused_when_it_has_left() {
    on_paused_time(async {
        for (stays, hold) in [(true, None), (false, None), (false, Some(HOLD))] {
            let (taken, trial) = trial(hold);
            let yard = trial.start();
            yard.settle().await;
            let ask = vec!["echo:if=args.text == \"a\"".parse().unwrap()];
            let approval = Box::new(Approval { ask, ..Approval::default() });
            yard.wish(Command::SetApproval { approval });
            taken.send_replace(true);
            yard.wish(Command::Run);
            yard.until("it asks", |state| !state.control.asks.is_empty()).await;
            sleep(LONG).await;
            let id: EffectId = yard.state.borrow().control.asks[0];
            match stays {
                true => yard.wish(Command::Consent { effect: id, allowed: true }),
                false => drop(taken.send_replace(false)),
            }
            let state = yard.session.await.unwrap();
            assert!(state.control.asks.is_empty() && state.control.held.is_empty());
            match &state.tool_calls.iter().next().unwrap().phase {
                ToolCallPhase::Done { .. } => assert!(stays),
                ToolCallPhase::Refused { reason: Refusal::Denied, why, .. } => {
                    assert!(!stays && why.contains("no person is present"), "{why}");
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn an_attached_person_can_repair_a_model() {
    on_paused_time(async {
        let (taken, trial) = trial(None);
        let failed = Err(ModelError::new(ModelErrorKind::Auth, "the key is wrong."));
        let replies = vec![failed, Ok(say("done"))];
        let yard = Trial { replies, strategy: "react", ..trial }.start();
        taken.send_replace(true);
        yard.settle().await;
        yard.wish(Command::Run);
        yard.settle().await;
        yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks_done, 1);
    });
}
