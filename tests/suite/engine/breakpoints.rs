//! Breakpoints: where they stop, on what condition, how often, and how the agent goes on from there.

use std::time::Duration;

use serde_json::json;
use toolyard::domain::{
    BreakpointEvent, BreakpointId, BreakpointSpec, Command, Event, Knob, Lane, Mode, ModelError,
    ModelErrorKind, State,
};

use super::yard::{Trial, Yard, calls, on_paused_time, say};

fn set(text: &str) -> Command {
    Command::SetBreakpoint { breakpoint: None, spec: Box::new(text.parse().unwrap()), on: true }
}

fn run_to(text: &str) -> Command {
    Command::RunTo { spec: Box::new(text.parse().unwrap()) }
}

fn echo(text: &str, ms: u64) -> (&'static str, serde_json::Value) {
    ("echo", json!({"text": text, "ms": ms}))
}

/// A session for a person, which waits before its first task.
fn trial(replies: Vec<Result<toolyard::domain::Reply, ModelError>>) -> Trial {
    Trial { replies, paused: true, stay: true, ..Trial::default() }
}

async fn stopped(yard: &Yard) -> String {
    yard.settle().await;
    yard.until("it stops", |state| state.control.mode == Mode::Paused).await;
    let state = yard.state.borrow();
    state.control.stop.as_ref().map_or_else(String::new, |stop| {
        let place = stop.boundary.map_or("between calls", |boundary| boundary.name());
        format!("{} {place}", stop.place)
    })
}

async fn done(yard: &Yard, tasks: usize) {
    yard.until("the tasks are done", |state| state.tasks_done == tasks).await;
}

fn known(yard: &Yard, id: u32) -> toolyard::domain::BreakpointState {
    yard.state.borrow().breakpoints[&BreakpointId(id)].clone()
}

fn arguments(state: &State) -> Vec<String> {
    state.tool_calls.iter().map(|call| call.arguments["text"].as_str().unwrap().into()).collect()
}

#[test]
fn a_breakpoint_stops_before_a_call_or_after_it_and_nothing_is_done_twice() {
    on_paused_time(async {
        let yard = trial(vec![Ok(calls(&[echo("a", 5)])), Ok(calls(&[echo("b", 5)]))]).start();
        yard.settle().await;
        yard.wish(set("echo:both:if=args.text == \"b\""));
        yard.wish(Command::Run);
        assert_eq!(stopped(&yard).await, "echo:both:if=args.text == \"b\" before a tool call");
        assert_eq!(yard.held(), ["before a tool call"]);
        assert_eq!(yard.state.borrow().tool_calls.len(), 2);
        assert!(yard.state.borrow().tool_calls[1].started.is_none());
        // Time held runs no call into its time limit.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        yard.wish(Command::Run);
        assert_eq!(stopped(&yard).await, "echo:both:if=args.text == \"b\" after a tool call");
        yard.wish(Command::Run);
        done(&yard, 1).await;
        assert_eq!(known(&yard, 1).hits, 2);
        assert_eq!(yard.most_at_once.borrow().1, 1);
        assert_eq!(arguments(&yard.state.borrow()), ["a", "b"]);
        assert!(yard.state.borrow().control.stop.is_none());
        let started = yard.kinds().iter().filter(|kind| *kind == "ToolCallStarted").count();
        assert_eq!(started, 2, "each call ran once");
    });
}

#[test]
fn a_condition_that_is_set_while_a_call_is_in_flight_holds_the_next_match() {
    on_paused_time(async {
        let yard = trial(vec![Ok(calls(&[echo("a", 500)])), Ok(calls(&[echo("b", 5)]))]).start();
        yard.settle().await;
        yard.wish(Command::Run);
        yard.until("a call runs", |state| {
            state.tool_calls_in_flight().any(|call| call.started.is_some())
        })
        .await;
        yard.wish(set("tools:if=tool == \"echo\""));
        assert!(stopped(&yard).await.ends_with("before a tool call"));
        assert_eq!(arguments(&yard.state.borrow()), ["a", "b"]);
        assert_eq!(known(&yard, 1).hits, 1, "the call in flight was past it");
    });
}

