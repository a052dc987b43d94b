//! Several runs in one session: each is held, stepped, faulted, budgeted and cancelled alone.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use toolyard::domain::state::What;
use toolyard::domain::{
    BudgetEvent, Command, ControlEvent, EffectClass, EffectId, Event, FaultEvent, Lane, Mode,
    Outcome, Record, Resume, RunId, State, TaskEvent, TaskId, ToolCallEvent,
};
use toolyard::engine::{Beginning, Rest};

use super::yard::{Trial, Yard, calls, on_paused_time};
use crate::interrupted::Interrupted;

const SECOND: RunId = RunId(2);

/// Each run works on a task of its own: a call of 100 ms, then the answer.
fn two_runs() -> Trial {
    let echo = || Ok(calls(&[("echo", json!({"text": "hello", "ms": 100}))]));
    Trial {
        tasks: 2,
        runs: vec![None],
        replies: vec![echo(), echo()],
        delay: Duration::from_millis(20),
        strategy: "react",
        ..Trial::default()
    }
}

fn run_of(state: &State, effect: EffectId) -> RunId {
    state.run_of(state.effect(effect).unwrap().task)
}

/// How many effects of each run have ended.
fn ended(yard: &Yard) -> [usize; 2] {
    let (records, state) = (yard.records.borrow(), yard.state.borrow());
    let ends = records.iter().filter(|record| record.event.is_end());
    let runs: Vec<RunId> =
        ends.filter_map(|record| Some(run_of(&state, record.event.effect()?.id))).collect();
    [RunId::FIRST, SECOND].map(|run| runs.iter().filter(|of| **of == run).count())
}

#[test]
fn two_runs_work_at_the_same_time() {
    on_paused_time(async {
        let yard = two_runs().start();
        let most = yard.most_at_once.clone();
        let state = yard.session.await.unwrap();
        assert_eq!(most.borrow().1, 2, "both calls ran at once");
        let tasks: Vec<_> = state.tasks.iter().collect();
        assert_eq!((tasks[0].task.run, tasks[1].task.run), (RunId::FIRST, SECOND));
        assert!(tasks[1].started < tasks[0].ended && tasks[0].started < tasks[1].ended);
        assert!(tasks.iter().all(|task| task.outcome() == Some(Outcome::Answered)));
        assert!(tasks.iter().all(|task| task.tool_calls.len() == 1));
        assert_eq!((state.tasks_done, state.at_work.len()), (2, 0));
    });
}

#[test]
fn a_task_starts_at_the_front_whatever_run_it_is_of() {
    on_paused_time(async {
        // The tasks alternate. The first run has the longest call, so that the second does its tasks meanwhile.
        let mut replies = vec![Ok(calls(&[("echo", json!({"text": "long", "ms": 5_000}))]))];
        replies.extend((0..3).map(|_| Ok(calls(&[("Finish", json!({"answer": "done"}))]))));
        let yard = Trial { tasks: 6, replies, ..two_runs() }.start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        let started: Vec<TaskId> = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::Task(TaskEvent::TaskStarted { task }) => Some(*task),
                _ => None,
            })
            .collect();
        assert_eq!(started, (1..=6).map(TaskId).collect::<Vec<_>>());
        let runs: Vec<u32> = state.tasks.iter().map(|task| task.task.run.0).collect();
        assert_eq!(runs, [1, 2, 2, 2, 1, 1]);
        assert_eq!(state.laps_in_order().len(), 6);
        let is_move = |what: &What| match what {
            What::Told { event } => matches!(**event, Event::Task(TaskEvent::TaskMoved { .. })),
            _ => false,
        };
        assert!(!state.transcript.iter().any(|line| is_move(&line.what)), "moves are not told");
    });
}

