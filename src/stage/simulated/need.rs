//! What a step of a reference chain needs, in the words of an agent. It knows the task and what it
//! has found, but no tool that would do the step and no result before it is there.

use serde_json::Value;

use super::blank::{GAP, about, blanks};
use crate::domain::Task;

/// What the step at `at` needs, before the results of earlier steps are known.
pub(super) fn need(task: &Task, at: usize) -> String {
    about(&task.chain[at].arguments, &blanks(task, at)).replace(GAP, "that result")
}

/// What a step with these arguments needs.
pub(super) fn need_now(arguments: &Value) -> String {
    about(arguments, &[])
}
