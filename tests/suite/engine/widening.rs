//! Plans are made again for what an agent says that it lacks, and only for that.

use serde_json::{Value, json};
use toolyard::domain::{Knob, ModelError, Outcome, Rates, Reply, State};
use toolyard::engine::Memory;
use toolyard::store::experience::{Experience, Same, Use};

use super::yard::{Trial, calls, on_paused_time};

fn call(tool: &str, text: &str) -> Result<Reply, ModelError> {
    Ok(calls(&[(tool, json!({ "text": text }))]))
}

/// Finishes without an answer, and says this before.
fn gives_up(said: &str) -> Result<Reply, ModelError> {
    let mut reply = calls(&[("Finish", json!({"answer": "", "gave_up": true}))]);
    reply.text = said.to_owned();
    Ok(reply)
}

fn answers(text: &str) -> Result<Reply, ModelError> {
    Ok(calls(&[("Finish", json!({ "answer": text }))]))
}

/// Three tools, of which a plan begins with `echo`: it has helped with tasks like this one.
fn plan(replies: Vec<Result<Reply, ModelError>>) -> Trial {
    let mut store = Experience::private().unwrap();
    let past = |query: &str, tool: &str| Use {
        query: query.to_owned(),
        tool: tool.into(),
        parameters: Value::Null,
        result: "hello".into(),
        helpful: true,
        at: jiff::Timestamp::UNIX_EPOCH,
        source: "test".into(),
    };
    let uses: Vec<Use> = (0..6)
        .flat_map(|n| {
            [
                past(&format!("Say hello to guest {n}."), "echo"),
                past(&format!("Weigh the moon {n} times."), "scales"),
                past(&format!("Paint wall {n}."), "brush"),
            ]
        })
        .collect();
    store.add_all(&uses).unwrap();
    Trial {
        replies,
        strategy: "react+btp",
        names: &["echo", "scales", "brush"],
        knobs: vec![(Knob::Budget, 6.0), (Knob::Candidates, 1.0), (Knob::Spread, 0.0)],
        rates: Rates { credits_per_dollar: 0.0.into(), ..Rates::default() },
        memory: Some(Memory {
            store: store.into(),
            is_kept: true,
            same: Same::Counts,
            embedder: None,
        }),
        ..Trial::default()
    }
}

fn menu(state: &State, step: usize) -> Vec<&str> {
    state.tasks[0].steps[step].menu.iter().map(|item| item.tool.as_str()).collect()
}

#[test]
fn what_an_agent_says_that_it_lacks_is_planned_in() {
    on_paused_time(async {
        let said = "None of these helps. I need scales.";
        let replies = vec![call("echo", "1"), gives_up(said), call("scales", "2"), answers("2")];
        let mut yard = plan(replies).start();
        let state = (&mut yard.session).await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::Answered));
        let first = task.budget.first.as_ref().unwrap();
        assert!(first.tool("scales").is_none(), "{first:?}");
        assert_eq!(yard.planned(), ["planned", "the agent missed a tool"]);
        assert!(menu(&state, 2).contains(&"scales"), "{:?}", menu(&state, 2));
        assert!(!menu(&state, 2).contains(&"brush"), "what is not lacked is not added");
        let now = task.budget.plan.as_ref().unwrap();
        assert_eq!(now.tool("scales").unwrap().why, "the agent said that it is missing");
        assert!(task.budget.spent.total() <= 6.0);
        let told = state.model_calls[2]
            .request
            .messages
            .iter()
            .any(|message| message.text().contains("Go on with what is offered now"));
        assert!(told, "{:?}", state.model_calls[2].request.messages);
    });
}

#[test]
fn what_was_offered_and_not_called_makes_room_for_what_is_lacked() {
    on_paused_time(async {
        let replies = vec![gives_up("I need scales."), call("scales", "1"), answers("1")];
        let mut yard = plan(replies).start();
        let state = (&mut yard.session).await.unwrap();
        let budget = &state.tasks[0].budget;
        assert_eq!(budget.first.as_ref().unwrap().tool("echo").unwrap().uses, 1);
        let declined = budget.plan.as_ref().unwrap().tool("echo").unwrap();
        let said = (declined.uses, declined.why.as_str());
        assert_eq!(said, (0, "offered, but the agent did not call it"));
        assert!(menu(&state, 0).contains(&"echo"), "{:?}", menu(&state, 0));
        assert!(!menu(&state, 1).contains(&"echo"), "{:?}", menu(&state, 1));
    });
}

#[test]
fn with_the_knob_off_giving_up_is_giving_up() {
    on_paused_time(async {
        let mut plan = plan(vec![call("echo", "1"), gives_up("I need scales.")]);
        plan.knobs.push((Knob::Widen, 0.0));
        let mut yard = plan.start();
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::GaveUp));
        assert_eq!(yard.planned(), ["planned"]);
    });
}

