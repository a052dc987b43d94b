//! What a planner wrote, and the evidence found for it (ReWOO; concurrent workers).

use std::sync::Arc;

use super::{By, ClassAssignment, family::family};
use crate::domain::id::{TaskId, ToolName};
use crate::domain::null_filter::NullReason;
use crate::domain::plan::{EvidenceId, Plan};

family! {
    /// What a planner wrote, and the evidence found for it (ReWOO; concurrent workers).
    pub enum PlanEvent {
        /// The classifier has sorted tools, or had in an earlier session.
        ToolsClassified {
            tools: Vec<(ToolName, ClassAssignment)>,
        },
        /// The user set the class of a tool.
        ToolClassSet {
            tool: ToolName,
            /// `None`: of no class any more.
            class: Option<ClassAssignment>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            was: Option<ClassAssignment>,
            by: By,
        },
        /// The planner's answer was read: everything that is to be called, and for which plan.
        PlanWritten {
            task: TaskId,
            plan: Arc<Plan>,
        },
        /// The planner's answer could not be used.
        PlanRefused {
            task: TaskId,
            why: String,
        },
        /// A piece of evidence is there; what a call found is that call's.
        EvidenceFound {
            task: TaskId,
            evidence: EvidenceId,
            /// What a model said.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            text: Option<String>,
            /// Why it reaches the solver as null, if it does.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            nulled: Option<NullReason>,
            /// Tokens of what the solver is spared.
            #[serde(default)]
            saved: u64,
        },
    }
}
