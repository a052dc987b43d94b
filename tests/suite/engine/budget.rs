//! Tasks that are held to a plan: what is refused and why, when the plan is made again, and that no
//! task ever goes over its budget.

use std::rc::Rc;

use std::time::Duration;

use serde_json::{Value, json};
use toolyard::domain::{
    BudgetEvent, Command, Event, Knob, ModelError, Outcome, Rates, Refusal, Reply, Speed, State,
    ToolCallPhase,
};
use toolyard::engine::Memory;
use toolyard::store::experience::{Experience, Same, Use};

use super::yard::{Trial, calls, on_paused_time};

type Replies = Vec<Result<Reply, ModelError>>;

/// Only tools cost anything.
fn tools_only() -> Rates {
    Rates { credits_per_dollar: 0.0.into(), ..Rates::default() }
}

fn call(tool: &str, text: &str) -> Result<Reply, ModelError> {
    Ok(calls(&[(tool, json!({ "text": text }))]))
}

/// `echo` and `other`, two credits each, with plenty of experience of both.
fn plan(replies: Replies, budget: f64) -> Trial {
    let mut store = Experience::private().unwrap();
    let uses: Vec<Use> = (0..6)
        .flat_map(|n| [("echo", n), ("echo", n), ("other", n)])
        .map(|(tool, n)| Use {
            query: format!("Say hello to guest {n}."),
            tool: tool.into(),
            parameters: Value::Null,
            result: "hello".into(),
            helpful: true,
            at: jiff::Timestamp::UNIX_EPOCH,
            source: "test".into(),
        })
        .collect();
    store.add_all(&uses).unwrap();
    Trial {
        replies,
        strategy: "react+btp",
        names: &["echo", "other"],
        knobs: vec![(Knob::Budget, budget), (Knob::Spread, 0.0)],
        rates: tools_only(),
        memory: Some(Memory {
            store: store.into(),
            is_kept: true,
            same: Same::Counts,
            embedder: None,
        }),
        ..Trial::default()
    }
}

fn left(state: &State, tool: &str) -> Option<u32> {
    state.tasks[0].budget.left(tool)
}

#[test]
fn a_plan_is_kept_to_and_what_it_does_not_have_is_refused_free_of_charge() {
    on_paused_time(async {
        let replies = ["1", "2", "3"].map(|text| call("echo", text));
        let state = plan(replies.into(), 6.0).start().session.await.unwrap();
        let task = &state.tasks[0];
        let first = task.budget.first.as_ref().unwrap();
        assert_eq!((first.cost, first.uses()), (6.0.into(), 3), "{first:?}");
        assert_eq!(first.tool("echo").unwrap().uses, 2, "as often as it was used before");
        assert_eq!(task.budget.spent.tools, 4.0);
        let refused: Vec<_> = state
            .tool_calls
            .iter()
            .filter_map(|call| match &call.phase {
                ToolCallPhase::Refused { reason, .. } => Some(*reason),
                _ => None,
            })
            .collect();
        assert_eq!(refused, [Refusal::NoUseLeft]);
        assert_eq!(task.budget.tools["echo"].refusal, Some(Refusal::NoUseLeft));
        assert_eq!(task.outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn a_tool_that_is_used_up_leaves_the_menu_and_the_prompt_says_so() {
    on_paused_time(async {
        let replies = ["1", "2"].map(|text| call("echo", text));
        let state = plan(replies.into(), 6.0).start().session.await.unwrap();
        let menu = |step: usize| -> Vec<&str> {
            state.tasks[0].steps[step].menu.iter().map(|item| item.tool.as_str()).collect()
        };
        assert_eq!(menu(0), ["echo", "other", "end"]);
        assert_eq!(menu(2), ["other", "end"]);
        let told = state.model_calls[2].request.messages.last().unwrap().text();
        assert!(told.contains("Do not use echo: the budget has no further use"), "{told}");
    });
}

#[test]
fn with_nothing_left_to_use_what_was_found_is_summed_up() {
    on_paused_time(async {
        let state = plan(vec![call("echo", "1")], 2.0).start().session.await.unwrap();
        let task = &state.tasks[0];
        assert!(task.budget.closing);
        assert_eq!(task.outcome(), Some(Outcome::Answered), "the closing ask finishes");
        assert_eq!(task.steps.len(), 1, "the summary is no step");
        assert_eq!(state.model_calls.len(), 2);
    });
}

#[test]
fn knobs_that_matter_plan_anew_at_once() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![call("echo", "1")], 6.0) }.start();
        yard.settle().await;
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        yard.settle().await;
        assert_eq!(left(&yard.state.borrow(), "echo"), Some(2));
        yard.wish(Command::TurnKnob { knob: Knob::Budget, value: 2.0 });
        yard.settle().await;
        assert_eq!(left(&yard.state.borrow(), "other"), Some(0));
        let cost = |state: &State| state.tasks[0].budget.plan.as_ref().unwrap().cost;
        assert_eq!(cost(&yard.state.borrow()), 2.0);
        yard.wish(Command::TurnKnob { knob: Knob::Tau, value: 1.0 });
        yard.settle().await;
        assert_eq!(cost(&yard.state.borrow()), 0.0, "nothing is worth so much");
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(cost(&yard.state.borrow()), 2.0);
        assert_eq!(
            yard.planned(),
            ["planned", "budget 6.00 → 2.00", "tau 0.15 → 1.00", "tau 1.00 → 0.15"]
        );
        let budget = yard.state.borrow().tasks[0].budget.clone();
        assert_eq!(budget.before.unwrap().cost, 0.0, "what was before can be shown beside it");
        yard.wish(Command::Run);
        let state = yard.session.await.unwrap();
        assert!(state.tasks[0].credits() <= 2.0);
    });
}

