//! Tool calls, from the request to the end, and the judgements on their results.

use std::sync::Arc;

use serde_json::Value;

use super::{By, EffectRef, Refusal, UnseenResult, family::family};
use crate::id::{TaskId, ToolName};
use crate::{
    error::ToolError,
    output::{CallProgress, ToolOutput},
    plan::EvidenceId,
};

family! {
    /// Tool calls, from the request to the end, and the judgements on their results.
    pub enum ToolCallEvent {
        /// The agent wants to call a tool, or a person does. Nothing has run yet.
        ToolCallRequested {
            effect: EffectRef,
            /// For a person's call: the current task, or the last one; 0 before the first.
            task: TaskId,
            step: u32,
            tool: ToolName,
            arguments: Value,
            /// The evidence of a plan that the call must find.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            evidence: Option<EvidenceId>,
            /// Author of the call. A person's call is not part of the task: it has no budget, and teaches nothing.
            #[serde(default = "By::engine", skip_serializing_if = "By::is_engine")]
            by: By,
            /// The wire's own id of a watched agent's call.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            wire_id: Option<Arc<str>>,
        },
        /// The call was not run, and cost nothing.
        ToolCallRefused {
            effect: EffectRef,
            why: String,
            #[serde(default)]
            reason: Refusal,
        },
        ToolCallStarted {
            effect: EffectRef,
        },
        /// Progress of the call, at most ten times a second.
        ToolCallProgressed {
            effect: EffectRef,
            #[serde(flatten)]
            progress: CallProgress,
        },
        ToolCallFinished {
            effect: EffectRef,
            output: Arc<ToolOutput>,
        },
        ToolCallFailed {
            effect: EffectRef,
            error: ToolError,
        },
        /// Result of a watched agent's tool that its model does not see, since it reads something else instead.
        ResultWithheld {
            effect: EffectRef,
            output: Arc<ToolOutput>,
        },
        /// No request of a watched agent has the result of this call as such.
        ResultUnseen {
            effect: EffectRef,
            why: UnseenResult,
        },
        /// A watched agent has sent this call to the tool's server, and a relay has it.
        CallSent {
            effect: EffectRef,
            /// The key of the server.
            server: Arc<str>,
        },
        /// The server has answered the call that a relay sent on.
        CallRan {
            effect: EffectRef,
        },
        /// A request of a watched agent has the result of a call that went through a relay: its model reads that.
        ResultRead {
            effect: EffectRef,
        },
        /// A watched agent never gets this call: it was answered in the agent's place, and the model was called again.
        CallSkipped {
            effect: EffectRef,
        },
    }
}
