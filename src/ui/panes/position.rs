//! Where the agent is, and the way it came in this try.

use crate::domain::{
    event::Outcome,
    id::ToolName,
    state::{State, StepState, TaskState, ToolCallPhase, ToolCallState, What},
};

/// How far back the last step is looked for, in lines of the transcript.
const LINES: usize = 4096;

/// The agent's last decision in the task that a person most likely means.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here<'a> {
    pub task: Option<&'a TaskState>,
    pub step: Option<&'a StepState>,
    /// What it chose there, if it has chosen a tool.
    pub chosen: Option<&'a ToolCallState>,
}

impl<'a> Here<'a> {
    pub fn of(state: &'a State) -> Self {
        let Some(task) = state.shown_task() else { return Self::default() };
        let step = task.steps.last();
        Self { task: Some(task), step, chosen: chosen(state, task) }
    }

    /// The node from which it chooses; `start` before the first step.
    pub fn node(&self) -> &'a str {
        self.step.map_or(ToolName::START, |step| step.from.as_str())
    }

    /// The nodes of this try in order, the one that was just chosen last.
    pub fn path(&self) -> Vec<&'a str> {
        let Some(task) = self.task else { return Vec::new() };
        let first = task.steps.iter().rposition(|step| step.step == 1).unwrap_or(0);
        let mut path: Vec<&str> =
            task.steps[first..].iter().map(|step| step.from.as_str()).collect();
        match self.chosen.map(|call| (&call.phase, call.tool.as_str())) {
            Some((ToolCallPhase::Refused { .. }, _)) | None => {}
            Some((
                ToolCallPhase::Requested
                | ToolCallPhase::Running
                | ToolCallPhase::Done { .. }
                | ToolCallPhase::Failed { .. },
                tool,
            )) => path.push(tool),
        }
        if task.outcome() == Some(Outcome::Answered) {
            path.push(ToolName::END);
        }
        path
    }
}

/// The call that came after the task's last step. Its number alone does not tell: a later try counts its
/// steps from 1 again.
fn chosen<'a>(state: &'a State, task: &TaskState) -> Option<&'a ToolCallState> {
    let lines = state.transcript.iter().rev().take(LINES);
    let last = lines.filter(|line| line.task == Some(task.id)).find_map(|line| match line.what {
        What::Call { call } => Some(Some(call)),
        What::Step { .. } => Some(None),
        What::TaskStarted
        | What::TryStarted { .. }
        | What::Ask { .. }
        | What::Evaluated { .. }
        | What::TaskFinished
        | What::BudgetPlanned { .. }
        | What::Plan { .. }
        | What::Told { .. }
        | What::Newer { .. } => None,
    });
    state.tool_call(last??)
}
