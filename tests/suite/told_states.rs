//! What a state answers about a session that is told by hand.

use serde_json::json;
use toolyard::domain::state::Keeps;
use toolyard::domain::{
    ModelCallEvent, ModelError, ModelErrorKind, Outcome, Refusal, Role, State, TaskEvent, TaskId,
};

use crate::story::{Story, TOOLS, effect, tool};

fn story() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.queue(&[("How high is Mount Orla?", None)]).start(1).step(1, 1, "start");
    story
}

#[test]
fn a_refused_call_counts_as_none_of_its_tool() {
    let mut story = story();
    for text in ["a", "b"] {
        story.call(1, 1, ("search_web", json!({"query": text}), Ok("found"), 10));
    }
    story.call(1, 1, ("search_web", json!({"query": "c"}), Err("it broke"), 10));
    story.call(1, 1, ("wikipedia", json!({"query": "a"}), Ok("found"), 10));
    story.refused(1, 1, "search_web", Refusal::TooDear, "it is too dear");
    story.refused(1, 1, "weather", Refusal::TooDear, "it is too dear");
    let lap = story.state().lap(TaskId(1)).unwrap();
    assert_eq!(lap.calls(), 4);
    let calls = ["search_web", "wikipedia", "weather", "population"].map(|tool| lap.calls_of(tool));
    assert_eq!(calls, [3, 1, 0, 0]);
}

#[test]
fn what_went_wrong_with_a_call_is_its_error_or_why_it_was_refused() {
    let mut story = story();
    let good = story.call(1, 1, ("wikipedia", json!({"query": "a"}), Ok("found"), 10));
    let bad = story.call(1, 1, ("wikipedia", json!({"query": "a"}), Err("it broke"), 10));
    story.refused(1, 1, "weather", Refusal::TooDear, "it is too dear");
    let refused = *story.state().task(TaskId(1)).unwrap().tool_calls.last().unwrap();
    let thought = story.ask(1, Role::Actor);
    let said = story.state().error_of(thought).map(str::to_owned);
    assert_eq!(said, None, "it is under way");
    story.tell(ModelCallEvent::ModelCallFailed {
        effect: effect(thought),
        error: ModelError::new(ModelErrorKind::Connection, "nobody answers"),
        billed: None,
    });
    let errors = [good, bad, refused, thought].map(|id| story.state().error_of(id));
    let right = [None, Some("it broke"), Some("it is too dear"), Some("nobody answers")];
    assert_eq!(errors, right);
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(1),
        outcome: Outcome::Failed,
        answer: None,
        correct: None,
        caveats: Vec::new(),
    });
    assert_eq!(story.state().error_of(bad), Some("it broke"));
}

#[test]
fn a_model_cannot_be_used_until_it_has_answered_once() {
    let mut story = story();
    let unusable = |story: &Story, kind| {
        story.state().is_unusable(&"sim".into(), &ModelError::new(kind, "no"))
    };
    let first = [ModelErrorKind::Connection, ModelErrorKind::Timeout, ModelErrorKind::Refused];
    assert_eq!(first.map(|kind| unusable(&story, kind)), [true; 3]);
    let passing = [ModelErrorKind::RateLimited, ModelErrorKind::BadAnswer];
    assert_eq!(passing.map(|kind| unusable(&story, kind)), [false; 2]);
    let mut partial = ModelError::new(ModelErrorKind::Connection, "it broke off");
    partial.partial = "The mountain".into();
    assert!(!story.state().is_unusable(&"sim".into(), &partial), "it has answered a part");
    let thought = story.ask(1, Role::Actor);
    story.answer(thought, "I call.", 10);
    assert_eq!(first.map(|kind| unusable(&story, kind)), [false; 3]);
    assert!(unusable(&story, ModelErrorKind::Auth), "every call needs the key");
}

/// What a list shows of a task stays when its details are forgotten.
#[test]
fn a_task_without_details_keeps_what_it_cost_and_how_often_it_was_planned() {
    let story = crate::spending::btp();
    let mut bare = State::keeping(Keeps::Details(0));
    story.records.iter().for_each(|record| bare.apply(record));
    assert_eq!((bare.bare_tasks().len(), story.state().bare_tasks().len()), (3, 0));
    for id in [TaskId(1), TaskId(2), TaskId(3)] {
        let (whole, bare) = (story.state().task(id).unwrap(), bare.task(id).unwrap());
        assert_eq!(bare.credits(), whole.credits());
        assert_eq!((bare.budget.plans, bare.budget.refused), (1, whole.budget.refused));
        assert_eq!(bare.steps_taken(), whole.steps_taken());
        assert_eq!(bare.answer, whole.answer);
        let (kept, plan) =
            (bare.budget.plan.as_ref().unwrap(), whole.budget.plan.as_ref().unwrap());
        assert_eq!((kept.budget, kept.value, kept.cost), (plan.budget, plan.value, plan.cost));
    }
}
