//! Words that give prompts their structure. Strategies write them; readers of a prompt (the
//! simulated model, and people) find its parts by them.

use serde_json::Value;

use super::words;

/// The name of the action that ends a task; no tool may have this name.
pub const FINISH: &str = "Finish";

/// The name of the action that reads on in a long result. A tool of this name comes before it.
pub const MORE: &str = "more";

/// Begins the text of every task, so that a reader of a prompt finds it.
pub const TASK: &str = "Task: ";

/// The name of the worker that is a model, not a tool.
pub const LLM: &str = "LLM";

/// The answer of a solver or a worker that has none.
pub const UNKNOWN: &str = "unknown";

/// Begins the end of an answer that tools complete while it is written.
pub const ANSWER_IS: &str = "The answer is";

/// Begins the list of tools in the planner's prompt.
pub const TOOLS: &str = "Tools:\n";

/// Begins the documents of the functions in the programmer's prompt.
pub const FUNCTIONS: &str = "Functions:\n\n";

/// Begins the plans and their evidence in the solver's prompt.
pub const EVIDENCE: &str = "Plans and evidence:\n";

/// Begins the question in the prompt of a worker that is a model.
pub const QUESTION: &str = "Question: ";

/// Begins the right answers and the answer to grade in the grader's prompt, as one line of JSON.
pub const TO_GRADE: &str = "To grade: ";

/// Begins a line in which the planner names a missing capability. The planner hears of such lines
/// only where it may write them.
pub const LACKING: &str = "Lacking:";

/// Begins a line after such lines, with the offered tools that the planner needs for other steps.
pub const KEEPING: &str = "Keeping:";

/// Tells the actor that it may name a missing capability.
pub const OTHER_TOOLS: &str = "other tools may be offered";

/// Begins the list of the tools that may be called now, `NAME (weight 37), NAME (new here), NAME.`, at
/// the end of the actor's prompt.
pub const OFFER: &str = "You may call now: ";

/// Begins the costs of the tools on the menu, `NAME CREDITS, NAME CREDITS.`, in the actor's prompt.
pub const COSTS: &str = "Calls cost credits: ";

/// Begins the list of earlier choices at this point, so that a reader of a prompt finds it.
pub const CHOSEN: &str = "Chosen at this point before:";

/// Begin the descriptions of the two decisions that are compared.
pub const RIVALS: [&str; 2] = ["Decision 1:", "Decision 2:"];

/// Characters up to which arguments are repeated in full.
const ARGUMENTS: usize = 300;

/// Arguments for repetition in a prompt: in full, or the beginning of their text.
pub fn shortened(arguments: &Value) -> Value {
    let text = arguments.to_string();
    let short = words::clipped(&text, ARGUMENTS);
    if short == text { arguments.clone() } else { Value::String(short) }
}
