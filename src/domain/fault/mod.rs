//! Faults: a target, a trigger and a kind. Pure: the engine asks for the target, whether a fault
//! fires, and for its outcome; the engine does the waiting.

mod grammar;
mod inject;
mod kind;
mod sentence;
mod target;
mod trigger;

use serde::{Deserialize, Serialize};

pub use grammar::{FAULT_SYNTAX, target_text};
pub use kind::FaultKind;
pub use target::{Aim, Sort, Target};
pub use trigger::{Occasion, Trigger};

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
    pub fn crash(target: Target) -> Self {
        Self { target, kind: FaultKind::crash(), trigger: Trigger::default() }
    }

    /// Whether the fault fires on this occasion.
    pub fn fires(&self, occasion: Occasion) -> bool {
        self.trigger.holds(occasion)
    }
}
