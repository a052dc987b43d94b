//! Configuration of the calls of a plan.

use serde::{Deserialize, Serialize};

use crate::{null_filter::NullFilter, tool_class::ToolClasses};

/// The settings of planner, workers and solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerSettings {
    /// The classes for tools whose manifests declare none.
    pub classes: ToolClasses,
    /// Filter of the results that reach the solver as null.
    pub null: NullFilter,
    /// Time limit of one call, in milliseconds; a tool's own limit counts if it is shorter.
    pub timeout_ms: u64,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { classes: ToolClasses::default(), null: NullFilter::default(), timeout_ms: 60_000 }
    }
}
