//! Forks of recorded sessions: what a person changes acts from the point on, and what does not depend on it stays
//! recorded.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::approval::Approval;
use toolyard::domain::call_policy::CallPolicy;
use toolyard::domain::edit::Edit;
use toolyard::domain::{
    By, Command, EditEvent, EffectClass, Event, FaultEvent, Origin, Record, RunId, State,
    ToolCallEvent,
};
use toolyard::engine::{Beginning, Division, ForkPoint, Past};

use super::yard::{Trial, calls, on_paused_time};

/// The records of a session to its end.
async fn played(trial: Trial) -> Vec<Record> {
    let yard = trial.start();
    let records = yard.records.clone();
    yard.session.await.unwrap();
    records.borrow().iter().map(|record| (**record).clone()).collect()
}

fn echo(text: &str) -> Value {
    json!({"text": text, "ms": 100})
}

/// A task with three calls: one, then two at once.
fn three_calls() -> Trial {
    let replies = vec![
        Ok(calls(&[("echo", echo("a"))])),
        Ok(calls(&[("echo", echo("b")), ("echo", echo("a"))])),
    ];
    let delay = Duration::from_millis(20);
    Trial { strategy: "react", replies, delay, ..Trial::default() }
}

fn forked(of: &[Record], at: usize) -> Beginning {
    Beginning::Over { of: of.to_vec().into(), until: Some(at as u64) }
}

/// The events without origins.
fn plain(records: &[Record]) -> Vec<Value> {
    let without_origin = |record: &Record| {
        let mut event = serde_json::to_value(&record.event).unwrap();
        if let Some(effect) = event.pointer_mut("/data/effect") {
            effect.as_object_mut().unwrap().remove("origin");
        }
        event
    };
    records.iter().map(without_origin).collect()
}

#[test]
fn faults_and_breakpoints_of_a_fork_act_from_its_point_on() {
    on_paused_time(async {
        let original = played(three_calls()).await;
        let begun = original.iter().position(|record| record.event.kind() == "TaskStarted");
        let mut failed = 0;
        for at in begun.unwrap() + 1..original.len() {
            let trial = three_calls();
            let trial = Trial {
                replies: trial
                    .replies
                    .into_iter()
                    .skip(told("ModelCallStarted", &original[..at]))
                    .collect(),
                faults: vec!["echo:error:text=no", "hang:timeout"],
                breakpoints: vec!["echo:after:log=seen"],
                beginning: forked(&original, at),
                ..three_calls()
            };
            let made = trial.made.clone();
            let fork = played(trial).await;
            let armed = fork.iter().filter_map(|record| match &record.event {
                Event::Fault(FaultEvent::FaultArmed { spec, by: By::User, .. }) => {
                    Some((record.n as usize, spec.to_string()))
                }
                _ => None,
            });
            let armed: Vec<_> = armed.collect();
            let [(first, error), (second, timeout)] = &armed[..] else { panic!("{at}: {armed:?}") };
            assert_eq!((&**error, &**timeout), ("echo:error:text=no", "hang:timeout"));
            assert!(*first > at && *second == first + 1, "{at}: {armed:?}");
            assert_eq!(told("BreakpointSet", &fork[second - 1..]), 1, "{at}");
            assert_eq!(plain(&fork[..at]), plain(&original[..at]));
            let state = State::fold(&fork);
            let asked = told("ToolCallStarted", &original[..at]);
            let hit = state.tool_calls.iter().filter(|call| call.injected.is_some()).count();
            assert_eq!(hit, state.tool_calls.len() - asked, "{at}: each call that starts later");
            assert_eq!(made.borrow().len(), 0, "{at}: what ran ends as recorded");
            let ended = told("ToolCallFinished", &original[..at]);
            let stops = told("BreakpointHit", &fork);
            assert_eq!(stops, state.tool_calls.len() - ended, "{at}: each call that ends later");
            failed += hit;
        }
        assert!(failed > 20, "{failed}");
        // Nothing acts after the end.
        let (beginning, faults) = (forked(&original, original.len()), vec!["echo:error"]);
        let fork = played(Trial { beginning, faults, ..three_calls() }).await;
        assert_eq!(plain(&fork), plain(&original));
    });
}

/// The first event that differs, with the one before it.
fn first_difference(one: &[Record], other: &[Record]) -> Option<String> {
    let [one, other] = [one, other].map(plain);
    let at = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at))?;
    let around = |all: &[Value]| {
        let shown = all.iter().skip(at.saturating_sub(1)).take(2);
        shown.map(|event| format!("{event:.200}")).collect::<Vec<_>>().join("\n    ")
    };
    Some(format!("{}:\n    {}\n not\n    {}", at + 1, around(&one), around(&other)))
}