#[test]
fn one_run_is_held_and_stepped_while_the_other_works() {
    on_paused_time(async {
        let yard = Trial { stay: true, ..two_runs() }.start();
        yard.until("both work", |state| state.at_work.len() == 2).await;
        yard.wish(Command::PauseRun { run: SECOND });
        yard.until("the first is done", |state| state.tasks_done == 1).await;
        let control = yard.state.borrow().control.clone();
        assert_eq!((control.mode, control.mode_of(SECOND)), (Mode::Running, Mode::Paused));
        let before = ended(&yard)[1];
        yard.wish(Command::ResumeRun { run: SECOND, how: Resume::Step });
        yard.settle().await;
        yard.wish(Command::ResumeRun { run: SECOND, how: Resume::Step });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(yard.state.borrow().control.mode_of(SECOND), Mode::Paused);
        assert!(ended(&yard)[1] <= before + 1, "two boundaries are at most one effect");
        let paused = |record: &Arc<Record>| match &record.event {
            Event::Control(ControlEvent::Paused { run }) => Some(*run),
            _ => None,
        };
        let paused: Vec<_> = yard.records.borrow().iter().filter_map(paused).collect();
        assert_eq!(paused, [Some(SECOND); 3]);
        yard.wish(Command::ResumeRun { run: SECOND, how: Resume::Run });
        yard.until("both are done", |state| state.tasks_done == 2).await;
        yard.wish(Command::PauseRun { run: RunId(3) });
        yard.settle().await;
        assert_eq!(yard.refusals(), ["there is no run 3"]);
    });
}

#[test]
fn a_pause_of_all_holds_both_and_a_step_lets_one_lane_pass() {
    on_paused_time(async {
        let yard = Trial { stay: true, paused: true, ..two_runs() }.start();
        yard.settle().await;
        let lanes = |yard: &Yard| -> Vec<Lane> {
            yard.state.borrow().control.held.iter().map(|hold| hold.lane).collect()
        };
        assert_eq!(lanes(&yard), [Lane::Run(RunId::FIRST), Lane::Run(SECOND)]);
        yard.wish(Command::Step);
        yard.settle().await;
        assert_eq!(yard.mode(), Mode::Paused);
        assert_eq!(lanes(&yard), [Lane::Run(SECOND), Lane::Effect(EffectId(1))]);
        yard.wish(Command::ResumeRun { run: SECOND, how: Resume::Step });
        yard.settle().await;
        assert_eq!(lanes(&yard), [Lane::Effect(EffectId(1)), Lane::Effect(EffectId(2))]);
        // One goes on alone, and a pause of all holds it again.
        yard.wish(Command::ResumeRun { run: SECOND, how: Resume::Run });
        yard.settle().await;
        let mode = yard.state.borrow().shown_mode();
        assert_eq!((mode, yard.mode()), (Mode::Running, Mode::Paused));
        yard.wish(Command::Pause);
        yard.until("all are held", |state| {
            state.control.mode == Mode::Paused && state.control.modes.is_empty()
        })
        .await;
        // Both go on together again.
        yard.wish(Command::Run);
        yard.until("both are done", |state| state.tasks_done == 2).await;
        assert!(yard.state.borrow().control.modes.is_empty());
    });
}

#[test]
fn a_fault_with_a_condition_hits_one_run_alone() {
    on_paused_time(async {
        let yard = Trial { faults: vec!["echo:error:if=run == 2"], ..two_runs() }.start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        let records = records.borrow();
        let hit: Vec<RunId> = records
            .iter()
            .filter_map(|record| match &record.event {
                Event::Fault(FaultEvent::FaultFired { effect, .. }) => {
                    Some(run_of(&state, effect.id))
                }
                _ => None,
            })
            .collect();
        assert_eq!(hit, [SECOND]);
    });
}

#[test]
fn each_run_has_a_budget_of_its_own() {
    on_paused_time(async {
        let yard = Trial { strategy: "react+btp", ..two_runs() }.start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        let planned: Vec<TaskId> = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::Budget(BudgetEvent::BudgetPlanned { task, why, .. }) => {
                    (why == "planned").then_some(*task)
                }
                _ => None,
            })
            .collect();
        assert_eq!(planned, [TaskId(1), TaskId(2)]);
        let credits: Vec<f64> = state.tasks.iter().map(|task| task.credits()).collect();
        assert!(credits[0] > 0.0);
        assert_eq!(credits[0], credits[1], "equal work is charged to each task alone");
    });
}

#[test]
fn one_run_is_skipped_and_one_call_is_cancelled_alone() {
    on_paused_time(async {
        let yard = two_runs().start();
        yard.until("both call", |state| {
            state.tool_calls_in_flight().filter(|call| call.started.is_some()).count() == 2
        })
        .await;
        yard.wish(Command::SkipTask { task: TaskId(2) });
        yard.until("it is skipped", |state| state.tasks_done == 1).await;
        let state = yard.state.borrow().clone();
        assert_eq!(state.task(TaskId(2)).unwrap().outcome(), Some(Outcome::Stopped));
        assert_eq!(state.tool_calls_in_flight().count(), 1, "the other call goes on");
        let state = yard.session.await.unwrap();
        assert_eq!(state.task(TaskId(1)).unwrap().outcome(), Some(Outcome::Answered));
    });
}

