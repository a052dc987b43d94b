//! Runs beside the first.

use serde::{Deserialize, Serialize};

use crate::strategy::Strategy;

/// How a run differs from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// Its own strategy; `None`: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
}
