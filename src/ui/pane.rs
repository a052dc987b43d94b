//! The regions of the screen, by name. What they show is in [`super::panes`].

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// A region of the screen, in the order of the number keys.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
pub enum PaneId {
    /// Where the agent is and where it can go.
    #[default]
    Graph,
    /// What happened, line by line.
    Transcript,
    /// The tools: score, trend, weight, calls, faults.
    Tools,
    Knobs,
    /// Roles, the models bound to them, and what they used.
    Models,
    /// A lane for each call, live.
    Calls,
    Tasks,
    /// What the task may cost, what was planned for it, and what it has cost.
    Budget,
    /// What a planner wrote.
    Plan,
    /// Where a search has been.
    Search,
}

impl PaneId {
    /// Every pane, in this order.
    pub const ALL: &[PaneId] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}
