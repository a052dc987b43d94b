//! A session that goes on after it was interrupted anywhere: nothing that was done is done again, and what may have been
//! done is asked for.

use std::collections::BTreeSet;
use std::time::Duration;
use std::{cell::RefCell, rc::Rc};

use serde_json::json;
use toolyard::domain::{
    Command, ConsentEvent, EffectClass, EffectId, Event, Knob, Mode, ModelCallEvent, Origin,
    Record, Reply, Role, State, ToolCallEvent, ToolCallPhase,
};
use toolyard::engine::{Beginning, Rest};

use super::yard::{Trial, Yard, calls, on_paused_time};
use crate::interrupted::Interrupted;

fn write(text: &str, ms: u64) -> (&'static str, serde_json::Value) {
    ("echo", json!({"text": text, "ms": ms}))
}

/// Two tasks with five writes, of which some run at the same time, and two are equal.
fn replies() -> Vec<Reply> {
    let finish = || calls(&[("Finish", json!({"answer": "done"}))]);
    vec![
        calls(&[write("a", 30), write("b", 10)]),
        calls(&[write("c", 5)]),
        finish(),
        calls(&[write("c", 5), write("d", 20)]),
        calls(&[write("d", 20)]),
        finish(),
    ]
}

fn trial(strategy: &'static str, from: usize, effect: EffectClass) -> Trial {
    Trial {
        strategy,
        tasks: 2,
        replies: replies().into_iter().skip(from).map(Ok).collect(),
        knobs: vec![(Knob::Concurrency, 2.0)],
        delay: Duration::from_millis(7),
        paused: true,
        stay: true,
        effect,
        ..Trial::default()
    }
}

/// Runs it with a person who allows the tool, if that is asked for, or refuses it after an interruption.
async fn finish(yard: &Yard, again: bool) {
    yard.settle().await;
    yard.wish(Command::Run);
    let mut decided = BTreeSet::new();
    for _ in 0..5_000 {
        if yard.state.borrow().tasks_done == 2 {
            return;
        }
        // It is held where the record ends.
        if yard.state.borrow().control.mode == Mode::Paused {
            yard.wish(Command::Run);
        }
        let asked: Vec<EffectId> = yard.state.borrow().control.asks.to_vec();
        for effect in asked.into_iter().filter(|effect| decided.insert(*effect)) {
            yard.wish(Command::Consent { effect, allowed: again });
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    panic!("never done: {:#?}", yard.kinds());
}

/// The texts of writes in these records that have started, and of those the ones that have ended.
fn writes(records: &[Record]) -> (Vec<String>, Vec<String>) {
    let state = State::fold(records);
    let text = |id: EffectId| {
        state.tool_call(id).map(|call| call.arguments["text"].as_str().unwrap().to_owned())
    };
    let of = |is: &dyn Fn(&Event) -> bool| {
        let found = records.iter().filter(|record| is(&record.event));
        found.filter_map(|record| text(record.event.effect()?.id)).collect::<Vec<String>>()
    };
    let started =
        of(&|event| matches!(event, Event::ToolCall(ToolCallEvent::ToolCallStarted { .. })));
    (started, of(&|event| matches!(event, Event::ToolCall(ToolCallEvent::ToolCallFinished { .. }))))
}

/// How many replies of the list had come.
fn answered(records: &[Record]) -> usize {
    let state = State::fold(records);
    let ended = records.iter().filter_map(|record| match &record.event {
        Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, .. }) => Some(effect.id),
        _ => None,
    });
    ended.filter(|id| state.model_call(*id).unwrap().role != Role::Evaluator).count()
}

fn minus(all: &[String], some: &[String]) -> Vec<String> {
    let mut left = all.to_vec();
    for one in some {
        let at = left.iter().position(|it| it == one).unwrap();
        left.remove(at);
    }
    left
}

