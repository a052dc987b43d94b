//! The engine with a scripted model and tools on paused time: what is wished, when, and what comes.

mod approval;
mod breakpoints;
mod budget;
mod by_hand;
mod caching;
mod classes;
mod control;
mod cotools;
mod damaged;
mod dollars;
mod edits;
pub mod effects;
mod fault_kinds;
mod faults;
mod feedback;
mod forks;
mod guests;
mod guests_again;
mod guests_changed;
pub mod guests_counted;
mod guests_faults;
mod guests_kinds;
mod guests_marks;
mod guests_places;
mod guests_relayed;
mod guests_skipped;
mod learning;
mod lively;
mod meaning;
mod models;
mod probing;
mod program_debug;
mod programs;
mod prompts;
mod providers;
mod queue;
mod ranking;
mod reading;
mod redo;
mod resume;
mod runs;
mod search;
mod seats;
mod time;
mod undo;
mod unusable;
mod watched;
mod widening;
mod window;
mod workers;
pub mod yard;

use std::{rc::Rc, time::Duration};

use self::yard::{Trial, calls, on_paused_time, say};
use serde_json::{Value, json};
use toolyard::domain::{
    Command, EffectId, FaultId, Knob, Mode, ModelError, ModelErrorKind, Outcome, Role, State,
    ToolCallPhase, ToolErrorKind, ToolMode, ToolName,
};
use toolyard::store::journal::{self, Header, Journal};

#[test]
fn a_task_runs_from_menu_to_score() {
    on_paused_time(async {
        let yard = Trial::default().start();
        let records = Rc::clone(&yard.records);
        let state = yard.session.await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::Answered));
        assert_eq!(task.correct, Some(true));
        assert_eq!(task.steps.len(), 2);
        assert_eq!(task.budget.spent.tools, 2.0);
        // Six dollars, at a hundred credits each.
        assert_eq!(task.budget.spent.models, 600.0);
        assert_eq!(state.learning.score(&"echo".into()), 2.0);
        // Three asks at a million tokens in for 1 dollar and half a million out for 2.
        assert_eq!(task.dollars, 6.0);
        assert_eq!(state.control.mode, Mode::Ended);
        let kinds: Vec<_> =
            records.borrow().iter().map(|record| record.event.kind().to_owned()).collect();
        let call = ["ToolCallRequested", "ToolCallStarted", "ToolCallFinished"];
        let order = [&call[..], &["Evaluated", "TaskFinished"]].concat();
        let places: Vec<_> =
            order.iter().map(|kind| kinds.iter().position(|seen| seen == kind).unwrap()).collect();
        assert!(places.is_sorted(), "{kinds:?}");
        // The state that others fold from the events is the engine's own.
        let folded = State::fold(records.borrow().iter().map(|record| &**record));
        assert_eq!(folded, state);
    });
}

#[test]
fn a_journal_replays_to_the_same_state_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
    let journal = Some(Journal::create(&path, &header).unwrap());
    on_paused_time(async {
        let faults = vec!["echo:error:nth=1", "hang:latency:ms=3"];
        let wish = json!({"text": "again", "ms": 7});
        let replies =
            vec![Ok(calls(&[("echo", json!({"text": "x"}))])), Ok(calls(&[("echo", wish)]))];
        let live = Trial { journal, faults, replies, tasks: 3, ..Trial::default() }.start();
        live.wish(Command::SetScore { tool: "hang".into(), score: -0.1 });
        let live = live.session.await.unwrap();
        let loaded = journal::read(&path).unwrap();
        let replayed = State::fold(&loaded.records);
        assert_eq!(
            serde_json::to_string(&replayed).unwrap(),
            serde_json::to_string(&live).unwrap()
        );
        assert_eq!(replayed, live);
    });
}

#[test]
fn a_pause_is_confirmed_only_when_the_hanging_call_comes_back() {
    on_paused_time(async {
        let slow = json!({"text": "x", "ms": 500});
        let yard =
            Trial { replies: vec![Ok(calls(&[("echo", slow)]))], ..Trial::default() }.start();
        yard.until("a call runs", |state| state.tool_calls_in_flight().count() == 1).await;
        yard.wish(Command::Pause);
        yard.settle().await;
        assert_eq!(yard.mode(), Mode::Pausing);
        yard.until("it pauses", |state| state.control.mode == Mode::Paused).await;
        assert_eq!(yard.held(), ["after a tool call"]);
        // The result came although it was pausing: a pause never kills.
        assert!(matches!(yard.state.borrow().tool_calls[0].phase, ToolCallPhase::Done { .. }));
        yard.wish(Command::Pause);
        yard.settle().await;
        assert_eq!(yard.refusals(), ["the agent is paused already"]);
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
    });
}

