//! The regions of the screen, by name. Their contents are in [`super::panes`].

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::domain::words;

/// A region of the screen, in the order of the number keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, VariantArray, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
pub enum PaneId {
    /// The agent's position and possible next tools.
    #[default]
    Graph,
    /// Events, line by line.
    Transcript,
    /// The tools: score, trend, weight, calls, faults.
    Tools,
    Knobs,
    /// Roles, the models bound to them, and what they used.
    Models,
    /// A lane for each call, live.
    Calls,
    Tasks,
    /// Limit of the task's cost, the cost that was planned, and the cost so far.
    Budget,
    /// The plan that a planner wrote.
    Plan,
    /// The program of a task, line by line.
    Program,
    /// The variables of the program where it is held.
    Variables,
    /// The programs of a task, and what each changed.
    Revisions,
    /// Findings about the results of tools, learned by calling them.
    Probing,
    /// Output of a model that reads along: where calls start, and which tools match.
    Reading,
    /// How the agent takes the failure of a tool.
    Resilience,
    /// The nodes that a search has visited.
    Search,
    /// The places where the agent stops.
    Breakpoints,
    /// Expressions and their values.
    Watches,
    /// The conversations of watched agents, or the runs.
    Conversations,
    /// The lines of a watched agent's process.
    Output,
    /// The servers of tools.
    Servers,
    /// The problems of the agents, and what the model did next.
    Problems,
    /// The messages of the selected model call, the newest first.
    Prompt,
    /// The calls of the session and of its twin beside each other.
    Twin,
}

impl PaneId {
    /// Every pane, in the order of declaration.
    pub const ALL: &[PaneId] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for PaneId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().copied();
        let found = all.find(|pane| pane.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let names: Vec<String> =
                Self::ALL.iter().map(|pane| pane.name().to_lowercase()).collect();
            let known = words::expected(text, names.iter().map(String::as_str));
            format!("there is no pane {text:?}; {known}")
        })
    }
}
