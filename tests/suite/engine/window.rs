//! A session whose requests outgrow the context window of its model.

use serde_json::json;
use toolyard::domain::{Knob, Request, Role, State, ToolMode, tokens};

use super::yard::{Trial, calls, on_paused_time, say};

/// Six results of some 300 tokens each.
fn trial(mode: ToolMode, context: Option<u64>) -> Trial {
    let text = |n: usize| format!("{n} {}", "one two three ".repeat(100));
    let reply = |n: usize| match mode {
        ToolMode::Native => Ok(calls(&[("echo", json!({ "text": text(n) }))])),
        ToolMode::Text => {
            let input = json!({ "text": text(n) });
            Ok(say(&format!("Thought: I call.\nAction: echo\nAction Input: {input}")))
        }
    };
    let (names, tools, strategy) = (&["echo"][..], mode, "react");
    let replies = (0..6).map(reply).collect();
    Trial { replies, strategy, names, tools, context, ..Trial::default() }
}

async fn run(trial: Trial) -> State {
    trial.start().session.await.unwrap()
}

fn requests(state: &State) -> Vec<&Request> {
    state
        .model_calls
        .iter()
        .map(|call| &*call.request)
        .filter(|it| it.role == Role::Actor)
        .collect()
}

#[test]
fn a_request_fits_the_window_and_says_what_is_left_out() {
    on_paused_time(async {
        for mode in [ToolMode::Native, ToolMode::Text] {
            let state = run(trial(mode, Some(2500))).await;
            let asked = requests(&state);
            assert_eq!(asked[0].left_out, None);
            let last = asked[asked.len() - 1];
            let left_out = last.left_out.unwrap_or_else(|| panic!("{mode:?}: it does not fit"));
            assert!(left_out.steps > 0, "{left_out:?}");
            let texts: Vec<_> = last.messages.iter().map(|message| message.text()).collect();
            let said = texts.concat();
            assert!(said.contains(" left out to fit the context window.]"), "{said}");
            assert!(said.contains("Task: Say hello."), "{said}");
            for request in &asked {
                let tokens = tokens::count_request(request);
                assert!(tokens <= 2500 - 2500 / 8, "{mode:?}: {tokens}");
            }
            let json = serde_json::to_value(last).unwrap();
            assert_eq!(json["left_out"]["steps"], left_out.steps, "{json}");
        }
    });
}

#[test]
fn without_a_known_window_nothing_is_left_out() {
    on_paused_time(async {
        let known = run(trial(ToolMode::Native, Some(100_000))).await;
        let unknown = run(trial(ToolMode::Native, None)).await;
        assert_eq!(requests(&known), requests(&unknown));
        assert!(requests(&known).iter().all(|request| request.left_out.is_none()));
    });
}

#[test]
fn one_result_takes_a_part_of_a_small_window() {
    on_paused_time(async {
        let knobs = vec![(Knob::ResultMax, 32_000.0)];
        let mut trial = Trial { knobs, ..trial(ToolMode::Native, Some(1000)) };
        trial.replies.truncate(1);
        let state = run(trial).await;
        let text = super::yard::observed(requests(&state)[1]);
        assert!(text.contains("Call more with {\"result\": 1, \"from\": 1000}"), "{text}");
    });
}

#[test]
fn results_that_come_together_share_the_window() {
    on_paused_time(async {
        let evidence = |n: usize| format!("Plan: ask.\n#E{n} = echo[{}]", "x".repeat(900));
        let plan = (1..=6).map(evidence).collect::<Vec<_>>().join("\n");
        let cases = [("rewoo", Role::Solver), ("toolnet", Role::Evaluator)];
        for (strategy, role) in cases {
            let mut trial = Trial { strategy, ..trial(ToolMode::Native, Some(1500)) };
            if role == Role::Solver {
                trial.replies = vec![Ok(say(&plan)), Ok(say("done"))];
            }
            let state = run(trial).await;
            let asked = state.model_calls.iter().find(|call| call.role == role).unwrap();
            let text = asked.request.messages[1].text();
            assert_eq!(text.matches("characters left out.]").count(), 6, "{role}: {text}");
        }
    });
}
