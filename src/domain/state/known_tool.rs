//! Notes about a candidate of a budget plan: statements of the agent about it during the task.

use super::budget::TaskBudget;
use crate::event::{KnownTool, Lack};
use crate::id::ToolName;

impl KnownTool {
    /// Notes whether the agent was offered this tool when it reported a missing one, and forgets its earlier needs. A
    /// tool that the agent keeps is needed.
    pub fn note_offer(&mut self, budget: &TaskBudget, kept: &[ToolName]) {
        self.lacked = None;
        if kept.contains(&self.tool) {
            self.note_lack(budget, kept, &self.tool.to_string());
        } else if budget.allows(self.tool.as_str()) {
            self.declined = Some(budget.uses());
        }
    }

    /// Adds one use to a tool that the agent misses, if it has helped with this task and is used up.
    pub fn add_use(&mut self, budget: &TaskBudget, meant: &[ToolName]) {
        let is_used_up = budget.left(self.tool.as_str()) == Some(0);
        let has_helped = budget.helped.contains(&self.tool);
        self.more += u32::from(is_used_up && has_helped && meant.contains(&self.tool));
    }

    /// Notes that this tool may meet a need, and how often it had been used by then.
    pub fn note_lack(&mut self, budget: &TaskBudget, meant: &[ToolName], need: &str) {
        if meant.contains(&self.tool) {
            let used = budget.tools.get(&self.tool).map_or(0, |tool| tool.uses);
            self.lacked = Some(Lack { need: need.to_owned(), used });
        }
    }
}