/// How many events of this kind there are.
fn told(kind: &str, records: &[Record]) -> usize {
    records.iter().filter(|record| record.event.kind() == kind).count()
}

/// Two runs with two tasks each: every task calls a tool of its own, then two at once, and is done.
fn two_runs(effect: EffectClass) -> Trial {
    let one = |text: &str| Ok(calls(&[("echo", echo(text))]));
    let two = |text: &str| Ok(calls(&[("echo", echo(text)), ("echo", echo("same"))]));
    let finish = || Ok(calls(&[("Finish", json!({"answer": "done"}))]));
    let replies = vec![one("a"), one("b"), two("a2"), two("b2"), finish(), finish()];
    let later = vec![one("c"), one("d"), two("c2"), two("d2"), finish(), finish()];
    Trial {
        tasks: 4,
        runs: vec![None],
        replies: replies.into_iter().chain(later).collect(),
        effect,
        names: &["echo"],
        ..three_calls()
    }
}

/// The record with a person's edit of each result in turn, and the run of that call.
fn edits(original: &[Record]) -> Vec<(Vec<Record>, RunId)> {
    let state = State::fold(original);
    let edited = original.iter().enumerate().filter_map(|(at, record)| {
        let Event::ToolCall(ToolCallEvent::ToolCallFinished { effect, output }) = &record.event
        else {
            return None;
        };
        let edit = Edit::Result("The archive was closed in 1901.".into()).into();
        let was = Edit::Result(output.text.clone()).into();
        let (shown, past, by, effect) = (true, false, By::User, *effect);
        let edit = EditEvent::CallEdited { effect, edit, was, shown, past, by };
        let mut records = original.to_vec();
        records.insert(at + 1, Record::new(0, record.at, edit));
        (1..).zip(&mut records).for_each(|(n, record)| record.n = n);
        Some((records, state.run_of(state.effect(effect.id)?.task)))
    });
    edited.collect()
}

/// The calls of a run that ended so, as those of models and those of tools.
fn ended(state: &State, run: RunId, origin: Origin) -> [usize; 2] {
    let is_it = |task, of| state.run_of(task) == run && of == origin;
    let models = state.model_calls.iter().filter(|call| is_it(call.task, call.origin));
    let tools = state.tool_calls.iter().filter(|call| is_it(call.task, call.origin));
    [models.count(), tools.count()]
}

#[test]
fn an_edited_result_lets_only_its_run_part_from_the_record() {
    on_paused_time(async {
        let mut parted = 0;
        for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Write] {
            let original = played(two_runs(effect)).await;
            let whole = State::fold(&original);
            assert_eq!((whole.tasks_done, whole.tool_calls.len()), (4, 12));
            for (records, run) in edits(&original) {
                let beginning = Beginning::Over { of: records.into(), until: None };
                // A live model finishes at once.
                let trial = Trial { replies: vec![], beginning, ..two_runs(effect) };
                let made = trial.made.clone();
                let fork = played(trial).await;
                let state = State::fold(&fork);
                let other = RunId(3 - run.0);
                assert_eq!(state.tasks_done, 4);
                assert_eq!(told("CallEdited", &fork), 1);
                assert_eq!(ended(&state, other, Origin::Recorded), [6, 6], "the other run");
                assert_eq!(ended(&state, other, Origin::Live), [0, 0], "the other run");
                let first = state.tool_calls.iter().find(|call| call.edits > 0).unwrap().task;
                let is_first = first.0 <= 2;
                assert_eq!(ended(&state, run, Origin::Live)[0], 1, "the model reads the edit");
                // Then each call of the run's second task is known, but a write is made again.
                let again = match (effect, is_first) {
                    (EffectClass::Write, true) => 3,
                    _ => 0,
                };
                assert_eq!(ended(&state, run, Origin::Live)[1], again, "{effect:?} {first:?}");
                assert_eq!(made.borrow().len(), again, "{effect:?}: {:?}", made.borrow());
                parted += 1;
            }
        }
        assert_eq!(parted, 36);
    });
}