#[test]
fn a_new_plan_has_what_the_calls_so_far_have_left() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![call("echo", "1")], 6.0) }.start();
        yard.settle().await;
        let spent = |state: &State| state.tasks[0].credits();
        for _ in 0..20 {
            if spent(&yard.state.borrow()) > 0.0 {
                break;
            }
            yard.wish(Command::Step);
            yard.settle().await;
        }
        assert_eq!(spent(&yard.state.borrow()), 2.0);
        yard.wish(Command::TurnKnob { knob: Knob::Budget, value: 4.0 });
        yard.settle().await;
        let cost = yard.state.borrow().tasks[0].budget.plan.as_ref().unwrap().cost;
        assert_eq!(cost, 2.0, "2 of 4 credits are left");
    });
}

#[test]
fn what_is_wished_before_the_last_answer_came_adds_up() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![], 6.0) }.start();
        yard.settle().await;
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        let knob = Knob::Budget;
        for _ in 0..8 {
            yard.wish(Command::TurnKnobBy { knob, steps: 1 });
            yard.wish(Command::AddUses { tool: "other".into(), by: 1 });
            yard.wish(Command::AddScore { tool: "other".into(), by: -0.5 });
        }
        yard.settle().await;
        {
            let state = yard.state.borrow();
            assert_eq!(state.knobs.get(knob), 14.0);
            // The first plan had one use of it.
            assert_eq!(state.tasks[0].budget.allowed("other"), 9);
            assert_eq!(state.learning.score(&"other".into()), -4.0);
        }
        yard.wish(Command::Undo);
        yard.wish(Command::Undo);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(
            yard.state.borrow().knobs.get(knob),
            13.0,
            "each press is taken back on its own"
        );
        assert_eq!(yard.state.borrow().learning.score(&"other".into()), -3.5);
    });
}

#[test]
fn what_is_at_its_end_goes_no_further_and_says_so() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![], 1.0) }.start();
        yard.settle().await;
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        for _ in 0..2 {
            yard.wish(Command::TurnKnobBy { knob: Knob::Budget, steps: -1 });
        }
        yard.wish(Command::AddUses { tool: "echo".into(), by: -3 });
        yard.settle().await;
        assert_eq!(yard.state.borrow().knobs.get(Knob::Budget), 0.0);
        assert_eq!(
            yard.refusals(),
            [
                "budget is at its limit: it takes a number from 0 to 1000000",
                "uses left of echo: already 0"
            ]
        );
    });
}

#[test]
fn uses_that_the_user_sets_are_planned_around_and_can_be_taken_back() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![], 6.0) }.start();
        yard.wish(Command::SetUses { tool: "echo".into(), uses: 3 });
        yard.settle().await;
        assert!(yard.refusals()[0].contains("the current task has no budget plan"));
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        yard.wish(Command::SetUses { tool: "other".into(), uses: 9 });
        yard.settle().await;
        let both = |state: &State| (left(state, "echo"), left(state, "other"));
        assert_eq!(both(&yard.state.borrow()), (Some(0), Some(3)), "as far as the money goes");
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(left(&yard.state.borrow(), "other"), Some(1));
        yard.wish(Command::SetUses { tool: "nobody".into(), uses: 1 });
        yard.settle().await;
        assert!(yard.refusals()[1].contains("there is no tool nobody"));
        yard.wish(Command::Run);
        assert!(yard.session.await.unwrap().tasks[0].credits() <= 6.0);
    });
}

