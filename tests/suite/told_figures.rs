//! Figures that a state derives from what a session did.

use serde_json::json;
use toolyard::domain::{EffectId, ModelName, Role, TaskId};

use crate::story::{Story, TOOLS, tool};

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
