//! Faults: a target, a trigger and a kind. Pure: the engine asks whether a fault fires, and for its
//! outcome; the engine does the waiting.

mod grammar;
mod inject;
mod kind;
mod preset;
mod quoted;
mod sentence;
mod settings;
mod spoil;
mod text;
mod trigger;

use serde::{Deserialize, Serialize};

use crate::target::Target;

pub use grammar::FAULT_HELP;
pub use kind::{Drift, FaultKind, Scores, Spread};
pub use preset::Preset;
pub use text::canary_in;
pub use trigger::{FaultProgress, Occasion, Trigger};

/// A fault, armed or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultSpec {
    pub target: Target,
    pub kind: FaultKind,
    #[serde(default)]
    pub trigger: Trigger,
}

impl FaultSpec {
    /// The fault that one key arms: the target always fails.
    pub fn outage(target: Target) -> Self {
        Self { target, kind: FaultKind::outage(), trigger: Trigger::default() }
    }

    /// Checks whether the fault can act on a watched agent.
    ///
    /// # Errors
    /// A watched agent lacks a part that the fault needs.
    pub fn of_foreign(&self) -> Result<(), String> {
        match self.kind {
            FaultKind::Scores { .. } => Err("a watched agent has no evaluator".to_owned()),
            _ => self.target.of_foreign(),
        }
    }

    /// Whether the fault fires on this occasion.
    pub fn fires(&self, occasion: &Occasion) -> bool {
        self.trigger.holds(occasion) && self.kind.is_down(&occasion.progress)
    }

    /// Whether the fault can never fire again.
    pub fn is_over(&self, progress: &FaultProgress) -> bool {
        self.trigger.is_over(progress) || self.kind.has_recovered(progress)
    }
}
