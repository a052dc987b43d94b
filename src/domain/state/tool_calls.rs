//! Tool calls, from the request to the end.

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::effects::EffectState;
use crate::event::{By, Refusal, UnseenResult};
use crate::output::{CallProgress, ToolOutput};
use crate::{error::ToolError, id::ToolName, plan::EvidenceId};

/// The progress of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// Requested, but not running yet.
    Requested,
    Running,
    /// Not run, at no cost.
    Refused {
        why: String,
        reason: Refusal,
    },
    Done {
        output: Arc<ToolOutput>,
    },
    Failed {
        error: ToolError,
    },
}

/// State of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallState {
    #[serde(flatten)]
    pub effect: EffectState,
    pub step: u32,
    pub tool: ToolName,
    pub arguments: Value,
    /// The agent's own arguments, where a person has edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Value>,
    /// Whether the agent sees its own arguments, not the edited ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_own: bool,
    /// The evidence of a plan that the call must find.
    pub evidence: Option<EvidenceId>,
    pub phase: ToolCallPhase,
    /// Progress of the call, or its last progress once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<CallProgress>,
    /// Whether its result helped, once it was judged.
    pub helpful: Option<bool>,
    #[serde(default = "By::engine", skip_serializing_if = "By::is_engine")]
    pub by: By,
    /// The wire's own id of a watched agent's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_id: Option<Arc<str>>,
    /// Result of a watched agent's tool whose model reads something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Arc<ToolOutput>>,
    /// Why no request of the watched agent has the result as such, if none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<UnseenResult>,
    /// Path of the call through a relay, if the tool's server is behind one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relayed: Option<Relayed>,
    /// Whether the call never reached the watched agent, whose model was called again instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_skipped: bool,
}

/// The path of a watched agent's call through a relay. Times are in microseconds since the session was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relayed {
    /// The key of the server.
    pub server: Arc<str>,
    /// When the agent sent it.
    pub sent: u64,
    /// When the server had answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<u64>,
    /// When a request of the agent had its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
}

impl Deref for ToolCallState {
    type Target = EffectState;

    /// A tool call is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
    }
}

impl ToolCallPhase {
    pub fn is_over(&self) -> bool {
        match self {
            ToolCallPhase::Requested | ToolCallPhase::Running => false,
            ToolCallPhase::Refused { .. }
            | ToolCallPhase::Done { .. }
            | ToolCallPhase::Failed { .. } => true,
        }
    }
}

impl ToolCallState {
    /// Whether a person made it, not the agent.
    pub fn is_by_hand(&self) -> bool {
        self.by == By::User
    }

    /// The arguments that the agent sees in its call.
    pub fn shown_arguments(&self) -> &Value {
        self.own.as_ref().filter(|_| self.shows_own).unwrap_or(&self.arguments)
    }

    /// The text that the agent saw.
    pub fn observation(&self) -> Option<&str> {
        match &self.phase {
            ToolCallPhase::Requested | ToolCallPhase::Running => None,
            ToolCallPhase::Refused { why, .. } => Some(why),
            ToolCallPhase::Done { output } => Some(&output.text),
            ToolCallPhase::Failed { error } => Some(&error.text),
        }
    }
}