#[test]
fn a_run_that_has_parted_does_not_keep_the_others_waiting() {
    on_paused_time(async {
        let original = played(two_runs(EffectClass::Read)).await;
        for (records, run) in edits(&original) {
            // What is asked live takes an hour.
            let delay = Duration::from_secs(3600);
            let beginning = Beginning::Over { of: records.into(), until: None };
            let fork = Trial { replies: vec![], beginning, delay, ..two_runs(EffectClass::Read) };
            let state = State::fold(&played(fork).await);
            let late = |run: RunId| {
                let of_run = state.tasks.iter().filter(|task| task.task.run == run);
                of_run.filter(|task| task.ended.unwrap() >= 3_600_000_000).count()
            };
            assert_eq!(late(RunId(3 - run.0)), 0);
            assert!(late(run) > 0);
        }
    });
}

#[test]
fn a_fault_hits_the_calls_of_a_run_that_has_parted() {
    on_paused_time(async {
        let one_run = || {
            let call = |text: &str| Ok(calls(&[("echo", echo(text))]));
            let finish = || Ok(calls(&[("Finish", json!({"answer": "done"}))]));
            let replies = vec![call("a"), finish(), call("b"), finish()];
            Trial { tasks: 2, replies, ..three_calls() }
        };
        let original = played(one_run()).await;
        let (records, _) = edits(&original).swap_remove(0);
        let beginning = forked(&records, records.len());
        let faults = vec!["echo:error:text=no"];
        let trial = Trial { replies: vec![], beginning, faults, ..one_run() };
        let made = trial.made.clone();
        let state = State::fold(&played(trial).await);
        let hit = state.tool_calls.iter().filter(|call| call.injected.is_some());
        assert_eq!((hit.count(), made.borrow().len()), (1, 0), "the first call of the second task");
        assert_eq!(ended(&state, RunId::FIRST, Origin::Recorded)[1], 1);
    });
}

#[test]
fn a_task_that_was_cut_off_parts_where_its_record_ends() {
    on_paused_time(async {
        let original = played(two_runs(EffectClass::Write)).await;
        for at in (20..original.len()).step_by(5) {
            let beginning = forked(&original, at);
            let asked = told("ModelCallStarted", &original[..at]);
            let replies = two_runs(EffectClass::Write).replies.into_iter().skip(asked).collect();
            let trial = Trial { replies, beginning, ..two_runs(EffectClass::Write) };
            let made = trial.made.clone();
            let fork = played(trial).await;
            assert_eq!(State::fold(&fork).tasks_done, 4, "{at}");
            let known = told("ToolCallStarted", &original[..at]);
            assert_eq!(made.borrow().len() + known, 12, "{at}: no write is made twice");
        }
    });
}

/// A fork of this record, which may end before the session did.
fn continued(of: &[Record], at: usize, calls: &str, commands: Vec<Command>) -> Beginning {
    let start = Division::of(&of[..at]).range().start;
    let (past, rest) = (of[..start].to_vec(), of[start..].to_vec());
    let asks = calls == "write=ask";
    let calls: CallPolicy = calls.parse().unwrap();
    let rule = "effect:write".parse().unwrap();
    let approval = Box::new(Approval { ask: vec![rule], ..Approval::default() });
    let rules = asks.then_some(Command::SetApproval { approval });
    let commands = rules.into_iter().chain(commands).collect();
    let point = ForkPoint { at: at as u64, calls, commands };
    Beginning::Forked { past: Past::from(past), of: rest.into(), point: Box::new(point) }
}

/// The texts of the calls that were written: those of the record that had started by then, and those that were made.
fn written(of: &[Record], made: &[String]) -> usize {
    told("ToolCallStarted", of) + made.len()
}

#[test]
fn a_fork_writes_nothing_twice() {
    on_paused_time(async {
        let original = played(two_runs(EffectClass::Write)).await;
        let begun = original.iter().position(|record| record.event.kind() == "TaskStarted");
        let mut refused = 0;
        for at in begun.unwrap() + 1..=original.len() {
            for (calls, whole) in [
                ("live", &original[..]),
                ("write=ask", &original[..]),
                ("write=recorded", &original[..]),
                // The record ends here: what runs has no known outcome.
                ("live", &original[..at]),
            ] {
                let is_torn = whole.len() == at;
                let beginning = continued(whole, at, calls, Vec::new());
                let asked = told("ModelCallStarted", &original[..at]);
                let replies =
                    two_runs(EffectClass::Write).replies.into_iter().skip(asked).collect();
                let replies = if calls == "live" { replies } else { Vec::new() };
                let trial = Trial { replies, beginning, ..two_runs(EffectClass::Write) };
                let made = trial.made.clone();
                let fork = played(trial).await;
                let made = made.borrow().clone();
                let what = format!("{calls} at {at}: {made:?}");
                if calls == "live" && !is_torn {
                    // Two runs may change their order within a moment.
                    assert_eq!(fork.len(), original.len(), "{what}");
                    assert_eq!(written(&original[..at], &made), 12, "{what}");
                    continue;
                }
                if calls == "live" {
                    assert!(written(&original[..at], &made) <= 12, "{what}");
                    continue;
                }
                assert_eq!(made.len(), 0, "{what}");
                assert_eq!(State::fold(&fork).tasks_done, 4, "{what}");
                let answered = told("ToolCallRefused", &fork);
                assert!(calls == "write=ask" || answered == 0, "{what}");
                refused += answered;
            }
        }
        assert!(refused > 20, "{refused}");
    });
}

