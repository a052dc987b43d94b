//! What models are told in a search, word for word.

use serde_json::{Value, json};

use super::told;
use crate::{
    domain::{
        chat::{Message, Request, Role},
        id::ToolName,
        markers::{CHOSEN, RIVALS, TASK, shortened},
        spec::Task,
        words,
    },
    strategy::{
        Called, Trajectory,
        search::{Node, NodeResult},
    },
};

const ELSE: &str = "Now choose something else: another tool, or other arguments. If nothing else can \
    help from here, call Finish with gave_up set.";

const NOTHING: &str =
    "Your last reply was neither a call nor an answer. Call a tool, or call Finish.";

const VOTE: &str = "An agent works on a task and has made two decisions at the same point, each with \
    its result. Say which of them brings it further: one whose result holds something that the answer \
    can be built from, rather than an error or text beside the point; an answer only if the results \
    before it support it. Reply with JSON only: {\"better\": 1 or 2, \"reason\": TEXT}";

/// Longer results are cut where they are told again: characters.
const RESULT: usize = 2_000;

/// Asks for something other than what was chosen before.
pub(in crate::strategy) fn something_else(
    chosen: impl Iterator<Item = (ToolName, Value)>,
) -> String {
    let lines: Vec<_> = chosen
        .map(|(tool, arguments)| {
            json!({ "tool": tool, "arguments": shortened(&arguments) }).to_string()
        })
        .collect();
    if lines.is_empty() {
        return NOTHING.to_owned();
    }
    format!("{CHOSEN}\n{}\n\n{ELSE}", lines.join("\n"))
}

/// Asks which of two decisions at the end of a path brings the task further.
pub(in crate::strategy) fn compare(task: &Task, path: &Trajectory, rivals: [&Node; 2]) -> Request {
    let [first, second] = rivals.map(account);
    let text = format!(
        "{TASK}{}\n\nWhat was done:\n{}\n\n{}\n{first}\n\n{}\n{second}",
        task.text,
        told(path, RESULT),
        RIVALS[0],
        RIVALS[1],
    );
    Request {
        role: Role::Judge,
        messages: vec![Message::system(VOTE), Message::user(text)],
        tools: Vec::new(),
        temperature: Some(0.0),
        max_tokens: None,
        stop: Vec::new(),
        schema: None,
    }
}

/// What was decided and what came of it, a line of JSON for each action.
fn account(node: &Node) -> String {
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

fn line(thought: &str, called: &Called) -> Value {
    json!({
        "thought": thought,
        "tool": called.tool,
        "arguments": called.arguments,
        "result": words::clipped(&called.observation.text(), RESULT),
    })
}
