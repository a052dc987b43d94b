//! What is made to go wrong, and how it looks.

use serde_json::json;
use toolyard::domain::id::FaultId;

use super::yard::{Trial, calls, on_paused_time};

#[test]
fn a_fault_looks_real_to_the_agent_and_is_marked() {
    on_paused_time(async {
        let replies = vec![
            Ok(calls(&[("echo", json!({"text": "a"}))])),
            Ok(calls(&[("echo", json!({"text": "b"}))])),
        ];
        let faults = vec!["echo:error:nth=1"];
        let state = Trial { replies, faults, ..Trial::default() }.start().session.await.unwrap();
        assert_eq!(state.calls[0].injected, Some(FaultId(1)));
        assert_eq!(state.calls[1].injected, None);
        assert_eq!(state.faults[&FaultId(1)].fired, 1);
        let told = state.asks[1].request.messages.last().unwrap().text().to_owned();
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
            let observed = state.calls[0].observation().unwrap().to_owned();
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
        let injected: Vec<_> = state.calls.iter().map(|call| call.injected).collect();
        assert_eq!(injected, [None, Some(FaultId(1))]);
        let counts =
            |fault| (state.faults[&FaultId(fault)].seen, state.faults[&FaultId(fault)].fired);
        assert_eq!((counts(1), counts(2)), ((2, 1), (0, 0)));
    });
}