#[test]
fn a_fork_of_a_fork_keeps_both_changes() {
    on_paused_time(async {
        let original = played(three_calls()).await;
        let ends = |of: &[Record]| {
            let ended = of.iter().filter_map(|record| match &record.event {
                Event::ToolCall(ToolCallEvent::ToolCallFinished { effect, .. }) => {
                    Some((record.n as usize, effect.id))
                }
                _ => None,
            });
            ended.collect::<Vec<_>>()
        };
        let edited = |of: &[Record], nth: usize, text: &str| {
            let (at, effect) = ends(of)[nth];
            let edit = Box::new(Edit::Result(text.to_owned()));
            let command = Command::EditCall { effect, edit, shown: true };
            let beginning = continued(of, at, "read=recorded", vec![command]);
            Trial { beginning, replies: three_calls().replies.split_off(1), ..three_calls() }
        };
        let first = played(edited(&original, 0, "one")).await;
        let (at, _) = ends(&original)[0];
        assert_eq!(plain(&first[..at]), plain(&original[..at]));
        assert_eq!(told("CallEdited", &first), 1);
        let seen = |of: &[Record], text: &str| {
            let asked = of.iter().filter(|record| record.event.kind() == "ModelCallRequested");
            asked.filter(|record| plain(&[(*record).clone()])[0].to_string().contains(text)).count()
        };
        assert_eq!((seen(&original, "\"one\""), seen(&first, "\"one\"")), (0, 2));
        let nth = ends(&first).len() - 1;
        let second = Trial { replies: vec![], ..edited(&first, nth, "two") };
        let second = played(second).await;
        assert_eq!(told("CallEdited", &second), 2);
        assert_eq!((seen(&second, "\"one\""), seen(&second, "\"two\"")), (2, 1));
        let edited = second.iter().rposition(|record| record.event.kind() == "CallEdited");
        for at in edited.unwrap() + 1..=second.len() {
            let replies = vec![];
            let beginning = continued(&second, at, "live", Vec::new());
            let again = played(Trial { replies, beginning, ..three_calls() }).await;
            assert_eq!(first_difference(&again, &second), None, "{at}");
        }
        // What changes nothing changes nothing.
        let again = played(Trial {
            replies: vec![],
            beginning: continued(&second, second.len(), "write=ask", Vec::new()),
            ..three_calls()
        });
        assert_eq!(plain(&again.await), plain(&second));
    });
}

#[test]
fn arguments_and_prompts_of_a_fork_pass_the_checks() {
    on_paused_time(async {
        let original = played(three_calls()).await;
        let requested = original.iter().find_map(|record| match &record.event {
            Event::ToolCall(ToolCallEvent::ToolCallRequested { effect, .. }) => {
                Some((record.n as usize, effect.id))
            }
            _ => None,
        });
        let (at, effect) = requested.unwrap();
        let arguments = |value: Value| Command::EditCall {
            effect,
            edit: Box::new(Edit::Arguments(value)),
            shown: true,
        };
        for (command, made, refused) in
            [(arguments(echo("z")), 1, 0), (arguments(json!({"text": 5, "ms": 1})), 0, 1)]
        {
            let beginning = continued(&original, at, "write=ask", vec![command]);
            let replies = vec![];
            let trial = Trial { replies, beginning, ..three_calls() };
            let calls = trial.made.clone();
            let fork = played(trial).await;
            assert_eq!(told("CallEdited", &fork), 1 - refused);
            assert_eq!(told("CommandRefused", &fork), refused);
            assert_eq!(calls.borrow().len(), made, "{:?}", calls.borrow());
        }
    });
}
