//! What is taken back, and what of it others have built on since.

use std::{cell::Cell, rc::Rc};

use serde_json::json;
use toolyard::domain::{Command, FaultId, Knob, ToolName};
use toolyard::stage::sample::Sample;
use toolyard::tool::manifest::Manifests;

use super::yard::{Trial, calls, on_paused_time};

#[test]
fn taking_back_a_score_keeps_what_was_learned_since() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        let echo = || ToolName::from("echo");
        yard.wish(Command::SetScore { tool: echo(), score: 5.0 });
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 7.0);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 2.0);
    });
}

#[test]
fn what_cannot_be_taken_back_any_more_bars_nothing_before_it() {
    on_paused_time(async {
        let manifest = Sample::General.manifests().unwrap().remove(0);
        let tool = manifest.spec.name.clone();
        let times = Cell::new(0);
        let files = Manifests::new(vec![], move || {
            times.set(times.get() + 1);
            Ok(if times.get() == 1 { vec![manifest.clone()] } else { vec![] })
        });
        let trial = Trial { providers: vec![Rc::new(files)], ..Trial::default() };
        let yard = Trial { paused: true, stay: true, ..trial }.start();
        let (from, to) = (ToolName::start(), tool);
        yard.wish(Command::TurnKnob { knob: Knob::Alpha, value: 2.0 });
        yard.wish(Command::ReloadTools);
        yard.settle().await;
        yard.wish(Command::PinWeight { from: from.clone(), to: to.clone(), weight: 0.9 });
        yard.wish(Command::UnpinWeight { from, to });
        yard.wish(Command::ReloadTools);
        yard.settle().await;
        yard.wish(Command::Undo);
        yard.settle().await;
        let state = yard.state.borrow();
        assert_eq!(state.knobs.get(Knob::Alpha), Knob::Alpha.spec().default);
        assert_eq!(yard.refusals(), Vec::<String>::new());
    });
}

#[test]
fn what_is_so_already_is_refused_and_leaves_nothing_to_take_back() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        let arm = |text: &str| Command::ArmFault { spec: text.parse().unwrap() };
        let off = |on| Command::SwitchTool { tool: "hang".into(), on };
        for (wish, phrase) in [
            (off(true), "on already"),
            (Command::TurnKnob { knob: Knob::Alpha, value: Knob::Alpha.spec().default }, "already"),
            (Command::SwitchTool { tool: ToolName::start(), on: false }, "no tool start"),
            (Command::SetScore { tool: ToolName::start(), score: 1.0 }, "no tool start"),
            (arm("end:error"), "no tool end"),
            (arm("model:gpt:timeout"), "no model gpt"),
            (arm("class:Cooking:empty"), "no class Cooking"),
            (arm("embedding:error"), "no embedding model is configured"),
        ] {
            let before = yard.refusals().len();
            yard.wish(wish.clone());
            yard.settle().await;
            let refusals = yard.refusals();
            assert_eq!(refusals.len(), before + 1, "{wish:?}");
            assert!(refusals[before].contains(phrase), "{wish:?}: {refusals:?}");
        }
        assert_eq!(yard.state.borrow().control.changes.undo, []);
        yard.wish(off(false));
        yard.wish(off(false));
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(yard.state.borrow().in_shown().offered_tools().count(), 2);
    });
}

#[test]
fn a_fault_armed_again_by_undo_counts_its_calls_anew() {
    on_paused_time(async {
        let once = || Ok(calls(&[("echo", json!({"text": "x"}))]));
        let replies = vec![once(), once()];
        let faults = vec!["echo:error:nth=1"];
        let yard = Trial { paused: true, replies, faults, ..Trial::default() }.start();
        let fault = FaultId(1);
        yard.wish(Command::DisarmFault { fault });
        yard.wish(Command::Undo);
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        let injected: Vec<_> = state.tool_calls.iter().map(|call| call.injected).collect();
        assert_eq!(injected, [Some(fault), None]);
        assert_eq!(state.faults[&fault].fired, 1);
    });
}