#[test]
fn uses_of_a_task_that_has_ended_cannot_be_taken_back() {
    on_paused_time(async {
        let yard = Trial { paused: true, ..plan(vec![], 6.0) }.start();
        yard.settle().await;
        yard.wish(Command::TurnKnob { knob: Knob::Alpha, value: 2.0 });
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        yard.wish(Command::SetUses { tool: "other".into(), uses: 9 });
        yard.settle().await;
        let kinds = || -> Vec<String> {
            let state = yard.state.borrow();
            let changes = state.control.changes.undo.iter();
            changes.map(|change| change.event.kind().to_owned()).collect()
        };
        assert_eq!(kinds(), ["KnobTurned", "UsesSet"]);
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(kinds(), ["KnobTurned"]);
    });
}

#[test]
fn uses_are_those_left_after_what_the_agent_used_since_and_end_with_their_task() {
    on_paused_time(async {
        let replies = vec![call("echo", "1"), call("echo", "2")];
        let yard = Trial { paused: true, stay: true, ..plan(replies, 50.0) }.start();
        yard.settle().await;
        yard.wish(Command::Step);
        yard.until("planned", |state| state.in_shown().has_plan()).await;
        yard.wish(Command::SwitchTool { tool: "other".into(), on: false });
        let allowed = |state: &State| state.tasks[0].budget.allowed("echo");
        let first = allowed(&yard.state.borrow());
        let press = || Command::AddUses { tool: "echo".into(), by: 1 };
        for _ in 0..3 {
            yard.wish(press());
        }
        yard.settle().await;
        assert_eq!(allowed(&yard.state.borrow()), first + 3);
        while yard.state.borrow().tool_calls.iter().all(|call| call.started.is_none()) {
            yard.wish(Command::Step);
            yard.settle().await;
        }
        assert_eq!(allowed(&yard.state.borrow()), first + 2);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(allowed(&yard.state.borrow()), first - 1);
        yard.wish(Command::Redo);
        yard.settle().await;
        assert_eq!(allowed(&yard.state.borrow()), first + 2);
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(
            yard.state.borrow().in_shown().offered_tools().count(),
            2,
            "the change before the uses"
        );
    });
}

#[test]
fn what_did_not_help_is_banned_unless_it_helped_before() {
    let bans = |knob: f64, texts: [&'static str; 2]| {
        let mut banned = Vec::new();
        on_paused_time(async {
            let replies = texts.map(|text| call("echo", text)).into();
            let mut plan = plan(replies, 20.0);
            plan.knobs.push((Knob::Blacklist, knob));
            let state = plan.start().session.await.unwrap();
            banned = state.tasks[0].budget.blacklist.keys().cloned().collect();
        });
        banned
    };
    let (off, protected, strict) = (0.0, 1.0, 2.0);
    assert_eq!(bans(strict, ["hello", "nothing found"]), ["echo".into()]);
    assert_eq!(bans(protected, ["hello", "nothing found"]), []);
    assert_eq!(bans(protected, ["nothing found", "hello"]), ["echo".into()]);
    assert_eq!(bans(off, ["nothing found", "nothing found"]), []);
}

#[test]
fn a_failure_is_answered_with_a_new_plan() {
    on_paused_time(async {
        let mut plan = plan(vec![call("echo", "1"), call("echo", "2")], 4.0);
        plan.faults = vec!["echo:error:nth=1"];
        let yard = plan.start();
        let records = Rc::clone(&yard.records);
        let state = yard.session.await.unwrap();
        let whys: Vec<_> = records
            .borrow()
            .iter()
            .filter_map(|record| match &record.event {
                Event::Budget(BudgetEvent::BudgetPlanned { why, plan, .. }) => {
                    Some((why.clone(), plan.tool("other")?.uses))
                }
                _ => None,
            })
            .collect();
        assert_eq!(whys, [("planned".into(), 0), ("echo did not help".into(), 1)]);
        assert!(matches!(
            state.tool_calls[1].phase,
            ToolCallPhase::Refused { reason: Refusal::Blacklisted, .. }
        ));
        assert_eq!(state.tasks[0].budget.refused, 1);
    });
}

#[test]
fn a_budget_of_nothing_uses_nothing() {
    on_paused_time(async {
        for budget in [0.0, 1.0] {
            let state = plan(vec![], budget).start().session.await.unwrap();
            let task = &state.tasks[0];
            assert_eq!((task.credits(), state.tool_calls.len()), (0.0, 0));
            assert!(task.budget.closing && task.outcome() == Some(Outcome::Answered));
        }
        // Where even asking costs something, not even that is done.
        let rates = Rates::default();
        let state = Trial { rates, ..plan(vec![], 0.0) }.start().session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::OutOfBudget));
        assert_eq!(state.tasks[0].credits(), 0.0);
    });
}

