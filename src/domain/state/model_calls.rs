//! Model calls, from the request to the end.

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use super::effects::EffectState;
use crate::chat::{Reply, Request, Role, Usage};
use crate::event::{Gone, LostPrefix};
use crate::finite::Finite;
use crate::unread_input::Unread;
use crate::{error::ModelError, id::ModelName, plan::EvidenceId, reading::JudgedPiece};

/// The progress of a model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelCallPhase {
    /// Requested, but not sent yet.
    Requested,
    Running,
    Done {
        reply: Arc<Reply>,
    },
    Failed {
        error: ModelError,
    },
}

/// State of a model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCallState {
    #[serde(flatten)]
    pub effect: EffectState,
    pub role: Role,
    pub model: ModelName,
    /// Exactly what the model saw.
    pub request: Arc<Request>,
    /// The evidence of a plan that the call must find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceId>,
    pub phase: ModelCallPhase,
    /// The streamed text so far; empty once the answer is complete.
    pub partial: String,
    /// Pieces of the text with the probabilities of the judge that reads along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedPiece>,
    pub retries: u32,
    /// For a failed call: its probable usage.
    pub billed: Option<Usage>,
    pub dollars: Option<Finite>,
    /// First difference from the previous request, if the agent continues from that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Arc<LostPrefix>>,
    /// Messages of the past that the agent dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<Rewritten>,
    /// Input that the endpoint did not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
}

/// A past that an agent has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    /// Number of messages that stayed at the beginning.
    pub kept: u32,
    pub dropped: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<Arc<Gone>>,
}

impl Deref for ModelCallState {
    type Target = EffectState;

    /// A model call is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
    }
}

impl ModelCallPhase {
    pub fn is_over(&self) -> bool {
        match self {
            ModelCallPhase::Requested | ModelCallPhase::Running => false,
            ModelCallPhase::Done { .. } | ModelCallPhase::Failed { .. } => true,
        }
    }
}

impl ModelCallState {
    pub fn reply(&self) -> Option<&Reply> {
        match &self.phase {
            ModelCallPhase::Done { reply } => Some(reply),
            ModelCallPhase::Requested | ModelCallPhase::Running | ModelCallPhase::Failed { .. } => {
                None
            }
        }
    }

    /// Returns the usage, as far as known.
    pub fn usage(&self) -> Option<Usage> {
        self.reply().map(|reply| reply.usage).or(self.billed)
    }
}

impl ModelCallState {
    pub(super) fn close(&mut self, phase: ModelCallPhase) {
        self.partial.clear();
        self.phase = phase;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelError, ModelErrorKind};

    #[test]
    fn a_call_is_over_when_it_has_an_answer_or_an_error() {
        let error = ModelError::new(ModelErrorKind::Refused, "no");
        let phases = [
            (ModelCallPhase::Requested, false),
            (ModelCallPhase::Running, false),
            (ModelCallPhase::Failed { error }, true),
        ];
        for (phase, is_over) in phases {
            assert_eq!(phase.is_over(), is_over);
        }
    }
}
