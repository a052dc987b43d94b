//! Plan, work, solve: what runs beside what, what waits for what, and what reaches the solver.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use toolyard::domain::{
    By, ChangeEvent, Command, ControlEvent, EffectId, Event, Evidence, EvidenceId, Knob, Lane,
    Mode, ModelError, NullReason, Outcome, Plan, PlanStep, Rates, Reply, Role, State,
    ToolCallPhase, state::EvidenceSource,
};

use super::yard::{Trial, on_paused_time, say};

type Replies = Vec<Result<Reply, ModelError>>;

/// What the planner says, what the solver answers.
fn replies(written: &str) -> Replies {
    vec![Ok(say(written)), Ok(say("done"))]
}

fn workers(replies: Replies) -> Trial {
    Trial { replies, strategy: "workers", names: &["echo", "other", "hang"], ..Trial::default() }
}

/// `echo` with a text and a time in milliseconds.
fn line(id: u32, text: &str, ms: u64) -> String {
    format!("#E{id} = echo[{}]", json!({"text": text, "ms": ms}))
}

/// What the solver was shown.
fn solver(state: &State) -> String {
    let ask = state.model_calls.iter().find(|ask| ask.role == Role::Solver).unwrap();
    ask.request.messages.last().unwrap().text().to_owned()
}

/// Milliseconds from the start of the first call to the end of the last.
fn took(state: &State) -> u64 {
    let from = state.tool_calls.iter().filter_map(|call| call.started).min().unwrap();
    let to = state.tool_calls.iter().filter_map(|call| call.ended).max().unwrap();
    (to - from) / 1000
}

#[test]
fn what_needs_nothing_runs_at_once_and_a_chain_one_by_one() {
    on_paused_time(async {
        let four: Vec<_> = (1..=4).map(|n| line(n, "x", 300)).collect();
        let yard = workers(replies(&format!("Plan: all at once\n{}", four.join("\n")))).start();
        let most = yard.most_at_once.clone();
        let state = yard.session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!((took(&state), most.borrow().1), (300, 4));

        let chain: Vec<_> =
            (1..=4).map(|n| line(n, &format!("#E{}", n - 1).replace("#E0", "x"), 300)).collect();
        let yard = workers(replies(&format!("Plan: one by one\n{}", chain.join("\n")))).start();
        let most = yard.most_at_once.clone();
        let state = yard.session.await.unwrap();
        assert_eq!((took(&state), most.borrow().1), (1200, 1));
        let texts: Vec<_> =
            state.tool_calls.iter().map(|call| call.arguments["text"].clone()).collect();
        assert_eq!(texts, ["x", "x", "x", "x"], "results take the place of their names");
    });
}

#[test]
fn what_does_not_wait_for_a_slow_call_goes_on_without_it() {
    on_paused_time(async {
        let text = format!(
            "Plan: two ways\n{}\n{}\n{}",
            line(1, "slow", 1000),
            line(2, "quick", 100),
            line(3, "after #E2", 100)
        );
        let state = workers(replies(&text)).start().session.await.unwrap();
        let ended: Vec<_> =
            state.tool_calls.iter().map(|call| call.ended.unwrap() / 1000).collect();
        assert!(ended[2] < ended[0], "{ended:?}");
        assert_eq!(took(&state), 1000);
    });
}

