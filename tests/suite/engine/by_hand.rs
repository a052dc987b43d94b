//! Tool calls that a person makes.

use std::rc::Rc;

use serde_json::{Value, json};
use toolyard::domain::{
    Command, EffectId, FaultSpec, Lane, Mode, Refusal, State, TaskId, ToolCallPhase, ToolCallState,
};
use toolyard::engine::Beginning;

use super::yard::{Trial, Yard, calls, on_paused_time};

fn call(tool: &str, arguments: Value) -> Command {
    Command::CallTool { tool: tool.into(), arguments }
}

fn last(yard: &Yard) -> ToolCallState {
    yard.state.borrow().tool_calls.last().unwrap().clone()
}

fn is_text(call: &ToolCallState, text: &str) -> bool {
    matches!(&call.phase, ToolCallPhase::Done { output } if output.text == text)
}

#[test]
fn a_call_by_hand_runs_while_the_agent_is_paused_and_teaches_nothing() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        yard.settle().await;
        let before = yard.state.borrow().clone();
        yard.wish(call("echo", json!({"text": "hi", "ms": 30})));
        yard.settle().await;
        assert!(matches!(last(&yard).phase, ToolCallPhase::Running));
        yard.until("it ends", |state| state.effects_in_flight().next().is_none()).await;
        let after = yard.state.borrow().clone();
        let made = last(&yard);
        assert!(made.is_by_hand() && is_text(&made, "hi"), "{made:?}");
        assert_eq!(made.task, TaskId(0));
        assert_eq!((after.control.mode, made.helpful), (Mode::Paused, None));
        assert_eq!((&after.tools, &after.learning), (&before.tools, &before.learning));
        assert!(yard.kinds().iter().all(|kind| kind != "Judged"));
        // What does not fit the schema is refused, and so is what does not exist.
        yard.wish(call("echo", json!({"ms": 1})));
        yard.wish(call("nothing", json!({})));
        yard.settle().await;
        match last(&yard).phase {
            ToolCallPhase::Refused { reason, .. } => assert_eq!(reason, Refusal::Arguments),
            other => panic!("{other:?}"),
        }
        assert_eq!(yard.refusals(), ["there is no tool nothing"]);
    });
}

#[test]
fn a_call_by_hand_meets_faults_and_can_be_held_and_cancelled_alone() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        let spec: FaultSpec = "echo:error:nth=2:text=down".parse().unwrap();
        yard.wish(Command::ArmFault { spec });
        for _ in 0..2 {
            yard.wish(call("echo", json!({"text": "hi"})));
            yard.settle().await;
        }
        match last(&yard).phase {
            ToolCallPhase::Failed { error } => assert!(error.text.contains("down"), "{error:?}"),
            other => panic!("{other:?}"),
        }
        yard.wish(call("hang", json!({"text": "x"})));
        yard.settle().await;
        let id = EffectId(3);
        yard.wish(Command::PauseLane(Lane::Effect(id)));
        yard.wish(Command::Cancel(id));
        yard.until("it ends", |state| state.effect(id).is_some_and(|it| it.is_over())).await;
        assert!(matches!(last(&yard).phase, ToolCallPhase::Failed { .. }));
        assert_eq!(yard.refusals(), Vec::<String>::new());
    });
}

#[test]
fn the_agent_neither_waits_for_a_call_by_hand_nor_pays_for_it() {
    on_paused_time(async {
        let slow = json!({"text": "slow", "ms": 50});
        let replies = vec![Ok(calls(&[("echo", slow)]))];
        let yard = Trial {
            replies,
            knobs: vec![(toolyard::domain::Knob::Concurrency, 1.0)],
            stay: true,
            ..Trial::default()
        }
        .start();
        yard.until("it works", |state| state.tool_calls_in_flight().count() == 1).await;
        yard.wish(call("hang", json!({"text": "x"})));
        yard.wish(call("echo", json!({"text": "hi"})));
        yard.settle().await;
        assert!(is_text(&last(&yard), "hi"), "a call by hand takes no room of the agent");
        yard.wish(Command::Pause);
        yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
        yard.wish(Command::Run);
        yard.until("the task ends", |state| state.tasks_done == 1).await;
        let state = yard.state.borrow();
        let task = &state.tasks[0];
        assert_eq!((task.tool_calls.len(), task.budget.spent.tools), (1, 2.0.into()));
        assert_eq!(state.laps[0].calls(), 1);
        assert_eq!(state.tools["echo"].succeeded, 1);
        assert_eq!(state.calls_by_hand(TaskId(1)).count(), 2);
    });
}

#[test]
fn a_call_by_hand_that_was_cut_off_has_ended_when_the_session_goes_on() {
    on_paused_time(async {
        let yard = Trial { tasks: 2, paused: true, stay: true, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(call("hang", json!({"text": "x"})));
        yard.wish(Command::StepTask);
        yard.until("a task is done", |state| state.tasks_done == 1).await;
        let past: Vec<_> = yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let past = toolyard::engine::resumable(past);
        let again =
            Trial { tasks: 2, beginning: Beginning::after(past), ..Trial::default() }.start();
        again.settle().await;
        again.wish(Command::Run);
        let state = again.session.await.unwrap();
        assert_eq!(state.tasks_done, 2);
        match &state.tool_calls[0].phase {
            ToolCallPhase::Failed { error } => {
                assert_eq!(error.text, "toolyard ended before the call did");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_session_that_runs_again_makes_calls_by_hand_again_from_the_record() {
    on_paused_time(async {
        let slow = json!({"text": "slow", "ms": 50});
        let replies = || vec![Ok(calls(&[("echo", slow.clone())]))];
        let yard = Trial { replies: replies(), ..Trial::default() }.start();
        let records = Rc::clone(&yard.records);
        yard.until("it works", |state| state.tool_calls_in_flight().count() == 1).await;
        yard.wish(call("echo", json!({"text": "hi", "ms": 5})));
        let first = yard.session.await.unwrap();
        assert_eq!(first.calls_by_hand(TaskId(1)).count(), 1);
        let recorded: Vec<_> = records.borrow().iter().map(|record| (**record).clone()).collect();
        // Neither the model nor a tool is asked.
        let again = Trial {
            replies: vec![],
            beginning: Beginning::Over { of: recorded.clone().into(), until: None },
            ..Trial::default()
        };
        let again = again.start();
        let seen = Rc::clone(&again.records);
        let state = again.session.await.unwrap();
        let kinds = |records: &[_]| -> Vec<String> {
            records
                .iter()
                .map(|record: &toolyard::domain::Record| record.event.kind().to_owned())
                .collect()
        };
        let seen: Vec<_> = seen.borrow().iter().map(|record| (**record).clone()).collect();
        assert_eq!(kinds(&seen), kinds(&recorded));
        assert_eq!(state.calls_by_hand(TaskId(1)).count(), 1);
        assert_eq!(State::fold(&seen).tasks[0].answer, first.tasks[0].answer);
    });
}
