//! What is made to go wrong, and how it looks.

use serde_json::json;
use toolyard::domain::{
    FaultId, Judge, Knob, ModelCallPhase, ModelErrorKind, Origin, Outcome, Refusal, Role, State,
    ToolCallPhase,
};

use super::yard::{Trial, calls, observed, on_paused_time};

#[test]
fn a_fault_looks_real_to_the_agent_and_is_marked() {
    on_paused_time(async {
        let replies = vec![
            Ok(calls(&[("echo", json!({"text": "a"}))])),
            Ok(calls(&[("echo", json!({"text": "b"}))])),
        ];
        let faults = vec!["echo:error:nth=1"];
        let state = Trial { replies, faults, ..Trial::default() }.start().session.await.unwrap();
        assert_eq!(state.tool_calls[0].injected, Some(FaultId(1)));
        assert_eq!(state.tool_calls[1].injected, None);
        assert_eq!(state.faults[&FaultId(1)].fired, 1);
        let told = observed(&state.model_calls[1].request);
        assert_eq!(told, "Error: 503 Service Unavailable");
    });
}

#[test]
fn every_fault_kind_does_what_it_says() {
    for (fault, check) in [
        ("echo:empty", (|call: &str| call.is_empty()) as fn(&str) -> bool),
        ("echo:garbage", |call| call != "hello" && call.len() == 40),
        ("echo:timeout", |call| call == "echo did not answer within 10000 ms"),
        ("echo:latency:ms=20000", |call| call == "echo did not answer within 10000 ms"),
        ("echo:latency:ms=50", |call| call == "hello"),
        ("echo:error:text=no way", |call| call == "no way"),
        ("echo:error:from-task=2", |call| call == "hello"),
    ] {
        on_paused_time(async move {
            let faults = vec![fault];
            let state = Trial { faults, ..Trial::default() }.start().session.await.unwrap();
            let observed = state.tool_calls[0].observation().unwrap().to_owned();
            assert!(check(&observed), "{fault}: {observed}");
        });
    }
}

#[test]
fn a_fault_of_a_class_counts_the_calls_of_all_its_tools() {
    on_paused_time(async {
        let call = |tool: &str| Ok(calls(&[(tool, json!({"text": "a"}))]));
        let state = Trial {
            names: &["echo", "other"],
            replies: vec![call("echo"), call("other")],
            faults: vec!["class:test:empty:nth=2", "class:Elsewhere:empty"],
            ..Trial::default()
        };
        let state = state.start().session.await.unwrap();
        let injected: Vec<_> = state.tool_calls.iter().map(|call| call.injected).collect();
        assert_eq!(injected, [None, Some(FaultId(1))]);
        let counts =
            |fault| (state.faults[&FaultId(fault)].seen, state.faults[&FaultId(fault)].fired);
        assert_eq!((counts(1), counts(2)), ((2, 1), (0, 0)));
    });
}

/// A session whose judge is a model, with these faults.
fn judged(faults: Vec<&'static str>) -> Trial {
    let knobs = vec![(Knob::Judge, Judge::Model as u8 as f64)];
    Trial { faults, knobs, ..Trial::default() }
}

#[test]
fn a_fault_on_the_judge_is_marked_and_rules_judge_instead() {
    on_paused_time(async {
        let state = judged(vec!["role:judge:error"]).start().session.await.unwrap();
        let ask = state.model_calls.iter().find(|ask| ask.role == Role::Judge).unwrap();
        assert_eq!(ask.injected, Some(FaultId(1)));
        assert_eq!(ask.origin, Origin::Injected);
        assert_eq!(ask.parent, Some(state.tool_calls[0].id), "it is about the call");
        assert_eq!(state.tool_calls[0].helpful, Some(true));
        assert_eq!((state.faults[&FaultId(1)].seen, state.faults[&FaultId(1)].fired), (1, 1));
        assert_eq!(state.tasks[0].correct, Some(true));
    });
}

#[test]
fn faults_on_the_actor_do_what_they_say() {
    let spoiled = |fault: &'static str, check: fn(&State)| {
        on_paused_time(async move {
            let faults = vec![fault];
            let state = Trial { faults, ..Trial::default() }.start().session.await.unwrap();
            let first = &state.model_calls[0];
            assert_eq!(first.injected, Some(FaultId(1)), "{fault}");
            check(&state);
        });
    };
    spoiled("role:actor:latency:ms=3000:nth=1", |state| {
        assert_eq!(state.model_calls[0].elapsed(state.at), 3_000_000);
        assert_eq!(state.tasks[0].correct, Some(true));
    });
    spoiled("role:actor:rate-limit:retry-after=7:nth=1", |state| {
        let ModelCallPhase::Failed { error } = &state.model_calls[0].phase else { panic!() };
        assert_eq!(error.kind, ModelErrorKind::RateLimited);
        assert!(error.text.contains("429") && error.text.contains("7 s"), "{error}");
    });
    spoiled("model:script:timeout:nth=1", |state| {
        let ModelCallPhase::Failed { error } = &state.model_calls[0].phase else { panic!() };
        assert_eq!(error.kind, ModelErrorKind::Timeout);
        assert_eq!(state.model_calls[0].elapsed(state.at), 60_000_000);
    });
    spoiled("role:actor:cut-stream:nth=1", |state| {
        let ModelCallPhase::Failed { error } = &state.model_calls[0].phase else { panic!() };
        assert!(!error.partial.is_empty() && "I call.".starts_with(&error.partial));
        assert_eq!(
            state.model_calls[1].parent,
            Some(state.model_calls[0].id),
            "asked again for all to see"
        );
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
    spoiled("role:actor:broken-arguments:nth=1", |state| {
        let ToolCallPhase::Refused { reason, .. } = &state.tool_calls[0].phase else { panic!() };
        assert_eq!(*reason, Refusal::Arguments);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered), "it calls Finish then");
    });
}

#[test]
fn counting_triggers_count_requests_in_the_order_of_the_reply() {
    on_paused_time(async {
        let call = |ms: u64| ("echo", json!({"text": ms.to_string(), "ms": ms}));
        let replies = vec![Ok(calls(&[call(300), call(200), call(100)]))];
        let knobs = vec![(Knob::Concurrency, 1.0)];
        let faults = vec!["class:Test:error:nth=2"];
        let state = Trial { replies, faults, knobs, ..Trial::default() };
        let state = state.start().session.await.unwrap();
        let hit: Vec<bool> = state.tool_calls.iter().map(|call| call.injected.is_some()).collect();
        assert_eq!(hit, [false, true, false]);
        assert_eq!(state.faults[&FaultId(1)].seen, 2, "it is over after the second one");
    });
}