#[test]
fn the_order_in_which_calls_end_changes_nothing() {
    on_paused_time(async {
        let mut orders: Vec<Vec<u64>> = vec![vec![]];
        for _ in 0..4 {
            let longer = |order: &Vec<u64>| {
                let left = [10, 20, 30, 40].into_iter().filter(|ms| !order.contains(ms));
                left.map(|ms| [order.as_slice(), &[ms]].concat()).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        assert_eq!(orders.len(), 24);
        let mut seen = Vec::new();
        for order in orders {
            let text = format!(
                "Plan: first\n{}\n{}\nPlan: second\n{}\n{}",
                line(1, "a", order[0]),
                line(2, "b", order[1]),
                line(3, "c", order[2]),
                line(4, "#E1 and #E2", order[3])
            );
            let state = workers(replies(&text)).start().session.await.unwrap();
            let shown = solver(&state);
            // The times stand in the calls, and are what differs.
            seen.push(
                shown
                    .lines()
                    .filter(|line| !line.contains("\"ms\""))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
            let last = state.tool_calls.iter().find(|call| call.evidence == Some(EvidenceId(4)));
            assert_eq!(last.unwrap().arguments["text"], "a and b");
        }
        assert!(seen.windows(2).all(|two| two[0] == two[1]), "{seen:#?}");
    });
}

#[test]
fn concurrency_is_kept_to_and_turned_while_they_run() {
    on_paused_time(async {
        let six: Vec<_> = (1..=6).map(|n| line(n, "x", 100)).collect();
        let mut plan = workers(replies(&format!("Plan: all\n{}", six.join("\n"))));
        plan.knobs.push((Knob::Concurrency, 2.0));
        let yard = plan.start();
        yard.until("two run", |state| {
            state.tool_calls.iter().filter(|call| call.phase == ToolCallPhase::Running).count() == 2
        })
        .await;
        assert_eq!(
            yard.state.borrow().tool_calls.len(),
            6,
            "all are requested, four wait for room"
        );
        yard.wish(Command::TurnKnob { knob: Knob::Concurrency, value: 4.0 });
        let most = yard.most_at_once.clone();
        let state = yard.session.await.unwrap();
        assert_eq!(most.borrow().1, 4);
        assert_eq!(took(&state), 200);
    });
}

#[test]
fn one_that_fails_or_hangs_stops_no_other_and_reaches_the_solver_as_null() {
    on_paused_time(async {
        let text = format!(
            "Plan: try\n{}\n#E2 = hang[x]\n{}\n{}",
            line(1, "good", 10),
            line(3, "Not found.", 10),
            line(4, "after #E2", 10)
        );
        let state = workers(replies(&text)).start().session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        let work = &state.tasks[0].work;
        let nulled: BTreeMap<_, _> =
            work.evidence.iter().map(|(id, found)| (id.0, found.nulled.clone())).collect();
        assert_eq!(nulled[&1], None);
        assert_eq!(nulled[&2], Some(NullReason::Failed));
        assert_eq!(nulled[&3], Some(NullReason::Pattern("not found".into())));
        assert_eq!((work.nulled(), work.saved() > 0), (3, true));
        // A tool would take the word for its input: what needs null evidence is not called.
        assert_eq!(nulled[&4], Some(NullReason::Needs(EvidenceId(2))));
        assert!(state.tool_calls.iter().all(|call| call.evidence != Some(EvidenceId(4))));
        let shown = solver(&state);
        assert!(shown.contains("good") && shown.contains("null"), "{shown}");
        // What it was called with is shown, what it found is not.
        assert_eq!(shown.matches("Not found.").count(), 1, "{shown}");
        // ReWOO, the baseline, filters nothing.
        let mut plan = workers(replies(&text));
        plan.strategy = "rewoo";
        let state = plan.start().session.await.unwrap();
        assert_eq!(solver(&state).matches("Not found.").count(), 2);
        assert_eq!(state.tasks[0].work.nulled(), 0);
    });
}

#[test]
fn a_model_does_with_the_evidence_that_is_left_but_not_with_none() {
    on_paused_time(async {
        let text = format!(
            "Plan: try\n{}\n#E2 = hang[x]\n#E3 = LLM[#E1 or #E2?]\n#E4 = LLM[#E2?]\n#E5 = echo[#E4]",
            line(1, "good", 10),
        );
        let replies = vec![Ok(say(&text)), Ok(say("word")), Ok(say("done"))];
        let state = workers(replies).start().session.await.unwrap();
        let work = &state.tasks[0].work;
        assert_eq!(state.evidence_text(work, EvidenceId(3)), Some("word"));
        let needs = |id: u32, on: u32| {
            assert_eq!(
                work.evidence[&EvidenceId(id)].nulled,
                Some(NullReason::Needs(EvidenceId(on)))
            );
        };
        needs(4, 2);
        needs(5, 4);
        assert_eq!(state.tool_calls.len(), 2);
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    });
}

#[test]
fn what_a_model_does_not_know_is_null_and_what_it_says_is_not() {
    on_paused_time(async {
        for (said, text, nulled) in [
            (" a word\n", Some("a word"), None),
            (" ", None, Some(NullReason::Empty)),
            ("Unknown.", None, Some(NullReason::Pattern("unknown".into()))),
            ("unknown to me", Some("unknown to me"), None),
        ] {
            let replies =
                vec![Ok(say("Plan: ask\n#E1 = LLM[a word?]")), Ok(say(said)), Ok(say("done"))];
            let state = workers(replies).start().session.await.unwrap();
            let work = &state.tasks[0].work;
            assert_eq!(state.evidence_text(work, EvidenceId(1)), text, "{said:?}");
            assert_eq!(work.evidence[&EvidenceId(1)].nulled, nulled, "{said:?}");
        }
    });
}

#[test]
fn one_lane_is_stopped_and_freed_or_cancelled_alone() {
    on_paused_time(async {
        let text = format!(
            "Plan: all\n{}\n{}\n{}",
            line(1, "one", 1000),
            line(2, "two", 1000),
            line(3, "after #E1", 10)
        );
        let mut yard = workers(replies(&text)).start();
        yard.until("both run", |state| {
            state.tool_calls.iter().filter(|call| call.phase == ToolCallPhase::Running).count() == 2
        })
        .await;
        let first = Lane::Effect(EffectId(2));
        yard.wish(Command::PauseLane(first));
        yard.wish(Command::PauseLane(first));
        yard.wish(Command::Cancel(EffectId(3)));
        yard.until("it is held", |state| state.control.is_held(first)).await;
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert_eq!(yard.mode(), Mode::Running, "nothing else is held");
        assert_eq!(yard.state.borrow().tool_calls.len(), 2, "what needs it waits");
        assert_eq!(yard.refusals(), ["call 2 is paused already"]);
        yard.wish(Command::ResumeLane(first));
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!(state.tasks[0].work.evidence[&EvidenceId(2)].nulled, Some(NullReason::Failed));
        assert_eq!(state.tool_calls[2].arguments["text"], "after one");
        let by_user = |event: &Event| {
            matches!(
                event,
                Event::Control(ControlEvent::LanePaused { by: By::User, .. })
                    | Event::Control(ControlEvent::LaneResumed { by: By::User, .. })
            )
        };
        assert_eq!(yard.records.borrow().iter().filter(|record| by_user(&record.event)).count(), 2);
    });
}

#[test]
fn a_model_is_a_worker_too_and_a_pause_waits_for_it() {
    on_paused_time(async {
        let text = format!(
            "Plan: ask\n#E1 = LLM[Say a word.]\n{}\n{}",
            line(2, "x", 500),
            line(3, "#E1!", 10)
        );
        let replies = vec![Ok(say(&text)), Ok(say("word")), Ok(say("done"))];
        let mut plan = workers(replies);
        plan.delay = std::time::Duration::from_millis(200);
        let mut yard = plan.start();
        yard.until("the model and a call work", |state| {
            state
                .model_calls_in_flight()
                .any(|ask| ask.role == Role::Actor && ask.started.is_some())
                && state.tool_calls_in_flight().any(|call| call.started.is_some())
        })
        .await;
        yard.wish(Command::Pause);
        yard.until("it is pausing", |state| state.control.mode == Mode::Pausing).await;
        yard.until("it is paused", |state| state.control.mode == Mode::Paused).await;
        let held = yard.held();
        assert!(
            held.contains(&"after a model call") && held.contains(&"after a tool call"),
            "{held:?}"
        );
        yard.wish(Command::Run);
        let state = (&mut yard.session).await.unwrap();
        let work = &state.tasks[0].work;
        assert!(matches!(work.evidence[&EvidenceId(1)].source, EvidenceSource::Model(_)));
        assert_eq!(state.evidence_text(work, EvidenceId(1)), Some("word"));
        assert_eq!(state.tool_calls.last().unwrap().arguments["text"], "word!");
        assert_eq!(*yard.state.borrow(), state, "the screen's fold is the engine's");
    });
}

#[test]
fn a_budget_offers_the_planner_what_it_pays_for_and_is_never_overspent() {
    on_paused_time(async {
        let three: Vec<_> = (1..=3).map(|n| line(n, "x", 10)).collect();
        let mut plan =
            workers(replies(&format!("Plan: all\n{}\n#E4 = other[y]", three.join("\n"))));
        plan.strategy = "workers+btp";
        plan.knobs.push((Knob::Budget, 5.0));
        plan.rates = Rates { credits_per_dollar: 0.0.into(), ..Rates::default() };
        let yard = plan.start();
        let records = yard.records.clone();
        let state = yard.session.await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::Answered));
        assert!(task.credits() <= 5.0 && task.budget.closing, "{:?}", task.budget);
        let asked = state.model_calls[0].request.messages[1].text().to_owned();
        assert!(asked.contains("(calls left: 1)"), "{asked}");
        let refused = state
            .tool_calls
            .iter()
            .filter(|call| matches!(call.phase, ToolCallPhase::Refused { .. }))
            .count();
        assert_eq!(refused, 2, "one use each: {:#?}", records.borrow().len());
        assert!(solver(&state).contains("null"));
    });
}

#[test]
fn a_solver_that_is_switched_while_workers_run_is_asked_next() {
    on_paused_time(async {
        let text = format!("Plan: wait\n{}", line(1, "x", 1000));
        let mut plan = workers(vec![Ok(say(&text))]);
        plan.second = vec![Ok(say("done"))];
        let mut yard = plan.start();
        yard.until("a call runs", |state| state.tool_calls_in_flight().next().is_some()).await;
        yard.wish(Command::BindRole { role: Role::Solver, model: "second".into() });
        let state = (&mut yard.session).await.unwrap();
        let asked: Vec<_> =
            state.model_calls.iter().map(|ask| (ask.role, ask.model.as_str())).collect();
        assert_eq!(asked, [(Role::Planner, "script"), (Role::Solver, "second")]);
        assert_eq!(state.tasks[0].correct, Some(true));
        let records = yard.records.borrow();
        let bound = records.iter().find_map(|record| match &record.event {
            Event::Change(ChangeEvent::RoleBound { role: Role::Solver, model, was, by }) => {
                Some((record.at / 1000, model.to_string(), was.to_string(), *by))
            }
            _ => None,
        });
        let (at, model, was, by) = bound.unwrap();
        assert_eq!((model.as_str(), was.as_str(), by), ("second", "script", By::User));
        assert!((1..1000).contains(&at), "it says when: {at} ms");
    });
}

#[test]
fn a_model_that_can_be_held_to_a_schema_plans_in_json() {
    on_paused_time(async {
        let json = r#"{"plans": [{"text": "say it", "evidence":
            [{"id": "E1", "tool": "echo", "input": "{\"text\": \"x\"}"}]}]}"#;
        let mut plan = workers(replies(json));
        plan.structured = true;
        let state = plan.start().session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(true));
        assert_eq!(state.tool_calls[0].arguments, json!({"text": "x"}));
        let request = &state.model_calls[0].request;
        let tools = &request.schema.as_ref().unwrap()["properties"]["plans"]["items"]["properties"]
            ["evidence"]["items"]["properties"]["tool"]["enum"];
        assert_eq!(*tools, json!(["echo", "other", "hang", "LLM"]));
        assert!(request.messages[0].text().contains("as JSON"));
        assert!(state.model_calls[1].request.schema.is_none(), "the solver writes text");
    });
}

