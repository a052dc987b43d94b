//! Budget events: what a task may use within its budget (BTP).

use std::sync::Arc;

use super::{BudgetPlan, By, family::family};
use crate::id::{EffectId, TaskId, ToolName};

family! {
    /// Budget events: what a task may use within its budget (BTP).
    pub enum BudgetEvent {
        /// Whether the result of a tool call helped (BTP, section 2.4); becomes experience.
        Judged {
            call: EffectId,
            /// The model call that judged; `None`: rules did.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            verdict: Option<EffectId>,
            helpful: bool,
            why: String,
        },
        /// The tool must not be used again in this task: one of its results did not help.
        ToolBlacklisted {
            task: TaskId,
            tool: ToolName,
            why: String,
        },
        /// How often each tool may be used within the rest of the budget (BTP, algorithm 1): at the
        /// start of a task, and again whenever that changes.
        BudgetPlanned {
            task: TaskId,
            why: String,
            plan: Arc<BudgetPlan>,
        },
        /// The user set how often a tool may still be used in this task, regardless of the plan.
        UsesSet {
            task: TaskId,
            tool: ToolName,
            uses: u32,
            was: u32,
            by: By,
        },
        /// The task stops here: its results are summed up.
        SummaryStarted {
            task: TaskId,
            why: String,
        },
    }
}
