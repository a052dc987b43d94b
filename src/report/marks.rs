//! Marks on calls in a report: problems of which the agent is not told.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::TaskReport;
use crate::domain::state::CallMark;
use crate::domain::{EffectId, Gone, State, TaskState};
use crate::ui::marks;

/// A cut answer, unread input, a cache that did not help, dropped messages, or a lost result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkReport {
    /// The marked call.
    pub call: EffectId,
    pub mark: &'static str,
    pub text: String,
    /// The messages that the agent dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Arc<Gone>>,
}

impl MarkReport {
    /// Marks of a task, in the order of its calls.
    pub fn all(state: &State, task: &TaskState) -> Vec<Self> {
        let mut calls: Vec<EffectId> =
            task.model_calls.iter().chain(&task.tool_calls).copied().collect();
        calls.sort_unstable();
        let of_call =
            |call: EffectId| state.marks(call).into_iter().map(move |mark| Self::of(call, &mark));
        calls.into_iter().flat_map(of_call).collect()
    }

    fn of(call: EffectId, mark: &CallMark<'_>) -> Self {
        let gone = match mark {
            CallMark::Rewritten(past) => past.gone.clone(),
            _ => None,
        };
        Self { call, mark: mark.name(), text: marks::long(mark), gone }
    }
}

/// The number of marks of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts(BTreeMap<&'static str, usize>);

impl MarkCounts {
    pub(super) fn add(&mut self, task: &TaskReport) {
        for mark in &task.marks {
            *self.0.entry(words(mark.mark)).or_default() += 1;
        }
    }

    /// The kinds with their numbers, such as `cut answers 2, lost prefixes 1`; empty without marks.
    pub fn summary(&self) -> String {
        let each = self.0.iter().map(|(kind, n)| format!("{kind} {n}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

fn words(mark: &'static str) -> &'static str {
    match mark {
        "cut_answer" => "cut answers",
        "dropped_input" => "requests not read in full",
        "lost_prefix" => "lost prefixes",
        "rewritten" => "rewritten histories",
        _ => "calls without a result",
    }
}
