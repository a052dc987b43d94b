//! Faults, armed or not.

use serde::{Deserialize, Serialize};

use super::State;
use crate::fault::{FaultKind, FaultSpec};
use crate::words::{counted, expected};
use crate::{ToolName, id::TaskId, target::Aim, target::Target};

/// A fault and how often it fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultState {
    pub spec: FaultSpec,
    pub armed: bool,
    /// The first task that it could hit since it was armed.
    #[serde(default)]
    pub from: TaskId,
    /// The task during or after which it was disarmed; `None`: it is armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TaskId>,
    /// Whether the fault can never fire again, and has disarmed itself. Calls that it has already selected still fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// Calls that matched since the fault was armed, and how many of them were selected.
    pub seen: u32,
    #[serde(default)]
    pub chosen: u32,
    /// Microseconds of the session at which the fault was armed, and at which it first selected a call after that.
    #[serde(default)]
    pub armed_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_at: Option<u64>,
    pub fired: u32,
}

impl State {
    /// The tool of a target, if the session knows tools, but not this one.
    pub fn unknown_tool<'t>(&self, target: &'t Target) -> Option<&'t ToolName> {
        match target {
            Target::Tool(tool) if !self.tools.is_empty() && !self.tools.contains_key(tool) => {
                Some(tool)
            }
            _ => None,
        }
    }
}

impl FaultState {
    /// Whether the fault is armed and matches this effect.
    pub fn is_armed_on(&self, aim: &Aim<'_>) -> bool {
        self.armed && self.spec.target.matches(aim)
    }

    /// Why the fault hit no call; `None` if it hit one.
    pub fn idle(&self, state: &State) -> Option<String> {
        (self.fired == 0).then(|| match (state.unknown_tool(&self.spec.target), self.seen) {
            (Some(tool), 0) => format!(
                "could not hit anything: there is no tool {tool}; {}",
                expected(tool.as_str(), state.tools.keys().map(ToolName::as_str))
            ),
            (_, 0) => "could not hit anything: no call of its target was asked".to_owned(),
            (_, seen) => format!("hit none of {}", counted(seen, "call")),
        })
    }

    /// The time in microseconds of the session when the fault ends by itself, if it does.
    pub fn ends_at(&self) -> Option<u64> {
        let after = |at: u64, seconds: u32| at.saturating_add(u64::from(seconds) * 1_000_000);
        let timed = self.spec.trigger.seconds.map(|seconds| after(self.armed_at, seconds));
        let recovers = match self.spec.kind {
            FaultKind::RateLimit { retry_after } => self.first_at.map(|at| after(at, retry_after)),
            _ => None,
        };
        timed.into_iter().chain(recovers).min()
    }
}
