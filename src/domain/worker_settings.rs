//! How the calls of a plan are made, as it is configured.

use serde::{Deserialize, Serialize};

use crate::domain::{null_filter::NullFilter, tool_class::ToolClasses};

/// The settings of planner, workers and solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerSettings {
    /// What tools are sorted into where their manifests do not say.
    pub classes: ToolClasses,
    /// Which results reach the solver as null.
    pub null: NullFilter,
    /// How long one call may take, in milliseconds; a tool's own limit counts where it is shorter.
    pub timeout_ms: u64,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { classes: ToolClasses::default(), null: NullFilter::default(), timeout_ms: 60_000 }
    }
}