/// The writes of which it is told that nobody knows what they have done.
fn unknown_calls(yard: &Yard) -> usize {
    let is = |event: &Event| match event {
        Event::Consent(ConsentEvent::OutcomeUnknown { effect }) => !effect.class.is_repeatable(),
        _ => false,
    };
    yard.records.borrow().iter().filter(|record| is(&record.event)).count()
}

#[test]
fn after_each_event_nothing_that_was_done_is_done_again() {
    for strategy in ["react", "toolnet"] {
        on_paused_time(async move {
            let whole = trial(strategy, 0, EffectClass::Write);
            let made = Rc::clone(&whole.made);
            let yard = whole.start();
            finish(&yard, true).await;
            let records: Vec<Record> =
                yard.records.borrow().iter().map(|record| (**record).clone()).collect();
            let mut all = made.borrow().clone();
            all.sort();
            assert_eq!(all, ["a", "b", "c", "c", "d", "d"]);
            let mut seen_unknown = 0;
            for cut in 1..=records.len() {
                let before = &records[..cut];
                let (started, ended) = writes(before);
                let unknown = minus(&started, &ended);
                seen_unknown += unknown.len();
                let Interrupted { past, rest } = Interrupted::of(before.to_vec());
                let begun = past.len() as u64;
                let rest = Some(Rest { records: rest, repeats_unknown: false });
                let beginning = Beginning::Continued { past: past.into(), rest };
                let made = Rc::new(RefCell::new(Vec::new()));
                let rest = trial(strategy, answered(before), EffectClass::Write);
                let yard = Trial { beginning, made: Rc::clone(&made), ..rest }.start();
                finish(&yard, false).await;
                // An equal call is asked for, too, since nobody has decided on the first one.
                let mut expected = minus(&all, &ended);
                expected.retain(|text| !unknown.contains(text));
                let mut made = made.borrow().clone();
                expected.sort();
                made.sort();
                assert_eq!(made, expected, "{strategy} after event {cut}");
                let seen = yard.records.borrow();
                let asked = seen.iter().filter(|record| {
                    matches!(record.event, Event::Consent(ConsentEvent::ConsentAsked { .. }))
                        && record.n > begun
                });
                let asked = asked.count();
                assert!(asked >= unknown.len(), "{strategy} after event {cut}: {unknown:?}");
                assert_eq!(unknown_calls(&yard), unknown.len(), "{strategy} after event {cut}");
            }
            assert!(seen_unknown > 8, "{seen_unknown}");
        });
    }
}

#[test]
fn a_read_that_was_in_flight_is_made_again_and_a_write_where_a_person_wants_it() {
    for (effect, again, made_again) in [
        (EffectClass::Read, false, true),
        (EffectClass::Idempotent, false, true),
        (EffectClass::Write, false, false),
        (EffectClass::Write, true, true),
    ] {
        on_paused_time(async move {
            let yard = trial("react", 0, effect).start();
            yard.settle().await;
            yard.wish(Command::Run);
            yard.until("a call runs", |state| {
                state.tool_calls.iter().any(|call| call.started.is_some())
            })
            .await;
            let records: Vec<Record> =
                yard.records.borrow().iter().map(|record| (**record).clone()).collect();
            let (started, _) = writes(&records);
            let Interrupted { past, rest } = Interrupted::of(records.clone());
            assert!(!rest.is_empty() && past.len() + rest.len() <= records.len());
            let rest = Some(Rest { records: rest, repeats_unknown: false });
            let beginning = Beginning::Continued { past: past.into(), rest };
            let again_trial = trial("react", 1, effect);
            let made = Rc::clone(&again_trial.made);
            let yard = Trial { beginning, ..again_trial }.start();
            finish(&yard, again).await;
            assert_eq!(made.borrow().contains(&started[0]), made_again, "{effect:?} {again}");
            let state = yard.state.borrow();
            assert_eq!(
                state.model_calls[0].origin,
                Origin::Recorded,
                "the model is not asked again"
            );
            assert_eq!(state.tasks_done, 2);
        });
    }
}