#[test]
fn widening_ends_when_everything_was_offered() {
    on_paused_time(async {
        let replies = (0..20).map(|_| gives_up("I need something else."));
        let mut yard = plan(replies.collect()).start();
        let state = (&mut yard.session).await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.outcome(), Some(Outcome::GaveUp));
        assert!(
            task.model_calls.len() <= 4,
            "one for each of three tools, and one more: {:?}",
            yard.planned()
        );
        assert_eq!(task.budget.spent.tools, 0.0);
    });
}

#[test]
fn what_helped_and_is_used_up_may_be_used_once_more() {
    on_paused_time(async {
        let replies = vec![
            call("echo", "1"),
            gives_up("I need echo again."),
            call("echo", "2"),
            answers("2"),
        ];
        let mut yard = plan(replies).start();
        let state = (&mut yard.session).await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.budget.first.as_ref().unwrap().tool("echo").unwrap().uses, 1);
        assert_eq!(task.budget.tools["echo"].uses, 2, "{:?}", yard.planned());
        assert_eq!(task.budget.refused, 0);
    });
}

#[test]
fn a_tool_below_tau_stays_out_however_much_it_is_missed() {
    on_paused_time(async {
        let mut plan = plan(vec![call("echo", "1"), gives_up("I need scales.")]);
        plan.knobs.push((Knob::Tau, 1.0));
        let mut yard = plan.start();
        let state = (&mut yard.session).await.unwrap();
        assert!(
            state.tool_calls.iter().all(|call| call.started.is_none()),
            "{:?}",
            state.tool_calls
        );
    });
}

#[test]
fn a_planner_says_what_it_lacks_before_it_plans() {
    on_paused_time(async {
        let text = |text: &str| Ok(super::yard::say(text));
        let replies = vec![
            text("I see.\nLacking: scales"),
            text("Plan: weigh\n#E1 = scales[x]\n#E2 = echo[y]"),
            text("done"),
        ];
        let mut plan = plan(replies);
        plan.strategy = "workers+btp";
        let mut yard = plan.start();
        let state = (&mut yard.session).await.unwrap();
        let task = &state.tasks[0];
        assert_eq!(task.correct, Some(true), "{:?}", task.work);
        assert_eq!(yard.planned(), ["planned", "the agent missed a tool"]);
        assert_eq!((menu(&state, 0), menu(&state, 1)), (vec!["echo"], vec!["echo", "scales"]));
        assert!(state.tool_calls.iter().all(|call| call.step == 2 && call.ended.is_some()));
        assert!(state.model_calls[0].request.messages[0].text().contains("Lacking:"));
        assert!(task.credits() <= 6.0);
    });
}

#[test]
fn a_planner_that_has_no_step_left_cannot_lack_a_tool() {
    on_paused_time(async {
        let text = |text: &str| Ok(super::yard::say(text));
        let replies = vec![text("Plan: greet\n#E1 = echo[y]"), text("done")];
        let mut plan = plan(replies);
        plan.strategy = "workers+btp";
        plan.knobs.push((Knob::MaxSteps, 1.0));
        let state = plan.start().session.await.unwrap();
        assert!(!state.model_calls[0].request.messages[0].text().contains("Lacking:"));
    });
}

#[test]
fn a_planner_keeps_of_its_offer_what_it_names() {
    for (kept, right) in [("echo", &["echo", "scales"][..]), ("none", &["scales"])] {
        on_paused_time(async move {
            let said = format!("Lacking: scales\nKeeping: {kept}");
            let replies = vec![Ok(super::yard::say(&said)), Ok(super::yard::say("Plan: weigh"))];
            let mut plan = plan(replies);
            plan.strategy = "workers+btp";
            let state: State = plan.start().session.await.unwrap();
            assert_eq!(menu(&state, 1), right, "{said}");
        });
    }
}

#[test]
fn a_wrong_answer_speaks_against_the_result_that_it_was_made_of() {
    on_paused_time(async {
        let replies = vec![call("echo", "1"), call("other", "2"), answers("wrong")];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("past.sqlite");
        let store = Experience::open(&file).unwrap();
        let plan = Trial {
            replies,
            strategy: "react",
            names: &["echo", "other"],
            knobs: vec![(Knob::GoldFeedback, 1.0)],
            memory: Some(Memory {
                store: store.into(),
                is_kept: true,
                same: Same::Counts,
                embedder: None,
            }),
            ..Trial::default()
        };
        let state: State = plan.start().session.await.unwrap();
        assert_eq!(state.tasks[0].correct, Some(false), "the yard's tasks have gold answers");
        let store = Experience::open(&file).unwrap();
        let mut lines = Vec::new();
        store.export(&mut lines).unwrap();
        let helpful: Vec<(String, bool)> = String::from_utf8(lines)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|past| {
                let tool = past["tool"].as_str().unwrap().to_owned();
                (tool, past["helpful"].as_bool().unwrap())
            })
            .collect();
        assert_eq!(helpful, [("echo".to_owned(), true), ("other".to_owned(), false)]);
    });
}
