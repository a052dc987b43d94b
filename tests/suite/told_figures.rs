//! Figures that a state derives from what a session did.

use serde_json::json;
use toolyard::domain::{
    By, EffectId, Evidence, EvidenceId, ModelName, Outcome, Plan, PlanEvent, PlanStep, Role,
    TaskEvent, TaskId, ToolCallEvent,
};

use crate::story::{Story, TOOLS, effect, tool};

fn story() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.queue(&[("How high is Mount Orla?", None), ("And Mount Vell?", None)]).start(1);
    story.step(1, 1, "start");
    story
}

#[test]
fn the_task_at_work_is_the_last_lap() {
    let mut story = Story::open();
    story.queue(&[("How high is Mount Orla?", None), ("And Mount Vell?", None)]);
    let laps = |story: &Story| -> Vec<TaskId> {
        story.state().laps_with_current().iter().map(|lap| lap.task).collect()
    };
    assert_eq!(laps(&story), []);
    story.task(1, &[], ("1,200 m", true), &[]);
    assert_eq!(laps(&story), [TaskId(1)]);
    story.start(2);
    assert_eq!(laps(&story), [TaskId(1), TaskId(2)]);
}

#[test]
fn a_call_stands_in_for_a_failed_one_if_they_share_a_telling_text() {
    for (text, instead_of) in [("ab", None), ("abc", Some("weather")), (" ab ", None)] {
        let mut story = story();
        story.call(1, 1, ("weather", json!({"place": text}), Err("it broke"), 10));
        story.call(1, 1, ("wikipedia", json!({"of": [text.to_uppercase()]}), Ok("x"), 10));
        let lap = story.state().lap(TaskId(1)).unwrap();
        let found = lap.tried[1].instead_of.as_ref().map(|tool| tool.as_str());
        assert_eq!(found, instead_of, "{text:?}");
    }
}

#[test]
fn a_request_repeats_the_last_one_of_its_role_in_the_task() {
    let mut story = story();
    let mut ask = |role| -> EffectId {
        let ask = story.ask(1, role);
        story.answer(ask, "hm", 10);
        ask
    };
    let asked = [ask(Role::Actor), ask(Role::Evaluator), ask(Role::Actor)];
    let repeats = asked.map(|ask| {
        let state = story.state();
        state.repeat(state.model_call(ask).unwrap())
    });
    let [first, other, second] = repeats;
    assert_eq!((first, other), (None, None));
    let second = second.unwrap();
    assert_eq!((second.tokens, second.differs), (second.of, None));
    assert!(second.of > 0);
}

#[test]
fn model_calls_are_averaged_and_those_without_a_price_are_counted() {
    let mut story = story();
    for (role, ms) in [(Role::Actor, 180), (Role::Actor, 150), (Role::Evaluator, 30)] {
        let ask = story.ask(1, role);
        story.answer(ask, "hm", ms);
    }
    let tally = |story: &Story, model: &str| {
        story.state().models.known[&ModelName::from(model)].tally.clone()
    };
    let simulated = tally(&story, "sim");
    assert_eq!(simulated.average().map(|(_, micros)| micros), Some(120_000));
    assert_eq!((simulated.calls, simulated.unpriced), (3, 0));
    assert_eq!(tally(&story, "local").average(), None);
    for _ in 0..2 {
        let ask = story.ask(1, Role::Reflector);
        story.answer(ask, "hm", 10);
    }
    assert_eq!(tally(&story, "local").unpriced, 2);
}

#[test]
fn a_piece_of_evidence_has_its_part_of_the_plan() {
    let mut story = story();
    let step = |text: &str, id: u32| PlanStep {
        text: text.into(),
        evidence: vec![Evidence { id: EvidenceId(id), tool: "weather".into(), input: "x".into() }],
    };
    let plan = Plan { steps: vec![step("look", 1), step("look again", 2)] };
    story.tell(PlanEvent::PlanWritten { task: TaskId(1), plan: plan.into() });
    let work = &story.state().task(TaskId(1)).unwrap().work;
    let texts = [2, 1, 3].map(|id| work.plan_of(EvidenceId(id)).map(|step| step.text.as_str()));
    assert_eq!(texts, [Some("look again"), Some("look"), None]);
}

#[test]
fn a_task_that_the_graph_was_learned_from_is_left_out_of_it_while_it_runs() {
    let mut story = story();
    story.load(&json!({"nodes": ["weather", "wikipedia"], "edges": [
        {"from": "start", "to": "weather", "prior": 1.0, "count": 3},
        {"from": "weather", "to": "wikipedia", "prior": 1.0, "count": 2},
        {"from": "wikipedia", "to": "end", "prior": 1.0, "count": 3}]}));
    let before = story.state().learning.graph.clone();
    let task = json!({"text": "x", "in_graph": true, "chain": [
        {"tools": ["weather"], "arguments": {}, "finds": "a"},
        {"tools": ["wikipedia"], "arguments": {}, "finds": "b"}]});
    let tasks = vec![serde_json::from_value(task).unwrap()];
    story.tell(TaskEvent::TasksQueued { first: TaskId(3), tasks, by: By::Engine });
    story.start(3);
    assert_ne!(story.state().learning.graph, before);
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(3),
        outcome: Outcome::Answered,
        answer: Some("b".into()),
        correct: None,
        caveats: Vec::new(),
    });
    story.start(2);
    assert_eq!(story.state().learning.graph, before);
}

#[test]
fn a_task_is_solved_by_an_answer_that_is_not_known_to_be_wrong() {
    for (outcome, correct, is_solved) in [
        (Outcome::Answered, Some(true), true),
        (Outcome::Answered, None, true),
        (Outcome::Answered, Some(false), false),
        (Outcome::GaveUp, None, false),
        (Outcome::GaveUp, Some(true), false),
    ] {
        let mut story = story();
        let (task, answer, caveats) = (TaskId(1), None, Vec::new());
        assert!(!story.state().task(task).unwrap().is_solved(), "it is at work");
        story.tell(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
        assert_eq!(story.state().task(task).unwrap().is_solved(), is_solved, "{outcome:?}");
    }
}

#[test]
fn calls_by_hand_belong_to_the_task_at_work() {
    let mut story = story();
    let by_hand = |story: &mut Story, task: u32| {
        let effect = effect(EffectId(story.state().effects_requested() as u32 + 1));
        story.tell(ToolCallEvent::ToolCallRequested {
            effect,
            task: TaskId(task),
            step: 1,
            tool: "weather".into(),
            arguments: json!({}),
            evidence: None,
            by: By::User,
            wire_id: None,
        });
        effect.id
    };
    let first = by_hand(&mut story, 1);
    story.call(1, 1, ("wikipedia", json!({"query": "x"}), Ok("found"), 10));
    story.task(2, &[], ("x", true), &[]);
    let second = by_hand(&mut story, 2);
    let found = [1, 2, 3].map(|task| story.state().calls_by_hand(TaskId(task)).collect::<Vec<_>>());
    assert_eq!(found, [vec![first], vec![second], vec![]]);
}
