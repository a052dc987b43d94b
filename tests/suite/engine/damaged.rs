//! The fold of what no engine would have written: any part of a session in any order, with any
//! numbers in it. Whatever it comes to, it is a state that can be written, reported and drawn.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolyard::domain::{Base, Command, EffectId, FaultId, Knob, Record, State};
use toolyard::report::Report;
use toolyard::ui::{shot::shot, theme::Theme, view::View};

use super::yard::{Trial, calls, on_paused_time, say};

/// The lines of a session in which most things happen, as a journal has them.
fn lines() -> &'static [Value] {
    static LINES: OnceLock<Vec<Value>> = OnceLock::new();
    LINES.get_or_init(|| {
        let records = Rc::new(std::cell::RefCell::new(Vec::new()));
        let kept = Rc::clone(&records);
        on_paused_time(async move {
            let echo = |text: &str| ("echo", json!({"text": text, "ms": 20}));
            let wrong = || Ok(calls(&[("Finish", json!({"answer": "wrong"}))]));
            let replies = vec![
                Ok(calls(&[echo("a"), echo("b"), ("nobody", json!({}))])),
                wrong(),
                Ok(say("look closer")),
            ];
            let (strategy, faults) = ("toolnet+reflexion", vec!["echo:error:nth=1"]);
            let plan =
                Trial { paused: true, tasks: 2, replies, strategy, faults, ..Trial::default() };
            let yard = plan.start();
            let (from, to) = (|| "start".into(), || "echo".into());
            for wish in [
                Command::SetScore { tool: to(), score: 5.0 },
                Command::TurnKnob { knob: Knob::Alpha, value: 2.0 },
                Command::PinWeight { from: from(), to: to(), weight: 0.9 },
                Command::UnpinWeight { from: from(), to: to() },
                Command::SwitchTool { tool: "hang".into(), on: false },
                Command::Undo,
                Command::Redo,
                Command::DisarmFault { fault: FaultId(1) },
                Command::RearmFault { fault: FaultId(1) },
                Command::UseStrategy { strategy: Base::React.into() },
                Command::QueueTask { text: "More.".into() },
                Command::Cancel(EffectId(1)),
                Command::Step,
                Command::StepTask,
            ] {
                yard.wish(wish);
                yard.settle().await;
            }
            yard.wish(Command::Run);
            yard.until("a call runs", |state| state.tool_calls_in_flight().count() == 1).await;
            yard.wish(Command::Cancel(EffectId(2)));
            yard.wish(Command::Pause);
            yard.until("it pauses", |state| !state.control.held.is_empty()).await;
            yard.wish(Command::Run);
            let seen = Rc::clone(&yard.records);
            yard.session.await.unwrap();
            kept.borrow_mut().extend(seen.borrow().iter().cloned());
        });
        let records: Vec<Arc<Record>> = records.take();
        records.iter().map(|record| serde_json::to_value(record).unwrap()).collect()
    })
}

fn record(line: &Value) -> Option<Record> {
    Record::read(line.to_string().as_bytes()).ok()
}

/// Every whole number in a line, to be changed.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(number) if number.is_u64() => vec![value],
        Value::Object(map) => map.values_mut().flat_map(numbers).collect(),
        Value::Array(items) => items.iter_mut().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

/// A line of the session, perhaps with one of its numbers changed.
fn damaged() -> impl Strategy<Value = Option<Record>> {
    let number = prop_oneof![
        Just(0),
        Just(1),
        Just(2),
        1u64..9,
        Just(u64::from(u32::MAX)),
        Just(u64::MAX),
        any::<u64>(),
    ];
    let change = proptest::option::of((any::<prop::sample::Index>(), number));
    (any::<prop::sample::Index>(), change).prop_map(|(at, change)| {
        let mut line = at.get(lines()).clone();
        if let Some((which, number)) = change {
            let mut all = numbers(&mut line);
            *all.swap_remove(which.index(all.len())) = number.into();
        }
        record(&line)
    })
}

/// Whatever a state is: it can be written, reported and drawn, each time alike.
fn is_usable(state: &State) {
    let text = serde_json::to_string(state).unwrap();
    assert_eq!(text, serde_json::to_string(&state.clone()).unwrap());
    serde_json::to_string(&Report::of(state)).unwrap();
    assert!(shot(state, (100, 30), &Theme::default(), View::default()).contains("</svg>"));
}

#[test]
fn every_beginning_of_a_session_is_a_state() {
    let records: Vec<_> = lines().iter().map(|line| record(line).unwrap()).collect();
    let kinds: std::collections::BTreeSet<_> =
        records.iter().map(|record| record.event.kind().to_owned()).collect();
    assert!(kinds.len() > 30, "too little happens: {kinds:?}");
    let mut live = State::default();
    for (n, record) in records.iter().enumerate() {
        live.apply(record);
        // To fold on is to fold from the start.
        assert_eq!(live, State::fold(&records[..=n]));
        is_usable(&live);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_damaged_session_is_a_state_too(
        begun in 0usize..40,
        rest in proptest::collection::vec(damaged(), 1..80),
    ) {
        let begun: Vec<_> = lines().iter().take(begun).filter_map(record).collect();
        let state = State::fold(begun.iter().chain(rest.iter().flatten()));
        is_usable(&state);
        for (i, task) in state.tasks.iter().enumerate() {
            prop_assert_eq!(task.id.0 as usize, i + 1);
        }
        for (i, id) in (1u32..).take(state.effects_requested()).map(EffectId).enumerate() {
            prop_assert_eq!(state.effect(id).map(|effect| effect.id.0 as usize), Some(i + 1));
        }
    }
}
