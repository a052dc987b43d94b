//! The candidates of a budget plan: the data about each, independent of the knobs. They suffice to compute the plan
//! again with other knobs.

use serde::{Deserialize, Serialize};

use crate::finite::Finite;
use crate::id::ToolName;

/// The data about a tool for the current task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownTool {
    pub tool: ToolName,
    /// Statistics of the tool's use in past queries.
    pub past: PastResults,
    /// Uses beyond its limit, for a tool that has helped and that the agent misses.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// Set if it matches a need that the agent stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacked: Option<Lack>,
    /// Set if the agent was offered the tool and declined it: the number of the task's tool uses then. Until the next
    /// use the tool is not planned, so that other tools get their turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<u32>,
}

/// Statistics of a tool's past uses: for each estimator, the value of a use and the most uses, before `tau` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PastResults {
    /// Past uses; without any the numbers below mean nothing.
    pub uses: u32,
    pub smoothed: (Finite, u32),
    pub paper: (Finite, u32),
}

/// A need that a tool may meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lack {
    /// In the agent's words.
    pub need: String,
    /// The tool's uses when the agent stated the need; one more use meets it.
    pub used: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl KnownTool {
    /// A tool that the agent has not judged yet.
    pub fn new(tool: ToolName, past: PastResults) -> Self {
        Self { tool, past, more: 0, lacked: None, declined: None }
    }
}
