//! Wishes that meet: steps, pauses, cancels and ends that come at the same moment, or while several
//! calls are held at once.

use std::{rc::Rc, time::Duration};

use proptest::prelude::*;
use serde_json::json;
use toolyard::domain::{
    Boundary, Command, ControlEvent, EffectId, Event, Judge, Knob, Lane, Mode, ModelCallEvent,
    Outcome, Record, Role, State, TaskEvent, ToolCallEvent, ToolCallPhase,
};

use super::yard::{Trial, Yard, calls, observed, on_paused_time};

/// A plan whose first reply wants so many calls of so many milliseconds at once.
fn at_once(calls_wanted: usize, ms: u64) -> Trial {
    let call = |i: usize| ("echo", json!({"text": i.to_string(), "ms": ms}));
    let wanted: Vec<_> = (0..calls_wanted).map(call).collect();
    Trial { replies: vec![Ok(calls(&wanted))], ..Trial::default() }
}

async fn paused_after_calls(plan: Trial) -> Yard {
    let yard = plan.start();
    yard.until("calls run", |state| state.tool_calls_in_flight().count() > 0).await;
    yard.wish(Command::Pause);
    yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
    yard
}

#[test]
fn stepping_over_a_task_lets_every_held_lane_go_on() {
    on_paused_time(async {
        let yard = paused_after_calls(at_once(3, 10)).await;
        assert_eq!(yard.held(), ["after a tool call"; 3]);
        yard.wish(Command::StepTask);
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn a_pause_takes_back_a_step_that_nobody_has_taken_yet() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(Command::Step);
        yard.wish(Command::Pause);
        yard.settle().await;
        assert_eq!((yard.mode(), yard.held()), (Mode::Paused, vec!["before a task"]));
        assert!(!yard.kinds().contains(&"Released".to_owned()), "{:?}", yard.kinds());
    });
}

#[test]
fn a_step_of_a_call_that_is_cancelled_at_once_goes_no_farther_than_its_end() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        for _ in 0..3 {
            yard.settle().await;
            yard.wish(Command::Step);
        }
        yard.settle().await;
        assert_eq!(yard.held(), ["before a tool call"]);
        yard.wish(Command::Step);
        yard.wish(Command::Cancel(EffectId(2)));
        yard.settle().await;
        assert_eq!((yard.mode(), yard.held()), (Mode::Paused, vec!["after a tool call"]));
    });
}

#[test]
fn a_pause_lets_no_call_start_that_waited_for_room() {
    on_paused_time(async {
        let knobs = vec![(Knob::Concurrency, 1.0)];
        let yard = paused_after_calls(Trial { knobs, ..at_once(4, 100) }).await;
        let started =
            || yard.state.borrow().tool_calls.iter().filter(|c| c.started.is_some()).count();
        assert_eq!(started(), 1);
        yard.wish(Command::Run);
        yard.until("the second runs", |state| {
            state.tool_calls.iter().filter(|call| call.started.is_some()).count() == 2
        })
        .await;
        yard.wish(Command::Pause);
        yard.until("it pauses again", |state| state.control.mode == Mode::Paused).await;
        assert_eq!(started(), 2);
        yard.wish(Command::Run);
        let most = Rc::clone(&yard.most_at_once);
        let state = yard.session.await.unwrap();
        assert!(
            state.tool_calls.iter().all(|call| matches!(call.phase, ToolCallPhase::Done { .. }))
        );
        assert_eq!(most.borrow().1, 1);
    });
}

#[test]
fn stop_releases_what_is_held_after_its_end_too() {
    on_paused_time(async {
        let yard = paused_after_calls(at_once(2, 10)).await;
        yard.wish(Command::Stop);
        let state = yard.session.await.unwrap();
        assert_eq!(state.control.held, []);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Stopped));
    });
}

#[test]
fn a_call_cancelled_before_it_ran_was_not_run() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        for _ in 0..3 {
            yard.settle().await;
            yard.wish(Command::Step);
        }
        yard.settle().await;
        yard.wish(Command::Cancel(EffectId(2)));
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        let tool = &state.tools["echo"];
        assert_eq!((tool.started, tool.failed, tool.refused), (0, 0, 1));
        assert_eq!(toolyard::report::Report::of(&state).tasks[0].calls, 0);
        // What was not run is not judged.
        assert_eq!(state.tasks[0].verdicts, []);
        let told = observed(&state.model_calls[1].request);
        assert_eq!(told, "Not called: the call was cancelled by the user");
    });
}