#[test]
fn each_place_stops_where_it_says() {
    for (text, strategy, place) in [
        ("echo", "react", "before a tool call"),
        ("echo:after:if=ok && result == \"a\"", "react", "after a tool call"),
        ("tools", "react", "before a tool call"),
        ("class:Made Up", "react", "before a tool call"),
        ("effect:read:after", "react", "after a tool call"),
        ("edge:start->echo", "react", "before a tool call"),
        ("edge:echo->hang", "react", "before a tool call"),
        ("models:after:if=tokens_out > 0", "react", "after a model call"),
        ("role:actor", "react", "before a model call"),
        ("role:evaluator:after", "toolnet", "after a model call"),
        ("model:script", "react", "before a model call"),
        ("any", "react", "before a model call"),
        ("task", "react", "before a task"),
        ("evaluation", "toolnet", "after an evaluation"),
        ("error:timeout", "react", "after a tool call"),
        ("error", "react", "after a tool call"),
        ("value:step > 1", "react", "between calls"),
        ("value:calls.echo", "react", "between calls"),
        ("score:echo", "toolnet", "between calls"),
        ("left:crosses=19.5", "react", "between calls"),
    ] {
        on_paused_time(async {
            let replies =
                vec![Ok(calls(&[echo("a", 5)])), Ok(calls(&[("hang", json!({"text": "x"}))]))];
            let class = "Made Up";
            let budget = vec![(Knob::Budget, 20.0)];
            let trial = Trial { strategy, class, tasks: 2, knobs: budget, ..trial(replies) };
            let yard = trial.start();
            yard.settle().await;
            yard.wish(set(text));
            yard.wish(Command::Run);
            let found = stopped(&yard).await;
            assert!(found.ends_with(place), "{text}: {found}");
            assert_eq!(known(&yard, 1).stops, 1, "{text}");
            yard.wish(Command::DeleteBreakpoint { breakpoint: BreakpointId(1) });
            yard.wish(Command::Run);
            done(&yard, 2).await;
        });
    }
}

#[test]
fn what_goes_wrong_is_told_apart() {
    let broken = |kind, text: &str| Err(ModelError::new(kind, text));
    for (text, reply, place) in [
        ("error:schema", Ok(calls(&[("echo", json!({"ms": 1}))])), "after a tool call"),
        ("error:refused", Ok(calls(&[("nothing", json!({}))])), "after a tool call"),
        ("error:rate-limit", broken(ModelErrorKind::RateLimited, "429"), "after a model call"),
        ("error:model-error", broken(ModelErrorKind::Endpoint, "500"), "after a model call"),
        ("error:first-failure", broken(ModelErrorKind::Endpoint, "500"), "after a model call"),
        ("error:cut-answer", broken(ModelErrorKind::TooLong, "cut"), "after a model call"),
        (
            "error:loop",
            Ok(calls(&[echo("a", 1), echo("a", 1), echo("b", 1), echo("a", 1)])),
            "before a tool call",
        ),
    ] {
        on_paused_time(async {
            let yard = trial(vec![reply.clone()]).start();
            yard.settle().await;
            yard.wish(set(text));
            yard.wish(Command::Run);
            assert_eq!(stopped(&yard).await, format!("{text} {place}"));
        });
    }
    on_paused_time(async {
        let replies = vec![Ok(calls(&[echo("a", 1)]))];
        let yard = Trial { faults: vec!["echo:error"], ..trial(replies) }.start();
        yard.settle().await;
        yard.wish(set("error:injected"));
        yard.wish(set("error:tool-error:if=error.contains(\"503\")"));
        yard.wish(Command::Run);
        stopped(&yard).await;
        assert_eq!((known(&yard, 1).stops, known(&yard, 2).stops), (1, 1));
    });
    on_paused_time(async {
        let yard = Trial { strategy: "rewoo", ..trial(vec![Ok(say("no plan"))]) }.start();
        yard.settle().await;
        yard.wish(set("error:unparsable"));
        yard.wish(Command::Run);
        assert_eq!(stopped(&yard).await, "error:unparsable between calls");
    });
}

#[test]
fn hits_are_counted_and_a_breakpoint_can_hold_once() {
    on_paused_time(async {
        let four = [echo("1", 1), echo("2", 1), echo("3", 1), echo("4", 1)];
        let one = vec![(Knob::Concurrency, 1.0)];
        let yard = Trial { knobs: one, ..trial(vec![Ok(calls(&four))]) }.start();
        yard.settle().await;
        yard.wish(set("echo:hits=%2"));
        yard.wish(set("echo:after:once"));
        yard.wish(set("echo:log=call {args.text} of {args.missing}"));
        yard.wish(Command::Run);
        // The other calls come to their breakpoints while the agent pauses at the first one.
        stopped(&yard).await;
        yard.wish(Command::Run);
        done(&yard, 1).await;
        assert_eq!((known(&yard, 1).hits, known(&yard, 1).stops), (4, 2));
        assert_eq!((known(&yard, 2).on, known(&yard, 2).stops), (false, 1));
        assert_eq!((known(&yard, 3).hits, known(&yard, 3).stops), (4, 0), "it only logs");
        let records = yard.records.borrow();
        let logged: Vec<String> = records
            .iter()
            .filter_map(|record| match &record.event {
                Event::Breakpoint(BreakpointEvent::BreakpointHit { text, .. }) => {
                    Some(text.clone()).filter(|text| !text.is_empty())
                }
                _ => None,
            })
            .collect();
        assert_eq!(logged.len(), 4);
        assert_eq!(logged[0], "call 1 of (the key missing does not exist)");
    });
}

