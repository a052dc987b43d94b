//! Faults, armed or not.

use serde::{Deserialize, Serialize};

use crate::domain::fault::{Aim, FaultSpec};
use crate::domain::id::TaskId;

/// A fault and how often it fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultState {
    pub spec: FaultSpec,
    pub armed: bool,
    /// The event that armed it.
    #[serde(default)]
    pub(super) since: u64,
    /// The first task that it could hit since it was armed.
    #[serde(default)]
    pub from: TaskId,
    /// The task during or after which it was disarmed; `None`: it is armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TaskId>,
    /// Requests that matched its target since it was armed.
    pub seen: u32,
    pub fired: u32,
}

impl FaultState {
    /// Whether it is armed and matches this effect.
    pub fn is_armed_on(&self, aim: &Aim<'_>) -> bool {
        self.armed && self.spec.target.matches(aim)
    }
}
