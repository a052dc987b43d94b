//! The agent's position in the graph, and its path in this attempt.

use crate::domain::{Outcome, State, StepState, TaskState, ToolCallPhase, ToolCallState, ToolName};

/// The agent's last decision in the task that a person most likely means.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here<'a> {
    pub task: Option<&'a TaskState>,
    pub step: Option<&'a StepState>,
    /// The tool call that the agent chose there, if any.
    pub chosen: Option<&'a ToolCallState>,
}

impl<'a> Here<'a> {
    pub fn of(state: &'a State) -> Self {
        let Some(task) = state.shown_task() else { return Self::default() };
        let step = task.steps.last();
        // A planner does not decide step by step: its last call counts.
        let chosen = step.map_or(task.tool_calls.last().copied(), |step| step.call);
        Self { task: Some(task), step, chosen: chosen.and_then(|call| state.tool_call(call)) }
    }

    /// The node from which the agent chooses; `start` before the first step.
    pub fn node(&self) -> &'a str {
        self.step.map_or(ToolName::START, |step| step.from.as_str())
    }

    /// The nodes of this attempt in order, ending with the one just chosen.
    pub fn path(&self) -> Vec<&'a str> {
        let Some(task) = self.task else { return Vec::new() };
        let first = task.steps.iter().rposition(|step| step.step == 1).unwrap_or(0);
        let mut path: Vec<&str> =
            task.steps[first..].iter().map(|step| step.from.as_str()).collect();
        // A refused call goes nowhere.
        let is_refused =
            |call: &&ToolCallState| matches!(call.phase, ToolCallPhase::Refused { .. });
        // A planner begins each plan at the start.
        path.dedup();
        path.extend(self.chosen.filter(|call| !is_refused(call)).map(|call| call.tool.as_str()));
        if task.outcome() == Some(Outcome::Answered) {
            path.push(ToolName::END);
        }
        path
    }
}