#[test]
fn one_call_is_held_while_the_others_run() {
    on_paused_time(async {
        let two = [echo("a", 5), echo("b", 5)];
        let yard = trial(vec![Ok(calls(&two))]).start();
        yard.settle().await;
        yard.wish(set("echo:alone:if=args.text == \"a\""));
        yard.wish(Command::Run);
        yard.until("the other call is done", |state| {
            state.tool_calls.len() == 2 && state.tool_calls[1].is_over()
        })
        .await;
        yard.settle().await;
        assert_eq!((yard.mode(), yard.held()), (Mode::Running, vec!["before a tool call"]));
        let lane = Lane::Effect(yard.state.borrow().tool_calls[0].id);
        yard.wish(Command::ResumeLane(lane));
        done(&yard, 1).await;
        assert_eq!(known(&yard, 1).stops, 1);
    });
}

#[test]
fn the_agent_runs_to_a_place_once() {
    on_paused_time(async {
        let replies = vec![Ok(calls(&[echo("a", 1)])), Ok(calls(&[echo("b", 1)]))];
        let yard = Trial { tasks: 2, ..trial(replies) }.start();
        yard.settle().await;
        for (to, place) in [
            ("tools", "before a tool call"),
            ("models", "before a model call"),
            ("value:string(task) + \"/\" + string(step)", "between calls"),
            ("task", "before a task"),
        ] {
            yard.wish(run_to(to));
            yard.settle().await;
            assert_eq!(stopped(&yard).await, format!("{to} {place}"));
            assert!(yard.state.borrow().breakpoints.is_empty(), "{to} is gone");
        }
        yard.wish(Command::Run);
        done(&yard, 2).await;
        // The numbers go on, and a run to a place is nothing to undo.
        yard.wish(set("echo"));
        yard.settle().await;
        assert!(yard.state.borrow().breakpoints.contains_key(&BreakpointId(5)));
        yard.wish(Command::Undo);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(yard.refusals(), ["nothing to undo"]);
    });
}

#[test]
fn breakpoints_are_changed_switched_deleted_and_all_of_it_is_undone() {
    on_paused_time(async {
        let yard = trial(vec![]).start();
        yard.settle().await;
        let id = BreakpointId(1);
        let written = |yard: &Yard| {
            let state = yard.state.borrow();
            let all = state.breakpoints.values();
            all.map(|known| format!("{} {}", known.spec, known.on)).collect::<Vec<_>>()
        };
        yard.wish(set("echo"));
        let spec: BreakpointSpec = "echo:after".parse().unwrap();
        yard.wish(Command::SetBreakpoint { breakpoint: Some(id), spec: Box::new(spec), on: true });
        yard.wish(Command::SwitchBreakpoint { breakpoint: id, on: false });
        yard.settle().await;
        assert_eq!(written(&yard), ["echo:after false"]);
        yard.wish(Command::DeleteBreakpoint { breakpoint: id });
        yard.settle().await;
        assert_eq!(written(&yard), [""; 0]);
        let mut seen = Vec::new();
        for _ in 0..4 {
            yard.wish(Command::Undo);
            yard.settle().await;
            seen.push(written(&yard).join(""));
        }
        assert_eq!(seen, ["echo:after false", "echo:after true", "echo true", ""]);
        for wish in [set("nothing"), set("edge:start->ech"), set("model:scrip")] {
            yard.wish(wish);
        }
        yard.wish(Command::SwitchBreakpoint { breakpoint: BreakpointId(9), on: true });
        yard.settle().await;
        let refusals = yard.refusals();
        assert_eq!(refusals.len(), 4);
        assert!(refusals[1].contains("did you mean `echo`?"), "{refusals:?}");
        assert_eq!(refusals[3], "there is no breakpoint 9");
    });
}

#[test]
fn without_a_person_hits_are_counted_and_nothing_stops() {
    on_paused_time(async {
        let replies = vec![Ok(calls(&[echo("a", 1)]))];
        let yard = Trial { paused: true, replies, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(set("any"));
        yard.wish(run_to("tools"));
        yard.wish(Command::Run);
        let refusals = yard.records.clone();
        let state = yard.session.await.unwrap();
        let known = &state.breakpoints[&BreakpointId(1)];
        assert!(known.hits > 2 && known.stops == 0, "{known:?}");
        assert_eq!(state.tasks_done, 1);
        let kinds = refusals.borrow();
        assert!(kinds.iter().any(|record| record.event.kind() == "CommandRefused"));
    });
}

#[test]
fn a_condition_may_ask_for_the_value_of_a_knob() {
    on_paused_time(async {
        let yard = trial(vec![Ok(calls(&[echo("a", 1)])), Ok(calls(&[echo("b", 1)]))]).start();
        yard.settle().await;
        yard.wish(Command::TurnKnob { knob: Knob::Beta, value: 0.25 });
        yard.wish(set("echo:if=knob[\"beta\"] > 0.5"));
        yard.wish(set("echo:if=knob[\"beta\"] == 0.25 && args.text == \"b\""));
        yard.wish(Command::Run);
        stopped(&yard).await;
        assert_eq!((known(&yard, 1).stops, known(&yard, 2).stops), (0, 1));
        assert_eq!(arguments(&yard.state.borrow()), ["a", "b"]);
    });
}
