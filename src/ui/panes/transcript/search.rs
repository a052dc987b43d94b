//! Whether a line of the transcript holds a text.

use crate::domain::state::{Line, What};
use crate::domain::{State, ToolCallState};
use crate::ui::{panes::budget_words, wording};

/// Whether the entry of this line says `needle` (lower case) somewhere, also where it was cut.
pub fn holds(state: &State, line: &Line, needle: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(needle);
    let task = line.task.and_then(|task| state.task(task));
    match &line.what {
        What::TaskStarted => task.is_some_and(|task| has(&task.task.text)),
        What::TaskFinished => task.and_then(|task| task.answer.as_deref()).is_some_and(has),
        What::TryStarted { .. } => {
            task.and_then(|task| task.reflections.last()).is_some_and(|text| has(text))
        }
        What::Step { index } => task
            .and_then(|task| task.steps.get(*index as usize))
            .is_some_and(|step| has(step.from.as_str())),
        What::Ask { ask } => state
            .model_call(*ask)
            .is_some_and(|ask| ask.reply().map_or(has(&ask.partial), |reply| has(&reply.text))),
        What::Call { call } => state.tool_call(*call).is_some_and(|call| call_holds(call, has)),
        What::Evaluated { .. } => task.is_some_and(|task| {
            task.verdicts.iter().any(|verdict| has(verdict.tool.as_str()) || has(&verdict.reason))
        }),
        What::BudgetPlanned { why, plan, .. } => has(why) || has(&budget_words::uses(plan)),
        What::Plan { plan } => has(&plan.to_string()),
        What::Told { event } => has(&wording::told(event)),
        What::Newer { fields } => has(&wording::newer(fields)),
    }
}

fn call_holds(call: &ToolCallState, has: impl Fn(&str) -> bool) -> bool {
    has(call.tool.as_str())
        || has(&call.arguments.to_string())
        || call.observation().is_some_and(has)
}