#[test]
fn time_held_does_not_count_against_a_call() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        yard.until("it is held", |state| !state.control.held.is_empty()).await;
        for _ in 0..3 {
            yard.wish(Command::Step);
            yard.settle().await;
        }
        assert_eq!(yard.held(), ["before a tool call"]);
        // Longer than the tool's own timeout.
        tokio::time::sleep(Duration::from_secs(60)).await;
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        assert!(matches!(state.tool_calls[0].phase, ToolCallPhase::Done { .. }));
        assert!(state.tool_calls[0].elapsed(state.at) < 1_000_000);
    });
}

#[test]
fn steps_go_from_boundary_to_boundary() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        let mut seen = Vec::new();
        for _ in 0..9 {
            yard.settle().await;
            assert_eq!(yard.mode(), Mode::Paused, "{:?}", yard.kinds());
            seen.extend(yard.held());
            yard.wish(Command::Step);
        }
        assert_eq!(
            seen,
            [
                "before a task",
                "before a model call",
                "after a model call",
                "before a tool call",
                "after a tool call",
                "before a model call",
                "after a model call",
                "before a model call",
                "after a model call",
            ]
        );
        yard.settle().await;
        assert_eq!(yard.held(), ["after an evaluation"]);
    });
}

#[test]
fn a_hanging_call_can_be_cancelled_and_the_agent_goes_on() {
    on_paused_time(async {
        let hang = Ok(calls(&[("hang", json!({"text": "x"}))]));
        let yard = Trial { replies: vec![hang], ..Trial::default() }.start();
        yard.until("a call runs", |state| state.tool_calls_in_flight().count() == 1).await;
        yard.wish(Command::Cancel(EffectId(7)));
        yard.wish(Command::Cancel(EffectId(2)));
        let refusals = Rc::clone(&yard.records);
        let state = yard.session.await.unwrap();
        let ToolCallPhase::Failed { error } = &state.tool_calls[0].phase else {
            panic!("{state:?}")
        };
        assert_eq!(error.kind, ToolErrorKind::Cancelled);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        let refused =
            refusals.borrow().iter().filter(|r| r.event.kind() == "CommandRefused").count();
        assert_eq!(refused, 1);
        assert_eq!(state.tool_calls[0].helpful, None, "a cancelled call is not judged");
    });
}

#[test]
fn a_held_call_can_be_cancelled() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..Trial::default() }.start();
        for _ in 0..3 {
            yard.settle().await;
            yard.wish(Command::Step);
        }
        yard.settle().await;
        assert_eq!(yard.held(), ["before a tool call"]);
        yard.wish(Command::Cancel(EffectId(2)));
        yard.settle().await;
        assert_eq!(yard.held(), ["after a tool call"]);
        yard.wish(Command::Run);
        assert_eq!(yard.session.await.unwrap().tools[0].started, 0);
    });
}

#[test]
fn a_call_that_never_ends_times_out() {
    on_paused_time(async {
        let hang = Ok(calls(&[("hang", json!({"text": "x"}))]));
        let state =
            Trial { replies: vec![hang], ..Trial::default() }.start().session.await.unwrap();
        let ToolCallPhase::Failed { error } = &state.tool_calls[0].phase else {
            panic!("{state:?}")
        };
        assert_eq!(error.kind, ToolErrorKind::Timeout);
        assert_eq!(state.tool_calls[0].elapsed(state.at), 10_000_000);
    });
}

#[test]
fn stop_ends_everything_in_flight() {
    on_paused_time(async {
        let hang = Ok(calls(&[("hang", json!({"text": "x"})), ("echo", json!({"text": "y"}))]));
        let yard = Trial { replies: vec![hang], tasks: 3, ..Trial::default() }.start();
        yard.until("one call is left", |state| {
            state.tool_calls_in_flight().count() == 1 && state.tool_calls.len() == 2
        })
        .await;
        yard.wish(Command::Stop);
        let state = yard.session.await.unwrap();
        assert_eq!(state.control.mode, Mode::Ended);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Stopped));
        assert_eq!(state.tasks[1].outcome(), None);
        assert_eq!(state.tool_calls_in_flight().count(), 0);
        assert!(state.control.held.is_empty());
    });
}

