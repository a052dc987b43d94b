//! What can be found in a line of the transcript.

use crate::domain::State;
use crate::domain::state::{Line, What};
use crate::ui::{panes::budget_words, wording};

/// The whole text of a line's entry, also what is cut there.
pub fn text(state: &State, line: &Line) -> Option<String> {
    let task = line.task.and_then(|task| state.task(task));
    Some(match &line.what {
        What::TaskStarted => task?.task.text.clone(),
        What::TaskFinished => task?.answer.clone()?,
        What::TryStarted { .. } => task?.reflections.last()?.clone(),
        What::Step { index } => task?.steps.get(*index as usize)?.from.to_string(),
        What::ModelCall { call } => {
            let call = state.model_call(*call)?;
            call.reply().map_or(&call.partial, |reply| &reply.text).clone()
        }
        What::ToolCall { call } => {
            let call = state.tool_call(*call)?;
            let observation = call.observation().unwrap_or_default();
            format!("{}\n{}\n{observation}", call.tool, call.arguments)
        }
        What::Evaluated { .. } => {
            let verdicts = task?.verdicts.iter();
            verdicts.map(|verdict| format!("{}\n{}\n", verdict.tool, verdict.reason)).collect()
        }
        What::BudgetPlanned { why, plan, .. } => format!("{why}\n{}", budget_words::uses(plan)),
        What::Plan { plan } => plan.to_string(),
        What::Told { event } => wording::told(event),
        What::Newer { fields } => wording::newer(fields),
    })
}
