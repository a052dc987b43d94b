//! Words that give prompts their structure. Strategies write them, and who reads a prompt finds its
//! parts by them: the simulated model, and a person.

use serde_json::Value;

use super::words;

/// What the action that ends a task is called; no tool may have this name.
pub const FINISH: &str = "Finish";

/// Begins the text of every task, so that a reader of a prompt finds it.
pub const TASK: &str = "Task: ";

/// What the worker is called that is a model and no tool.
pub const LLM: &str = "LLM";

/// What a solver or a worker says that cannot say more.
pub const UNKNOWN: &str = "unknown";

/// Begins the list of tools in the planner's prompt.
pub const TOOLS: &str = "Tools:\n";

/// Begins the plans and their evidence in the solver's prompt.
pub const EVIDENCE: &str = "Plans and evidence:\n";

/// Begins the question in the prompt of a worker that is a model.
pub const QUESTION: &str = "Question: ";

/// Begins a line of the planner's that says what it lacks. It is told of such lines where it may write them.
pub const LACKING: &str = "Lacking:";

/// Tells the actor that it may say what it lacks.
pub const OTHER_TOOLS: &str = "other tools may be offered";

/// Begins the list of what was chosen at this point before, so that a reader of a prompt finds it.
pub const CHOSEN: &str = "Chosen at this point before:";

/// Begin the accounts of the two decisions that are compared.
pub const RIVALS: [&str; 2] = ["Decision 1:", "Decision 2:"];

/// Longer arguments are cut where they are told again: characters.
const ARGUMENTS: usize = 300;

/// Arguments as they are told again: as they are, or the beginning of their text.
pub fn shortened(arguments: &Value) -> Value {
    let text = arguments.to_string();
    let short = words::clipped(&text, ARGUMENTS);
    if short == text { arguments.clone() } else { Value::String(short) }
}
