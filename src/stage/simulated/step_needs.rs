//! Needs of the steps of a reference chain, in the words of an agent. The agent knows the task and its earlier results.
//! It knows neither the tool for a step nor a result before the call.

use serde_json::Value;

use super::blank::{GAP, about, blanks};
use crate::domain::Task;

/// Describes the need of the step at `at`, before the results of earlier steps are known.
pub(super) fn need(task: &Task, at: usize) -> String {
    about(&task.chain[at].arguments, &blanks(task, at)).replace(GAP, "that result")
}

/// Describes the need of a step with these arguments.
pub(super) fn need_now(arguments: &Value) -> String {
    about(arguments, &[])
}
