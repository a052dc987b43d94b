//! Totals of a session. Its last event records them, so that a list of sessions need not read whole journals.

use crate::finite::Finite;
use serde::{Deserialize, Serialize};

/// Totals of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Tasks, ended or not.
    pub tasks: usize,
    pub done: usize,
    /// Tasks that ended, could be judged and are right.
    pub right: usize,
    pub judged: usize,
    /// US dollars of the model calls with a known price; `None` if an earlier version could not count an amount that
    /// large.
    #[serde(default)]
    pub dollars: Option<Finite>,
    /// Model calls without a known price; if above 0, `dollars` is a lower bound.
    pub unpriced: u32,
    /// Whether any of `dollars` is by list prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    pub model_calls: usize,
    /// The targets of the faults that were armed, as in `--fault`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Changes by a person.
    pub edits: u64,
}