/// The records of a session of two runs that is stopped after so many of them.
async fn interrupted_after(n: usize) -> Vec<Record> {
    let yard = writing(2).start();
    let records = yard.records.clone();
    yard.until("so far", |state| state.n as usize >= n).await;
    yard.session.abort();
    let records = records.borrow();
    records.iter().take(n).map(|record| (**record).clone()).collect()
}

/// Each run writes twice.
fn writing(replies: usize) -> Trial {
    let write = |text: &str| Ok(calls(&[("echo", json!({"text": text, "ms": 30}))]));
    let texts = ["a", "b", "a", "b"];
    let replies = texts[..2 * replies].iter().map(|text| write(text)).collect();
    Trial { replies, effect: EffectClass::Write, names: &["echo"], ..two_runs() }
}

#[test]
fn two_runs_are_killed_and_resumed_together() {
    on_paused_time(async {
        let whole = writing(2).start().session.await.unwrap().n as usize;
        let (mut resumed, mut both_at_work) = (0, 0);
        for n in (10..whole).step_by(3) {
            let records = interrupted_after(n).await;
            let at_work = State::fold(&records).at_work.len();
            let made = |records: &[Record]| {
                let ends = records.iter().filter(|record| {
                    matches!(record.event, Event::ToolCall(ToolCallEvent::ToolCallFinished { .. }))
                });
                ends.count()
            };
            let before = made(&records);
            let Interrupted { past, rest } = Interrupted::of(records);
            let rest = Some(Rest { records: rest, repeats_unknown: true });
            let beginning = Beginning::Continued { past: past.into(), rest };
            // The model is asked only for what the record does not answer.
            let trial = Trial { beginning, tasks: 0, runs: vec![], ..writing(2) };
            let made_now = trial.made.clone();
            let yard = trial.start();
            let records = yard.records.clone();
            let state = yard.session.await.unwrap();
            assert_eq!(state.tasks_done, 2, "after {n} records");
            let all: Vec<Record> = records.borrow().iter().map(|it| (**it).clone()).collect();
            let answered = made(&all) - made_now.borrow().len();
            assert!(answered >= before, "after {n} records {before} writes were made");
            (resumed, both_at_work) = (resumed + 1, both_at_work + usize::from(at_work == 2));
        }
        assert!(resumed > 10 && both_at_work > 5, "{resumed} {both_at_work}");
    });
}

#[test]
fn a_fork_at_any_event_is_equal_up_to_there_and_then_goes_its_own_way() {
    on_paused_time(async {
        let records = {
            let yard = two_runs().start();
            let records = yard.records.clone();
            yard.session.await.unwrap();
            let records = records.borrow();
            records.iter().map(|record| (**record).clone()).collect::<Vec<_>>()
        };
        let plain = |records: &[Record]| -> Vec<Value> {
            let without_origin = |record: &Record| {
                let mut event = serde_json::to_value(&record.event).unwrap();
                if let Some(effect) = event.pointer_mut("/data/effect") {
                    effect.as_object_mut().unwrap().remove("origin");
                }
                event
            };
            records.iter().map(without_origin).collect()
        };
        let original = plain(&records);
        let mut differ = 0;
        for at in 1..=records.len() {
            let beginning = Beginning::Over { of: records.clone().into(), until: Some(at as u64) };
            let finish = || Ok(calls(&[("Finish", json!({"answer": "another way"}))]));
            let replies = vec![finish(), finish()];
            let yard = Trial { beginning, replies, ..two_runs() }.start();
            let forked = yard.records.clone();
            let state = yard.session.await.unwrap();
            assert_eq!(state.tasks_done, 2);
            let forked: Vec<Record> = forked.borrow().iter().map(|it| (**it).clone()).collect();
            let forked = plain(&forked);
            let same = forked.iter().zip(&original).take_while(|(one, other)| one == other).count();
            assert!(same >= at, "a fork at {at} is equal up to {same}");
            differ += usize::from(forked != original);
        }
        assert!(differ > records.len() / 2, "{differ} of {}", records.len());
    });
}

#[test]
fn a_run_may_have_its_own_strategy() {
    on_paused_time(async {
        let yard = Trial { runs: vec![Some("direct")], ..two_runs() }.start();
        let state = yard.session.await.unwrap();
        let strategies = state.tasks.iter().map(|task| task.strategy.unwrap().to_string());
        assert_eq!(strategies.collect::<Vec<_>>(), ["react", "direct"]);
    });
}