#[test]
fn a_tool_switched_off_while_its_call_is_held_is_not_run() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        for _ in 0..3 {
            yard.settle().await;
            yard.wish(Command::Step);
        }
        yard.settle().await;
        yard.wish(Command::SwitchTool { tool: "echo".into(), on: false });
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        assert!(
            matches!(&state.tool_calls[0].phase, ToolCallPhase::Refused { .. }),
            "{:?}",
            state.tool_calls
        );
    });
}

fn wish() -> impl Strategy<Value = Command> {
    prop_oneof![
        3 => Just(Command::Run),
        3 => Just(Command::Pause),
        4 => Just(Command::Step),
        2 => Just(Command::StepTask),
        1 => (1u32..8).prop_map(|id| Command::Cancel(EffectId(id))),
        1 => Just(Command::Cancel(EffectId(1))),
        1 => (1u32..3).prop_map(|n| Command::TurnKnob {
            knob: Knob::Concurrency,
            value: f64::from(n),
        }),
    ]
}

/// What must hold of every session, whoever wished what and when.
fn sound(records: &[std::sync::Arc<Record>]) {
    let mut state = State::default();
    // Released by a cancel, which works in a pause as well.
    let mut cancelled: Option<Lane> = None;
    let is_end =
        |kind| ["Released", "ToolCallFailed", "ModelCallFailed", "TaskFinished"].contains(&kind);
    let ends = records.iter().rev().skip(1).take_while(|record| is_end(record.event.kind()));
    let end = records.len() - 1 - ends.count();
    for (i, record) in records.iter().enumerate() {
        let paused = state.control.mode == Mode::Paused && i < end;
        match &record.event {
            Event::Control(ControlEvent::Paused { run: None }) => {
                let open =
                    state.tool_calls_in_flight().filter(|call| call.started.is_some()).count();
                assert_eq!(open, 0, "event {}: paused while a call runs", record.n);
            }
            Event::ToolCall(ToolCallEvent::ToolCallStarted { .. })
            | Event::ModelCall(ModelCallEvent::ModelCallStarted { .. })
            | Event::Task(TaskEvent::TaskStarted { .. }) => {
                assert!(!paused, "event {}: {} in a pause", record.n, record.event.kind());
            }
            Event::Control(ControlEvent::Released { lane }) if paused => {
                assert_eq!(cancelled.replace(*lane), None, "event {}", record.n);
            }
            // A call that is cancelled before it runs is refused.
            Event::ToolCall(
                ToolCallEvent::ToolCallFailed { .. } | ToolCallEvent::ToolCallRefused { .. },
            )
            | Event::ModelCall(ModelCallEvent::ModelCallFailed { .. })
            | Event::Control(ControlEvent::Resumed { .. }) => {
                cancelled = None;
            }
            Event::Control(ControlEvent::Held { lane, boundary }) => {
                assert!(!state.control.is_held(*lane), "event {}: {lane:?} held twice", record.n);
                if let (Lane::Effect(id), Boundary::AfterToolCall) = (lane, boundary) {
                    assert!(state.tool_call(*id).unwrap().phase.is_over());
                }
            }
            _ => {}
        }
        state.apply(record);
    }
    assert_eq!(state.control.held, []);
    assert_eq!(state.control.mode, Mode::Ended);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_wishes_at_any_moment_leave_a_sound_session(
        wishes in proptest::collection::vec((0u64..60, wish()), 0..25),
        paused: bool,
        stopped: bool,
    ) {
        on_paused_time(async {
            let knobs = vec![(Knob::Concurrency, 2.0)];
            let yard = Trial { tasks: 2, paused, knobs, ..at_once(3, 20) }.start();
            for (ms, wish) in wishes {
                if yard.commands.send(wish).is_err() {
                    break;
                }
                // Several wishes in one breath are as likely as one by one.
                tokio::time::sleep(Duration::from_millis(ms.saturating_sub(30))).await;
            }
            let _ = yard.commands.send(if stopped { Command::Stop } else { Command::Run });
            let records = Rc::clone(&yard.records);
            let ended = tokio::time::timeout(Duration::from_secs(60), yard.session).await;
            let kinds: Vec<_> = records.borrow().iter().map(|r| r.event.kind().to_owned()).collect();
            let state = ended.unwrap_or_else(|_| panic!("never ends: {kinds:?}")).unwrap();
            sound(&records.borrow());
            let folded = State::fold(records.borrow().iter().map(|record| &**record));
            assert_eq!(serde_json::to_string(&folded).unwrap(), serde_json::to_string(&state).unwrap());
        });
    }
}

