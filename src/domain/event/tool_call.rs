//! Tool calls, from the request to the end, and the judgements on their results.

use std::sync::Arc;

use serde_json::Value;

use super::{EffectRef, Refusal, family::family};
use crate::domain::id::{TaskId, ToolName};
use crate::domain::{error::ToolError, output::ToolOutput, plan::EvidenceId};

family! {
    /// Tool calls, from the request to the end, and the judgements on their results.
    pub enum ToolCallEvent {
        /// The agent wants to call a tool. Nothing has run yet.
        ToolCallRequested {
            effect: EffectRef,
            task: TaskId,
            step: u32,
            tool: ToolName,
            arguments: Value,
            /// The evidence of a plan that the call must find.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            evidence: Option<EvidenceId>,
        },
        /// It was not run, and cost nothing.
        ToolCallRefused {
            effect: EffectRef,
            why: String,
            #[serde(default)]
            reason: Refusal,
        },
        ToolCallStarted {
            effect: EffectRef,
        },
        ToolCallFinished {
            effect: EffectRef,
            output: Arc<ToolOutput>,
        },
        ToolCallFailed {
            effect: EffectRef,
            error: ToolError,
        },
    }
}
