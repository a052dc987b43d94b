//! A planner's plan, and the progress of its workers.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::id::EffectId;
use crate::null_filter::NullReason;
use crate::plan::{EvidenceId, Plan, PlanStep};

/// The plan of a task, and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanProgress {
    /// `None` until one was parsed.
    pub plan: Option<Arc<Plan>>,
    /// Why answers of the planner were refused.
    pub refused: Vec<String>,
    /// Evidence that was started, in the order of the starts.
    pub evidence: IndexMap<EvidenceId, EvidenceState>,
}

/// A piece of evidence that is searched or found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceState {
    pub source: EvidenceSource,
    /// Start time, in microseconds since the session was opened.
    pub since: u64,
    pub found: Option<u64>,
    /// A model's answer; a tool's result is in the call.
    pub text: Option<String>,
    /// The reason for which it reaches the solver as null, if it does.
    pub nulled: Option<NullReason>,
    /// Tokens that the solver does not have to read.
    pub saved: u64,
}

/// The effect that searches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// A tool call.
    Call(EffectId),
    /// A model call.
    Model(EffectId),
    /// None: it needs evidence that is null.
    None,
}

impl EvidenceState {
    pub(super) fn new(source: EvidenceSource, since: u64) -> Self {
        Self { source, since, found: None, text: None, nulled: None, saved: 0 }
    }
}

impl PlanProgress {
    /// The plan that a piece of evidence follows.
    pub fn plan_of(&self, evidence: EvidenceId) -> Option<&PlanStep> {
        let steps = &self.plan.as_ref()?.steps;
        steps.iter().find(|plan| plan.evidence.iter().any(|known| known.id == evidence))
    }

    /// Tokens of results that did not reach the solver.
    pub fn saved(&self) -> u64 {
        self.evidence.values().fold(0, |sum, evidence| sum.saturating_add(evidence.saved))
    }

    /// Whether the final form of this evidence is known.
    pub fn is_found(&self, evidence: EvidenceId) -> bool {
        self.evidence.get(&evidence).is_some_and(|evidence| evidence.found.is_some())
    }

    /// The number of pieces of evidence that reach the solver as null.
    pub fn nulled(&self) -> usize {
        self.evidence.values().filter(|evidence| evidence.nulled.is_some()).count()
    }
}
