//! Scores of tools by rules instead of a model: by their failures, and by the agent's use of their results. The scale
//! is the evaluator's (ToolNet, section 3.3), from −3 to 3. The rules are ours.

use std::collections::HashSet;

use serde_json::Value;

use super::{CallResult, Ending, Observation, Trajectory, TrajectoryTurn};
use crate::domain::retrieve::is_stop_word;
use crate::domain::{
    InTask, State, Task, TaskState, ToolCallPhase, ToolCallState, ToolName, ToolVerdict,
};
use crate::papers::metrics::tokens;

/// The score of each used tool, with its reason. A tool is not scored if its results may have helped, but there is no
/// answer. `is_sure`: nor if they were not used by their words, since the agent may have used them in others, nor if it
/// failed only at times.
pub(super) fn verdicts(
    state: &InTask<'_>,
    task: &Task,
    trajectory: &Trajectory,
    ending: &Ending,
    used: &[ToolName],
    is_sure: bool,
) -> Vec<ToolVerdict> {
    let calls: Vec<&CallResult> = trajectory.calls().collect();
    let is_wrong = ending.feedback(state, task) == Some(false);
    let verdict = |tool: &ToolName| {
        let own = || calls.iter().enumerate().filter(|(_, called)| called.tool == *tool);
        let helped = |called: &CallResult| {
            state.tool_call(called.id).is_none_or(|call| call.helpful != Some(false))
        };
        let (score, reason) = if own().any(|(_, called)| failed(called)) {
            // It may have helped when it was tried again.
            if is_sure && !own().all(|(_, called)| failed(called)) {
                return None;
            }
            (-3, "it failed")
        } else if own().all(|(_, called)| !helped(called)) {
            (-2, "it found nothing")
        } else if ending.answer.is_none() {
            return None;
        } else if !own().any(|(at, called)| is_used(task, called, &calls[at + 1..], ending)) {
            if is_sure {
                return None;
            }
            (-1, "its result was not used")
        } else if is_wrong {
            (0, "its result was used, and the answer is wrong")
        } else {
            (1, "its result was used")
        };
        Some(ToolVerdict { tool: tool.clone(), score, reason: reason.to_owned() })
    };
    used.iter().filter_map(verdict).collect()
}

/// The scores for a task that a watched agent answers, from the results that its model has read.
pub fn of_watched(state: &State, task: &TaskState, answer: &str) -> Vec<ToolVerdict> {
    let calls = task.tool_calls.iter().filter_map(|call| state.tool_call(*call));
    let called: Vec<CallResult> = calls.filter_map(result).collect();
    let mut used: Vec<ToolName> = called.iter().map(|called| called.tool.clone()).collect();
    let mut seen = HashSet::new();
    used.retain(|tool| seen.insert(tool.clone()));
    let turn = TrajectoryTurn { called, ..TrajectoryTurn::default() };
    let ending = Ending::answered(answer);
    verdicts(
        &state.in_task(task.id),
        &task.task,
        &Trajectory { turns: vec![turn] },
        &ending,
        &used,
        false,
    )
}

/// The result of a call of a watched agent; `None` if nobody saw it.
fn result(call: &ToolCallState) -> Option<CallResult> {
    let observation = match &call.phase {
        ToolCallPhase::Done { output } if call.unseen.is_none() => {
            Observation::Result(output.text.clone())
        }
        ToolCallPhase::Failed { error } => Observation::Failed(error.clone()),
        _ => return None,
    };
    Some(CallResult {
        id: call.id,
        tool: call.tool.clone(),
        arguments: call.shown_arguments().clone(),
        observation,
        injected: call.injected.is_some(),
    })
}

fn failed(called: &CallResult) -> bool {
    matches!(called.observation, Observation::Failed(_))
}

/// Whether the answer, or a later call, has a word of this result that is in neither the task nor the call itself. Words such
/// as `is` and `no` count only in a text without others.
fn is_used(task: &Task, called: &CallResult, later: &[&CallResult], ending: &Ending) -> bool {
    let mut new: HashSet<String> = tokens(&called.observation.text()).into_iter().collect();
    for known in [tokens(&task.text), said(&called.arguments)].concat() {
        new.remove(&known);
    }
    let answer = ending.answer.iter().map(|answer| tokens(answer));
    answer.chain(later.iter().map(|call| said(&call.arguments))).any(|words| {
        let is_plain = words.iter().all(|word| is_stop_word(word));
        words.iter().any(|word| new.contains(word) && (is_plain || !is_stop_word(word)))
    })
}

/// The words of the values of these arguments.
fn said(arguments: &Value) -> Vec<String> {
    match arguments {
        Value::Object(fields) => fields.values().flat_map(said).collect(),
        Value::Array(items) => items.iter().flat_map(said).collect(),
        Value::String(text) => tokens(text),
        other => tokens(&other.to_string()),
    }
}