#[test]
fn concurrency_is_limited_by_its_knob_live() {
    on_paused_time(async {
        let call = |i: u32| ("echo", json!({"text": i.to_string(), "ms": 100}));
        let many: Vec<_> = (0..6).map(call).collect();
        let knobs = vec![(Knob::Concurrency, 2.0)];
        let yard = Trial { replies: vec![Ok(calls(&many))], knobs, ..Trial::default() }.start();
        let most = Rc::clone(&yard.most_at_once);
        let state = yard.session.await.unwrap();
        assert_eq!(most.borrow().1, 2);
        // Three pairs of 100 ms each; what comes back is in the order of the calls.
        let took = state.tool_calls[5].ended.unwrap() - state.tool_calls[0].started.unwrap();
        assert!((300_000..320_000).contains(&took), "{took}");
        assert_eq!(state.tool_calls.len(), 6);
    });
}

#[test]
fn a_model_without_tool_calls_is_asked_and_read_in_text() {
    on_paused_time(async {
        let act =
            "Thought: I ask.\nAction: echo\nAction Input: {\"text\": \"hi\"}\nObservation: no";
        let replies = vec![Ok(say(act)), Ok(say("Thought: I know.\nFinal Answer: done"))];
        let plan = Trial { replies, tools: ToolMode::Text, ..Trial::default() };
        let state = plan.start().session.await.unwrap();
        // What is kept is what the model saw: no tools beside the prompt, all of them in it.
        let seen = &state.model_calls[1].request;
        assert!(seen.tools.is_empty() && seen.stop.iter().any(|stop| stop.contains("Observation")));
        let prompt: Vec<_> = seen.messages.iter().map(|message| message.text()).collect();
        let prompt = prompt.join("\n");
        for part in ["echo says what it is told", "Action: echo", "Observation: hi"] {
            assert!(prompt.contains(part), "{part:?} is not in {prompt}");
        }
        assert_eq!(state.tool_calls[0].observation(), Some("hi"));
        assert_eq!(state.tasks[0].correct, Some(true));
    });
}

#[test]
fn interventions_are_taken_back_in_order() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        let echo = || ToolName::from("echo");
        yard.wish(Command::SetScore { tool: echo(), score: 5.0 });
        // So much later that it is a change of its own.
        tokio::time::sleep(Duration::from_secs(2)).await;
        yard.wish(Command::SetScore { tool: echo(), score: 7.0 });
        let knob = Knob::Alpha;
        yard.wish(Command::TurnKnob { knob, value: 2.0 });
        yard.wish(Command::PinWeight { from: "start".into(), to: echo(), weight: 0.9 });
        yard.wish(Command::SwitchTool { tool: "hang".into(), on: false });
        yard.wish(Command::ArmFault { spec: "echo:error".parse().unwrap() });
        yard.settle().await;
        assert_eq!(yard.state.borrow().faults_armed(), 1);
        assert_eq!(yard.state.borrow().in_shown().offered_tools().count(), 1);
        for _ in 0..3 {
            yard.wish(Command::Undo);
        }
        yard.settle().await;
        {
            let state = yard.state.borrow();
            assert_eq!(state.faults_armed(), 0);
            assert_eq!(state.in_shown().offered_tools().count(), 2);
            assert!(state.learning.pins.is_empty());
            assert_eq!(state.knobs.get(knob), 2.0);
        }
        for _ in 0..4 {
            yard.wish(Command::Undo);
        }
        yard.settle().await;
        let state = yard.state.borrow();
        assert_eq!(state.knobs.get(knob), knob.spec().default);
        assert_eq!(state.learning.score(&echo()), 0.0);
        assert!(state.control.changes.undo.is_empty());
        assert_eq!(yard.refusals(), ["nothing to undo"]);
    });
}

#[test]
fn wishes_that_make_no_sense_are_refused_with_a_reason() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        let (a, b) = (|| ToolName::from("echo"), || ToolName::from("nobody"));
        for (wish, phrase) in [
            (Command::SetScore { tool: b(), score: 1.0 }, "no tool nobody"),
            (Command::SetScore { tool: a(), score: f64::NAN }, "invalid score"),
            (Command::SetScore { tool: a(), score: -1.1e15 }, "invalid score -1100000000000000"),
            (Command::PinWeight { from: a(), to: a(), weight: 2.0 }, "from 0 to 1"),
            (Command::TurnKnob { knob: Knob::Beta, value: 7.0 }, "from 0 to 1"),
            (
                Command::BindRole { role: Role::Actor, model: "x".into() },
                "model x is not configured",
            ),
            (Command::DisarmFault { fault: FaultId(3) }, "no fault 3"),
            (Command::QueueTask { text: "  ".into() }, "empty"),
            (Command::Cancel(EffectId(99)), "the call is not in flight"),
            (Command::ReloadTools, "built in"),
            (Command::Undo, "nothing to undo"),
            (Command::Redo, "nothing to redo"),
        ] {
            let before = yard.refusals().len();
            yard.wish(wish.clone());
            yard.settle().await;
            let refusals = yard.refusals();
            assert_eq!(refusals.len(), before + 1, "{wish:?}");
            assert!(refusals[before].contains(phrase), "{wish:?}: {refusals:?}");
        }
    });
}

