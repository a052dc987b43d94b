//! What a state answers about a session that is told by hand.

use serde_json::json;
use toolyard::domain::{
    ModelCallEvent, ModelError, ModelErrorKind, Outcome, Refusal, Role, TaskEvent, TaskId,
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
