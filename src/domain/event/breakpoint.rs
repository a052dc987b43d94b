//! Breakpoints: set, switched, deleted and hit.

use super::{Boundary, By, Lane, family::family};
use crate::{breakpoint::BreakpointSpec, id::BreakpointId};

fn is_true() -> bool {
    true
}

family! {
    /// Breakpoints: set, switched, deleted and hit.
    pub enum BreakpointEvent {
        BreakpointSet {
            breakpoint: BreakpointId,
            spec: Box<BreakpointSpec>,
            /// Breakpoint before the change; `None`: it is new.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            was: Option<Box<BreakpointSpec>>,
            #[serde(default = "is_true", skip_serializing_if = "Clone::clone")]
            on: bool,
            /// Whether the breakpoint is deleted at the next pause, because it only marks the end of a run to a place.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            temporary: bool,
            by: By,
        },
        BreakpointSwitched {
            breakpoint: BreakpointId,
            on: bool,
            by: By,
        },
        BreakpointDeleted {
            breakpoint: BreakpointId,
            spec: Box<BreakpointSpec>,
            #[serde(default = "is_true", skip_serializing_if = "Clone::clone")]
            on: bool,
            by: By,
        },
        /// A breakpoint matched, and its condition held.
        BreakpointHit {
            breakpoint: BreakpointId,
            /// Where; `None`: a value changed, or something happened between calls.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            lane: Option<Lane>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            boundary: Option<Boundary>,
            /// Whether the agent stops here; otherwise the hit is only counted.
            holds: bool,
            /// Text that the breakpoint logs, or the change of the value.
            #[serde(default, skip_serializing_if = "String::is_empty")]
            text: String,
        },
    }
}
