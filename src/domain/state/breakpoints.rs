//! Breakpoints and their hits, and why the agent was stopped.

use serde::{Deserialize, Serialize};

use crate::breakpoint::BreakpointSpec;
use crate::event::{Boundary, Lane};
use crate::id::BreakpointId;

/// A breakpoint and how often it was hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointState {
    pub spec: BreakpointSpec,
    pub on: bool,
    /// Whether the breakpoint is deleted at the next pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Times at which it matched.
    pub hits: u32,
    /// Times at which it stopped the agent.
    pub stops: u32,
    /// The event of its last hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
}

/// A breakpoint has stopped the agent, which has not been resumed since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointStop {
    pub breakpoint: BreakpointId,
    /// The agent was to run to this place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_sought: bool,
    /// The place as it was written, also for a breakpoint that has been deleted.
    pub place: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
    /// How the value changed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Microseconds since the session was opened.
    pub since: u64,
}

impl BreakpointState {
    pub(super) fn new(spec: BreakpointSpec, on: bool, temporary: bool) -> Self {
        Self { spec, on, temporary, hits: 0, stops: 0, last: None }
    }
}