/// A plan of any shape: plans with any number of calls that name any earlier ones.
fn shape() -> impl Strategy<Value = Plan> {
    let evidence = (any::<prop::sample::Index>(), 0..40_u64, any::<bool>());
    let plan = prop::collection::vec(evidence, 0..4);
    prop::collection::vec(plan, 1..5)
        .prop_map(|steps| {
            let mut next = 0;
            let steps = steps.into_iter().enumerate().map(|(i, evidence)| {
                let evidence = evidence.into_iter().map(|(needs, ms, needs_any)| {
                    next += 1;
                    let id = EvidenceId(next);
                    let before = u32::try_from(needs.index(next as usize)).unwrap();
                    let needed = if needs_any && before > 0 {
                        format!(" #E{before}")
                    } else {
                        String::new()
                    };
                    let text = format!("result of {next}.{needed}");
                    let input = json!({"text": text, "ms": ms}).to_string();
                    Evidence { id, tool: "echo".into(), input }
                });
                PlanStep { text: format!("plan number {i}"), evidence: evidence.collect() }
            });
            Plan { steps: steps.collect() }
        })
        .prop_filter("a plan without calls is asked for again", |plan: &Plan| {
            plan.evidence().next().is_some()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_evidence_reaches_the_solver_under_its_own_plan(written in shape()) {
        on_paused_time(async {
            let state = workers(replies(&written.to_string())).start().session.await.unwrap();
            assert_eq!(state.tasks[0].correct, Some(true));
            assert_eq!(state.tasks[0].work.plan.as_deref(), Some(&written));
            let shown = solver(&state);
            let mut parts = shown.split("Plan: plan number ").skip(1);
            for plan in &written.steps {
                let part = parts.next().unwrap();
                for evidence in written.evidence() {
                    let own = plan.evidence.contains(evidence);
                    // A result is a line of its own, below its call.
                    let result = format!("result of {}.", evidence.id.0);
                    let found = part.lines().filter(|line| line.trim_start().starts_with(&result)).count();
                    assert_eq!(found, usize::from(own), "{} in {part}", evidence.id);
                }
            }
        });
    }
}