#[test]
fn calls_outside_the_menu_or_the_schema_are_refused_free_of_charge() {
    on_paused_time(async {
        let replies = vec![
            Ok(calls(&[("nobody", json!({}))])),
            Ok(calls(&[("echo", json!({"text": 7}))])),
            Ok(calls(&[("echo", Value::String("{not json".into()))])),
        ];
        let state = Trial { replies, ..Trial::default() }.start().session.await.unwrap();
        let whys: Vec<_> =
            state.tool_calls.iter().map(|call| call.observation().unwrap()).collect();
        assert!(whys[0].contains("there is no tool nobody"), "{whys:?}");
        assert!(whys[1].contains("text"), "{whys:?}");
        assert!(
            state.tool_calls.iter().all(|call| matches!(call.phase, ToolCallPhase::Refused { .. }))
        );
        assert_eq!(state.tasks[0].budget.spent.tools, 0.0);
    });
}

#[test]
fn a_model_that_fails_ends_the_task_and_not_the_session() {
    on_paused_time(async {
        let error = ModelError::new(ModelErrorKind::Endpoint, "500");
        let plan = Trial { replies: vec![Err(error)], tasks: 2, ..Trial::default() };
        let state = plan.start().session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Failed));
        assert_eq!(state.tasks[1].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn a_stream_that_broke_off_is_asked_again_for_all_to_see() {
    on_paused_time(async {
        let cut = || {
            let mut error = ModelError::new(ModelErrorKind::Connection, "cut");
            error.partial = "The ans".into();
            Err(error)
        };
        let state =
            Trial { replies: vec![cut()], ..Trial::default() }.start().session.await.unwrap();
        assert_eq!(state.model_calls.len(), 2);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        let plan = Trial { replies: (0..3).map(|_| cut()).collect(), ..Trial::default() };
        let state = plan.start().session.await.unwrap();
        assert_eq!(state.model_calls.len(), 3);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Failed));
    });
}

#[test]
fn an_ask_can_be_cancelled() {
    on_paused_time(async {
        let delay = Duration::from_secs(5);
        let yard = Trial { delay, ..Trial::default() }.start();
        yard.until("a model is asked", |state| {
            state.model_calls_in_flight().any(|ask| ask.started.is_some())
        })
        .await;
        yard.wish(Command::Cancel(EffectId(1)));
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Failed));
        assert!(state.at < 1_000_000);
    });
}

#[test]
fn frozen_learning_changes_no_score() {
    on_paused_time(async {
        let knobs = vec![(Knob::Learn, 0.0)];
        let state = Trial { knobs, ..Trial::default() }.start().session.await.unwrap();
        assert_eq!(state.learning.score(&"echo".into()), 0.0);
        assert_eq!(state.tasks[0].verdicts.len(), 1);
    });
}

#[test]
fn steps_run_out() {
    on_paused_time(async {
        let more = || Ok(calls(&[("echo", json!({"text": "x"}))]));
        let replies = (0..9).map(|_| more()).collect();
        let knobs = vec![(Knob::MaxSteps, 3.0)];
        let state = Trial { replies, knobs, ..Trial::default() }.start().session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::OutOfSteps));
        assert_eq!(state.tasks[0].steps.len(), 3);
    });
}

#[test]
fn a_queue_that_is_empty_waits_for_tasks() {
    on_paused_time(async {
        let yard = Trial { stay: true, ..Trial::default() }.start();
        yard.until("the first is done", |state| state.tasks_done == 1).await;
        yard.wish(Command::Pause);
        yard.settle().await;
        assert_eq!(yard.mode(), Mode::Paused);
        yard.wish(Command::QueueTask { text: "Say it again.".into() });
        yard.settle().await;
        assert_eq!(yard.held(), ["before a task"]);
        yard.wish(Command::Run);
        yard.until("the second is done", |state| state.tasks_done == 2).await;
        yard.wish(Command::Stop);
        yard.session.await.unwrap();
    });
}
