//! Prompt texts of searches, word for word.

use serde_json::{Value, json};

use super::{question, told};
use crate::domain::markers::{CHOSEN, RIVALS, shortened};
use crate::domain::{InTask, Message, Prompt, Request, Role, Task, ToolName, words};
use crate::search::{NodeResult, SearchNode};
use crate::{CallResult, Trajectory};

/// Characters up to which results are repeated in full.
const RESULT: usize = 2_000;

/// The request for a choice different from the earlier ones.
pub(crate) fn something_else(
    state: &InTask<'_>,
    chosen: impl Iterator<Item = (ToolName, Value)>,
) -> String {
    let lines: Vec<_> = chosen
        .map(|(tool, arguments)| {
            json!({ "tool": tool, "arguments": shortened(&arguments) }).to_string()
        })
        .collect();
    if lines.is_empty() {
        return state.prompts.text(Prompt::ActorAct).to_owned();
    }
    let otherwise = state.prompts.text(Prompt::ActorElse);
    format!("{CHOSEN}\n{}\n\n{otherwise}", lines.join("\n"))
}

/// The request that asks which of two decisions at the end of a path advances the task more.
pub(crate) fn compare(
    state: &InTask<'_>,
    task: &Task,
    path: &Trajectory,
    rivals: [&SearchNode; 2],
) -> Request {
    let [first, second] = rivals.map(account);
    let text = format!(
        "{}\n\nWhat was done:\n{}\n\n{}\n{first}\n\n{}\n{second}",
        question(task),
        told(path, |text| words::clipped(text, RESULT)),
        RIVALS[0],
        RIVALS[1],
    );
    Request {
        temperature: Some(0.0.into()),
        ..Request::new(
            Role::Judge,
            vec![Message::system(state.prompts.text(Prompt::JudgePair)), Message::user(text)],
        )
    }
}

/// A decision and its results, one line of JSON per action.
fn account(node: &SearchNode) -> String {
    let lines: Vec<_> = match &node.result {
        NodeResult::Called => {
            let called = node.turn.called.iter();
            called.map(|called| line(&node.turn.thought, called)).collect()
        }
        NodeResult::Answered(_) | NodeResult::GaveUp | NodeResult::Lacked | NodeResult::Nothing => {
            let chosen = node.chosen().into_iter();
            let thought = &node.turn.thought;
            chosen
                .map(|(tool, arguments)| {
                    json!({
                        "thought": thought,
                        "tool": tool,
                        "arguments": arguments,
                        "result": "",
                    })
                })
                .collect()
        }
    };
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn line(thought: &str, called: &CallResult) -> Value {
    json!({
        "thought": thought,
        "tool": called.tool,
        "arguments": called.arguments,
        "result": words::clipped(&called.observation.text(), RESULT),
    })
}