#[test]
fn a_reply_of_many_calls_makes_some_and_is_told_of_the_others() {
    on_paused_time(async {
        let yard = Trial { strategy: "react", ..at_once(500, 1) }.start();
        let records = std::rc::Rc::clone(&yard.records);
        let state = yard.session.await.unwrap();
        let ran = |state: &State| {
            let done = state.tool_calls.iter();
            done.filter(|call| matches!(call.phase, ToolCallPhase::Done { .. })).count()
        };
        assert_eq!((ran(&state), state.tool_calls.len()), (16, 500));
        let asked = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. }) => {
                    Some(serde_json::to_string(request).unwrap())
                }
                _ => None,
            })
            .nth(1)
            .unwrap();
        assert_eq!(asked.matches("a reply may make at most 16 calls").count(), 484);

        let knobs = vec![(Knob::MaxCalls, 3.0)];
        let state = Trial { knobs, ..at_once(5, 1) }.start().session.await.unwrap();
        assert_eq!(ran(&state), 3);
    });
}

#[test]
fn steps_and_pauses_come_to_rest_while_a_model_judges() {
    on_paused_time(async {
        let knobs = vec![(Knob::Judge, Judge::Model as u8 as f64)];
        let yard = Trial { knobs, paused: true, ..Trial::default() }.start();
        yard.settle().await;
        let mut held = Vec::new();
        // Each step ends in a pause, from the first boundary to the end of the task.
        while yard.state.borrow().tasks_done == 0 {
            assert_eq!(yard.mode(), Mode::Paused, "after {held:?}");
            held.extend(yard.held());
            yard.wish(Command::Step);
            yard.settle().await;
            assert!(held.len() < 40, "{held:?}");
        }
        let calls = held.iter().filter(|boundary| **boundary == "before a tool call").count();
        assert!(calls > 0 && held.len() > 8, "{held:?}");

        let knobs = vec![(Knob::Judge, Judge::Model as u8 as f64)];
        let yard = Trial { knobs, delay: Duration::from_millis(50), ..Trial::default() }.start();
        let judges = |state: &State| {
            state.model_calls.iter().any(|call| call.role == Role::Judge && call.started.is_some())
        };
        yard.until("a model judges", judges).await;
        yard.wish(Command::Pause);
        yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
        yard.wish(Command::Run);
        assert_eq!(yard.session.await.unwrap().tasks_done, 1);
    });
}

#[test]
fn the_agent_itself_is_a_lane_that_is_held_alone() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(Command::PauseLane(Lane::FIRST));
        yard.wish(Command::Run);
        yard.settle().await;
        assert_eq!(yard.refusals(), Vec::<String>::new());
        assert_eq!((yard.mode(), yard.held()), (Mode::Running, vec!["before a task"]));
        yard.wish(Command::ResumeLane(Lane::FIRST));
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        // It has nothing to do any more.
        yard.settle().await;
        yard.wish(Command::PauseLane(Lane::FIRST));
        yard.settle().await;
        assert_eq!(yard.refusals(), ["the agent is idle"]);
    });
}

#[test]
fn stepping_over_a_task_holds_before_the_next() {
    on_paused_time(async {
        let yard = Trial { paused: true, tasks: 2, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(Command::StepTask);
        yard.until("it holds again", |state| state.tasks_done == 1).await;
        yard.settle().await;
        assert_eq!((yard.mode(), yard.held()), (Mode::Paused, vec!["before a task"]));
        yard.wish(Command::Run);
        assert_eq!(yard.session.await.unwrap().tasks_done, 2);
    });
}