#[test]
fn answers_are_bounded_by_what_is_left_to_pay_for_them() {
    on_paused_time(async {
        let rates = Rates::default();
        let state = Trial { rates, ..plan(vec![], 1.0) }.start().session.await.unwrap();
        // Two dollars a million tokens out, a hundred credits a dollar: 5,000 tokens a credit at most.
        let most = state.model_calls[0].request.max_tokens.unwrap();
        assert!((1_000..5_000).contains(&most), "{most}");
    });
}

#[test]
fn a_plain_strategy_is_measured_and_not_held() {
    on_paused_time(async {
        let replies = ["1", "2", "3"].map(|text| call("echo", text));
        let plan = Trial { strategy: "react+prompt", ..plan(replies.into(), 3.0) };
        let state = plan.start().session.await.unwrap();
        let task = &state.tasks[0];
        assert!(task.budget.plan.is_none() && task.is_over(3.0));
        let told = state.model_calls[1].request.messages.last().unwrap().text();
        assert!(told.contains("echo 2.00") && told.contains("1.00 of them are left"), "{told}");
        let measures = toolyard::report::Report::of(&state).measures;
        assert_eq!((measures.ac, measures.pr, measures.pbc), (6.0, 1.0, 0.0));
        assert_eq!((measures.rfbc, measures.rfbc_authors), (0.0, 1.0));
    });
}

#[test]
fn a_closing_model_that_calls_a_tool_is_asked_again_without_tools() {
    on_paused_time(async {
        // The third call is made when nothing may be called any more.
        let replies = ["1", "2", "3"].map(|text| call("echo", text));
        let knobs = vec![(Knob::Budget, 4.0), (Knob::Widen, 0.0), (Knob::Spread, 0.0)];
        let trial = Trial { knobs, ..plan(replies.into(), 4.0) };
        let state = trial.start().session.await.unwrap();
        assert!(state.tasks[0].budget.closing);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        let defined = |call: usize| -> Vec<&str> {
            state.model_calls[call].request.tools.iter().map(|tool| tool.name.as_str()).collect()
        };
        assert_eq!(defined(2), defined(1), "the same tools, for the prompt cache");
        assert_eq!(defined(3), ["Finish"]);
    });
}

#[test]
fn a_call_that_costs_more_than_estimated_is_answered_with_a_new_plan() {
    on_paused_time(async {
        // An estimate is made of what a call has cost so far: of its seconds nothing is known at first.
        let rates = Rates { credits_per_second: 1.0.into(), ..tools_only() };
        let slow = Ok(calls(&[("echo", json!({ "text": "hello", "ms": 3_000 }))]));
        let yard = Trial { rates, delay: Duration::ZERO, ..plan(vec![slow], 9.0) }.start();
        yard.until("it ends", |state| state.tool_calls.iter().any(|call| call.is_over())).await;
        yard.settle().await;
        let why = yard.planned();
        assert!(why.contains(&"cost exceeded the estimate".to_owned()), "{why:?}");
        let state = yard.state.borrow();
        assert_eq!((left(&state, "echo"), left(&state, "other")), (Some(0), Some(1)));
    });
}

#[test]
fn a_call_by_hand_is_made_whatever_the_budget_of_the_task() {
    on_paused_time(async {
        let trial = plan(vec![], 1.0);
        let yard = Trial { delay: Duration::from_secs(600), stay: true, ..trial }.start();
        yard.until("the agent waits for its model", |state| !state.model_calls.is_empty()).await;
        let arguments = json!({ "text": "hi" });
        yard.wish(Command::CallTool { tool: "echo".into(), arguments });
        yard.settle().await;
        let state = yard.state.borrow();
        let call = state.tool_calls.last().unwrap();
        assert!(matches!(call.phase, ToolCallPhase::Done { .. }), "{:?}", call.phase);
    });
}

#[test]
fn keys_that_come_faster_than_the_screen_follows_end_at_the_highest_speed() {
    on_paused_time(async {
        let knobs = vec![(Knob::Speed, f64::from(Speed::Four as u8))];
        let yard = Trial { paused: true, knobs, ..plan(vec![], 1.0) }.start();
        yard.settle().await;
        for _ in 0..8 {
            yard.wish(Command::TurnKnobBy { knob: Knob::Speed, steps: 1 });
        }
        yard.settle().await;
        assert_eq!(yard.state.borrow().knobs.choice::<Speed>(), Speed::Sixteen);
        assert!(yard.refusals()[0].starts_with("speed is at its limit"), "{:?}", yard.refusals());
    });
}
