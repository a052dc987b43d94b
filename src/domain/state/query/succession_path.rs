//! The path of one task among what came after what.

use std::collections::HashSet;

use crate::event::Outcome;
use crate::id::ToolName;
use crate::state::{FollowedTask, State, TaskState, ToolCallPhase};

/// Number of last calls that are asked for failures.
const LAST: usize = 1024;

impl State {
    /// The edges that a task has taken, as far as its details are there.
    pub fn path(&self, task: &TaskState) -> HashSet<(ToolName, ToolName)> {
        let (mut walk, mut edges) = (FollowedTask::default(), HashSet::new());
        let mut take = |after: &ToolName, came: &ToolName| {
            edges.insert((after.clone(), came.clone()));
        };
        for call in task.tool_calls.iter().filter_map(|id| self.tool_call(*id)) {
            walk.call(call.parent, &call.tool, &mut take);
        }
        if task.outcome() == Some(Outcome::Answered) && task.answer.is_some() {
            walk.end(&mut take);
        }
        edges
    }

    /// The tools whose last call failed, among the last calls.
    pub fn last_failed(&self) -> HashSet<&ToolName> {
        let (mut seen, mut failed) = (HashSet::new(), HashSet::new());
        let ended = self.tool_calls.iter().rev().take(LAST).filter(|call| call.phase.is_over());
        for call in ended.filter(|call| seen.insert(&call.tool)) {
            if matches!(call.phase, ToolCallPhase::Failed { .. }) {
                failed.insert(&call.tool);
            }
        }
        failed
    }
}
