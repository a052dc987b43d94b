//! Budgets where seconds cost credits, and what asks cost that broke off.

use std::time::Duration;

use serde_json::json;
use toolyard::domain::{
    Knob, ModelCallPhase, ModelError, ModelErrorKind, Outcome, Rates, Reply, Role, Sampling, State,
    ToolCallPhase, ToolErrorKind,
};

use super::yard::{Trial, calls, on_paused_time};

/// Only seconds cost anything besides the tools, two credits a call.
fn seconds(per_second: f64) -> Rates {
    Rates {
        credits_per_dollar: 0.0.into(),
        credits_per_second: per_second.into(),
        ..Rates::default()
    }
}

fn echo(times: usize, ms: u64) -> Result<Reply, ModelError> {
    let call = ("echo", json!({ "text": "hello", "ms": ms }));
    Ok(calls(&vec![call; times]))
}

fn plan(replies: Vec<Result<Reply, ModelError>>, budget: f64, rates: Rates) -> Trial {
    let knobs = vec![(Knob::Budget, budget), (Knob::Candidates, 1.0)];
    Trial { replies, strategy: "react+btp", names: &["echo"], knobs, rates, ..Trial::default() }
}

fn failures(state: &State) -> Vec<(ToolErrorKind, String)> {
    let failed = state.tool_calls.iter().filter_map(|call| match &call.phase {
        ToolCallPhase::Failed { error } => Some((error.kind, error.text.clone())),
        _ => None,
    });
    failed.collect()
}

#[test]
fn a_call_ends_before_its_time_breaks_the_budget_and_the_task_is_summed_up() {
    on_paused_time(async {
        let state = plan(vec![echo(1, 9_000)], 6.0, seconds(1.0)).start().session.await.unwrap();
        let task = &state.tasks[0];
        let [(kind, text)] = &failures(&state)[..] else { panic!("{:?}", state.tool_calls) };
        assert_eq!(*kind, ToolErrorKind::OverBudget);
        assert!(text.starts_with("time budget exceeded: echo did not answer within 39"), "{text}");
        assert!(task.credits() <= 6.0 && task.credits() > 5.9, "{}", task.credits());
        assert_eq!(task.outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn calls_at_once_share_the_time_that_is_left() {
    on_paused_time(async {
        for (ms, failed) in [(9_000, 1), (1_000, 0)] {
            let mut plan = plan(vec![echo(2, ms)], 10.0, seconds(1.0));
            // Nobody has used it, so the plan has one use of it: the user says otherwise.
            plan.paused = true;
            let yard = plan.start();
            yard.settle().await;
            yard.wish(toolyard::domain::command::Command::Step);
            yard.until("planned", |state| state.in_shown().has_plan()).await;
            let (tool, uses) = ("echo".into(), 2);
            yard.wish(toolyard::domain::command::Command::SetUses { tool, uses });
            yard.wish(toolyard::domain::command::Command::Run);
            let state = yard.session.await.unwrap();
            let over = failures(&state);
            assert_eq!(over.len(), 2 * failed, "{over:?}");
            let spent = state.tasks[0].credits();
            assert!(spent <= 10.0 && (spent > 9.8 || failed == 0), "{spent}");
        }
    });
}

#[test]
fn an_ask_ends_before_its_time_breaks_the_budget() {
    on_paused_time(async {
        for budget in [0.1, 1.0, 5.0] {
            let mut plan = plan(vec![], budget, seconds(1.0));
            plan.delay = Duration::from_secs(10);
            let state = plan.start().session.await.unwrap();
            let ModelCallPhase::Failed { error } = &state.model_calls[0].phase else {
                panic!("{budget}")
            };
            assert_eq!(error.kind, ModelErrorKind::OverBudget);
            assert!(error.text.starts_with("time budget exceeded"), "{}", error.text);
            assert_eq!(state.tasks[0].outcome(), Some(Outcome::OutOfBudget));
            assert!(state.tasks[0].credits() <= budget, "{}", state.tasks[0].credits());
        }
    });
}

#[test]
fn an_ask_ends_while_its_longest_answer_can_still_be_paid() {
    on_paused_time(async {
        let rates = Rates { credits_per_dollar: 1_000.0.into(), ..seconds(1.0) };
        let mut plan = plan(vec![], 20.0, rates);
        // Eight credits.
        let sampling = Sampling { max_tokens: Some(4_000), ..Sampling::default() };
        plan.sampling = [(Role::Actor, sampling)].into();
        plan.delay = Duration::from_secs(100);
        let state = plan.start().session.await.unwrap();
        let call = &state.model_calls[0];
        assert_eq!(call.request.max_tokens, Some(4_000));
        let ModelCallPhase::Failed { error } = &call.phase else { panic!("{call:?}") };
        assert_eq!(error.kind, ModelErrorKind::OverBudget);
        let seconds = (call.ended.unwrap() - call.started.unwrap()) as f64 / 1e6;
        assert!(seconds > 5.0 && seconds + 8.0 <= 20.0, "{seconds}");
    });
}

#[test]
fn where_seconds_are_free_nothing_ends_early() {
    on_paused_time(async {
        let mut plan = plan(vec![echo(1, 9_000)], 6.0, seconds(0.0));
        plan.delay = Duration::from_secs(1_000);
        let state = plan.start().session.await.unwrap();
        assert_eq!((failures(&state), state.tasks[0].credits()), (vec![], 2.0));
    });
}

#[test]
fn an_answer_that_broke_off_is_counted_by_what_had_come_of_it() {
    let broken = |partial: &str| {
        let mut error = ModelError::new(ModelErrorKind::Connection, "the stream broke");
        partial.clone_into(&mut error.partial);
        Err(error)
    };
    on_paused_time(async {
        let replies = vec![broken("Let me think about that for a while")];
        let state = plan(replies, 5_000.0, Rates::default()).start().session.await.unwrap();
        let calls: Vec<_> = state.model_calls.iter().collect();
        let [first, again] = calls[..] else { panic!("{calls:?}") };
        let used = first.usage().unwrap();
        assert!(used.estimated && used.tokens_out == 8 && used.tokens_in > 20, "{used:?}");
        let dollars = (used.tokens_in as f64 + 2.0 * used.tokens_out as f64) / 1e6;
        assert_eq!(first.dollars, Some(dollars.into()));
        let task = &state.tasks[0];
        let all = 100.0 * (dollars + again.dollars.unwrap());
        assert!((task.budget.spent.models - all).abs() < 1e-9, "{}", task.budget.spent.models);
        assert_eq!(task.tokens_in, used.tokens_in + again.usage().unwrap().tokens_in);
        let tally = &state.models.of(toolyard::domain::chat::Role::Actor).unwrap().tally;
        assert!(tally.estimated && (tally.credits - all).abs() < 1e-9);
    });
}
