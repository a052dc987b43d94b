//! The grader: a model that says whether a final answer means the same as a right one. It measures an agent and is not
//! part of it, so no agent sees its verdict.

use serde::Deserialize;

use super::{Context, Ending, json, prompt};
use crate::domain::{Knob, Role, Task, TaskEvent};

/// Has the answer graded, if the knob `grader` is on and a right answer is known. A missing answer
/// is wrong without a model call.
pub async fn grade(ctx: &impl Context, task: &Task, ending: &Ending) {
    let is_wanted = ctx.state(|state| state.knobs.is_on(Knob::Grader));
    if !is_wanted || task.gold.is_none() {
        return;
    }
    let (right, why) = match ending.answer.as_deref() {
        None => (Some(false), "there is no answer".to_owned()),
        Some(answer) => {
            let request = ctx.state(|state| prompt::grade(state, task, answer));
            match ctx.ask(Role::Grader, request).await {
                Ok(reply) => read(&reply.text),
                Err(error) => (None, error.to_string()),
            }
        }
    };
    ctx.say(|task| TaskEvent::AnswerGraded { task, right, why });
}

/// The verdict and its reason; or why the reply has no verdict.
fn read(text: &str) -> (Option<bool>, String) {
    #[derive(Deserialize)]
    struct Grade {
        right: bool,
        #[serde(default)]
        reason: String,
    }
    match json::objects(text).find_map(|json| serde_json::from_str::<Grade>(json).ok()) {
        Some(Grade { right, reason }) => (Some(right), reason),
        None => (None, "no JSON object with `right` in the grader's reply".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_is_read_wherever_it_stands_and_a_missing_one_is_no_verdict() {
        assert_eq!(
            read("So: {\"right\": false, \"reason\": \"no\"}."),
            (Some(false), "no".to_owned())
        );
        assert_eq!(read("{\"right\": true}").0, Some(true));
        for none in ["right", "{\"right\": \"yes\"}", ""] {
            assert_eq!(read(none).0, None, "{none}");
        }
    }
}
