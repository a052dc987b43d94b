//! What a step of a reference chain needs, in the words of an agent. It knows the task and what it
//! has found, but no tool that would do the step and no result before it is there.

use super::blank::{GAP, about, blanks};
use super::guess::arithmetic;
use crate::domain::Task;

/// What the step at `at` needs, as a clause: `to find out: birthplace of that`.
pub(super) fn need(task: &Task, at: usize) -> String {
    clause(&about(&task.chain[at].arguments, &blanks(task, at)))
}

/// The same where the arguments are known as far as they are needed.
pub(super) fn clause(wanted: &str) -> String {
    let is_sum =
        arithmetic(&wanted.replace(GAP, "0")).is_some_and(|sum| sum.len() * 2 > wanted.len());
    let verb = if is_sum { "to work out" } else { "to find out" };
    format!("{verb}: {}", wanted.replace(GAP, "that result"))
}
