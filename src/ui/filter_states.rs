//! The states of tasks and calls by which lists are filtered.

use crate::domain::{EffectId, Lane, Outcome, State, TaskPhase, TaskState};
use crate::domain::{ModelCallPhase, ToolCallPhase};

/// Whether a call is in the state of this name.
pub fn is(state: &State, call: EffectId, name: &str) -> bool {
    match name {
        "held" => state.control.is_held(Lane::Effect(call)),
        "over" => state.effect(call).is_some_and(|effect| {
            let task = state.task(effect.task);
            task.and_then(|task| task.budget.overrun).is_some_and(|over| over.effect == call)
        }),
        _ => phase(state, call) == Some(name),
    }
}

fn phase(state: &State, call: EffectId) -> Option<&'static str> {
    if let Some(call) = state.tool_call(call) {
        return Some(match call.phase {
            ToolCallPhase::Requested => "queued",
            ToolCallPhase::Running => "running",
            ToolCallPhase::Refused { .. } => "refused",
            ToolCallPhase::Done { .. } => "answered",
            ToolCallPhase::Failed { .. } => "failed",
        });
    }
    Some(match state.model_call(call)?.phase {
        ModelCallPhase::Requested => "queued",
        ModelCallPhase::Running => "running",
        ModelCallPhase::Done { .. } => "answered",
        ModelCallPhase::Failed { .. } => "failed",
    })
}

/// Whether a task is in the state of this name. A task without a right answer is `wrong`, however it ended, as it is
/// for the keys that go to the next wrong task.
pub fn is_of_task(state: &State, task: &TaskState, name: &str) -> bool {
    let outcome = task.outcome();
    match name {
        "wrong" => outcome.is_some_and(|outcome| outcome.is_wrong(task.correct)),
        "right" => task.correct == Some(true),
        "over" => task.budget.overrun.is_some(),
        "held" => is_at_work(state, task) && !state.control.held.is_empty(),
        "running" => is_at_work(state, task),
        "queued" => task.phase == TaskPhase::Queued,
        _ => outcome.map(Outcome::name) == Some(name),
    }
}

fn is_at_work(state: &State, task: &TaskState) -> bool {
    task.phase == TaskPhase::Running && state.task_at_work().is_some_and(|now| now.id == task.id)
}
