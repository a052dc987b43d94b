//! The results of tools as the agent reads them: by number, and piece by piece where they are long.

use serde_json::Value;

use crate::chat::Role;
use crate::excerpt;
use crate::id::{EffectId, ToolName};
use crate::knob::Knob;
use crate::markers::MORE;
use crate::state::{State, TaskState, ToolCallPhase};

/// The fewest characters of a result that a model sees.
const LEAST: usize = 200;

impl State {
    /// Whether a call of this name reads on in an earlier result. A real tool of this name has priority.
    pub fn reads_on(&self, tool: &ToolName) -> bool {
        tool.as_str() == MORE && !self.tools.contains_key(tool)
    }

    /// The most characters of each result that the model of a role sees, if it gets this many results at once. Its
    /// context window also limits them: as many characters as it has tokens are about a quarter of it. One result takes
    /// at most that many, and all together take at most twice as many.
    pub fn result_max(&self, role: Role, results: usize) -> usize {
        let window = self.models.of(role).and_then(|model| model.spec.context);
        let window = window.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX));
        let share = window.saturating_mul(2) / results.max(2);
        self.knobs.count(Knob::ResultMax).min(share.max(LEAST))
    }

    /// Returns the last result of a tool in this session, among the calls that are kept.
    pub fn last_result(&self, tool: &ToolName) -> Option<&str> {
        self.tool_calls.iter().rev().filter(|call| call.tool == *tool).find_map(|call| match &call
            .phase
        {
            ToolCallPhase::Done { output } => Some(output.text.as_str()),
            _ => None,
        })
    }

    /// The number by which the agent may ask for more of a result: the place of its call in the task.
    pub fn result_number(&self, call: EffectId) -> Option<usize> {
        let task = self.task(self.tool_call(call)?.task)?;
        task.tool_calls.iter().position(|other| *other == call).map(|at| at + 1)
    }

    /// The part of a result of this task that a call of `more` requests.
    ///
    /// # Errors
    /// A message for the agent that says what is wrong with the arguments.
    pub fn read_on(&self, task: &TaskState, arguments: &Value) -> Result<String, String> {
        let number = |name: &str| {
            let given = &arguments[name];
            let whole = given.as_u64().or_else(|| given.as_str()?.trim().parse().ok());
            whole.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| {
                format!("arguments.{name}: expected a whole number, as the end of the result says")
            })
        };
        let (result, from) = (number("result")?, number("from")?);
        let call = result.checked_sub(1).and_then(|at| task.tool_calls.get(at));
        let call = call.and_then(|call| self.tool_call(*call));
        let Some(ToolCallPhase::Done { output }) = call.map(|call| &call.phase) else {
            return Err(format!("arguments.result: there is no result {result}"));
        };
        let most = self.result_max(Role::Actor, 1);
        let part = excerpt::part(&output.text, from, most, Some(result));
        part.ok_or_else(|| {
            let length = output.text.chars().count();
            format!("arguments.from: result {result} has only {length} characters")
        })
    }
}
