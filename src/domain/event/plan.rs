//! Plans, and the evidence found for them (ReWOO; concurrent workers).

use std::sync::Arc;

use super::{By, ClassAssignment, family::family};
use crate::id::{TaskId, ToolName};
use crate::null_filter::NullReason;
use crate::plan::{EvidenceId, Plan};

family! {
    /// Plans, and the evidence found for them (ReWOO; concurrent workers).
    pub enum PlanEvent {
        /// The classifier has sorted tools, now or in an earlier session.
        ToolsClassified {
            tools: Vec<(ToolName, ClassAssignment)>,
        },
        /// The user set the class of a tool.
        ToolClassSet {
            tool: ToolName,
            /// `None`: no class any more.
            class: Option<ClassAssignment>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            was: Option<ClassAssignment>,
            by: By,
        },
        /// The planner's answer was parsed: all calls to make, and the plan each belongs to.
        PlanWritten {
            task: TaskId,
            plan: Arc<Plan>,
        },
        /// The planner's answer could not be used.
        PlanRefused {
            task: TaskId,
            why: String,
        },
        /// A piece of evidence is complete; the result of a tool call is stored with that call.
        EvidenceFound {
            task: TaskId,
            evidence: EvidenceId,
            /// A model's answer.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            text: Option<String>,
            /// The reason for which it reaches the solver as null, if it does.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            nulled: Option<NullReason>,
            /// Tokens that the solver does not have to read.
            #[serde(default)]
            saved: u64,
        },
    }
}
