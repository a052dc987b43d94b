//! Runs beside the first, and conversations of watched agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{Drift, Guest};
use crate::strategy::Strategy;

/// How a run differs from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// Strategy of the run; `None`: the session's strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The conversation of a watched agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Arc<Guest>>,
    /// Number of times that its past was rewritten.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rewritten: u32,
}

/// Data about the watched agents that a session watches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The agent that was started with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Exit code of that agent, once it has ended; the inner `None`: a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Option<i32>>,
    /// Whether encrypted connections are opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub intercepts: bool,
    /// Requests that are always passed on, such as embeddings.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed: u32,
    /// The same by their API, or by method and path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, u32>,
    /// Requests that were passed on because they were not understood.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_understood: u32,
    /// The first results that differed from those of the record, and their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drifts: Vec<Arc<Drift>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drifted: u32,
}

impl Watched {
    /// The most differing results that are kept.
    const DRIFTS: usize = 1_000;

    pub(super) fn drifts(&mut self, drift: &Arc<Drift>) {
        self.drifted = self.drifted.saturating_add(1);
        if self.drifts.len() < Self::DRIFTS {
            self.drifts.push(Arc::clone(drift));
        }
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