#[test]
fn without_a_person_a_write_is_made_again_only_where_that_was_said_before() {
    for repeats_unknown in [false, true] {
        on_paused_time(async move {
            let yard = trial("react", 0, EffectClass::Write).start();
            yard.settle().await;
            yard.wish(Command::Run);
            yard.until("a call runs", |state| {
                state.tool_calls.iter().any(|call| call.started.is_some())
            })
            .await;
            let records: Vec<Record> =
                yard.records.borrow().iter().map(|record| (**record).clone()).collect();
            let (started, _) = writes(&records);
            let Interrupted { past, rest } = Interrupted::of(records);
            let rest = Some(Rest { records: rest, repeats_unknown });
            let beginning = Beginning::Continued { past: past.into(), rest };
            let alone =
                Trial { paused: false, stay: false, ..trial("react", 1, EffectClass::Write) };
            let made = Rc::clone(&alone.made);
            let yard = Trial { beginning, ..alone }.start();
            let state = yard.session.await.unwrap();
            assert_eq!(made.borrow().contains(&started[0]), repeats_unknown);
            let refused = state.tool_calls.iter().find_map(|call| match &call.phase {
                ToolCallPhase::Refused { why, .. } => Some(why.clone()),
                _ => None,
            });
            let is_refused = refused.is_some_and(|why| why.contains("no person is present"));
            assert_eq!(is_refused, !repeats_unknown);
        });
    }
}

#[test]
fn a_session_that_was_quit_goes_on_as_one_that_was_killed() {
    on_paused_time(async {
        let yard = trial("react", 0, EffectClass::Write).start();
        yard.settle().await;
        yard.wish(Command::Run);
        yard.until("a call runs", |state| {
            state.tool_calls.iter().any(|call| call.started.is_some())
        })
        .await;
        yard.wish(Command::Stop);
        let killed = yard.records.borrow().len();
        let records = Rc::clone(&yard.records);
        yard.session.await.unwrap();
        let records: Vec<Record> =
            records.borrow().iter().map(|record| (**record).clone()).collect();
        let quit = Interrupted::of(records.clone());
        assert_eq!(quit, Interrupted::of(records[..killed].to_vec()));
        assert!(!quit.rest.is_empty());
    });
}

#[test]
fn what_a_person_changed_is_kept_and_how_it_was_held_is_not() {
    on_paused_time(async {
        let yard = trial("react", 0, EffectClass::Read).start();
        yard.settle().await;
        yard.wish(Command::TurnKnob { knob: Knob::Alpha, value: 2.0 });
        yard.wish(Command::Run);
        yard.until("a call runs", |state| {
            state.tool_calls.iter().any(|call| call.started.is_some())
        })
        .await;
        yard.wish(Command::TurnKnob { knob: Knob::Beta, value: 0.25 });
        yard.wish(Command::ArmFault { spec: "echo:error:from-task=2".parse().unwrap() });
        yard.wish(Command::Pause);
        yard.until("it holds", |state| state.control.mode == Mode::Paused).await;
        let records: Vec<Record> =
            yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let Interrupted { past, rest } = Interrupted::of(records);
        let rest = Some(Rest { records: rest, repeats_unknown: false });
        let beginning = Beginning::Continued { past: past.into(), rest };
        let yard = Trial { beginning, ..trial("react", 1, EffectClass::Read) }.start();
        yard.until("it is held", |state| state.control.mode == Mode::Paused).await;
        assert_eq!(yard.state.borrow().tool_calls.len(), 2, "where the record ends");
        finish(&yard, false).await;
        let state = yard.state.borrow();
        assert_eq!((state.knobs.get(Knob::Alpha), state.knobs.get(Knob::Beta)), (2.0, 0.25));
        assert_eq!(state.faults.len(), 1);
        assert!(state.tool_calls.iter().any(|call| call.injected.is_some()), "in task 2");
    });
}
