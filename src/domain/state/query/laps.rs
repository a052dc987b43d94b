//! A task in short, from its calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::{TaskId, ToolName};
use crate::state::{Lap, State, ToolCallPhase, ToolCallState, Tried, TriedEnd};

/// The shortest argument text by which two calls count as requests for the same thing.
const TELLING: usize = 3;

impl State {
    /// A task in short; `None` for a task that probes tools, which shows nothing about the agent. The details of the
    /// task must still be there.
    pub fn lap(&self, id: TaskId) -> Option<Lap> {
        let task = self.task(id).filter(|task| task.task.probe.is_none())?;
        let calls: Vec<_> =
            task.tool_calls.iter().filter_map(|call| self.tool_call(*call)).collect();
        let ends: Vec<TriedEnd> = calls.iter().map(|call| self.end_of(call)).collect();
        let failed = calls.iter().zip(&ends).filter(|(_, end)| end.is_bad());
        let failed = Failed::of(failed.map(|(call, _)| *call));
        let tried = calls.iter().zip(&ends).map(|(call, end)| {
            let instead_of = failed.instead_of(call).cloned();
            Tried { tool: call.tool.clone(), end: *end, instead_of }
        });
        let tried = tried.collect();
        Some(Lap {
            task: id,
            outcome: task.outcome(),
            correct: task.correct,
            tried,
            hits: self.hits(task),
            tokens: task.tokens(),
            credits: task.credits().into(),
            dollars: task.dollars,
            micros: task.started.zip(task.ended).map_or(0, |(from, to)| to.saturating_sub(from)),
        })
    }

    /// The laps of all tasks that have ended as far as they are kept, and of those at work.
    pub fn laps_with_current(&self) -> Vec<Lap> {
        let current = self.at_work.tasks().filter_map(|task| self.lap(task));
        in_order(self.laps.iter().cloned().chain(current))
    }

    /// The laps that are kept, in the order of their tasks; several runs end their tasks in another order.
    pub fn laps_in_order(&self) -> Vec<Lap> {
        in_order(self.laps.iter().cloned())
    }

    fn end_of(&self, call: &ToolCallState) -> TriedEnd {
        let fault = call.injected.and_then(|fault| self.faults.get(&fault));
        // A call that a fault only delays has its own outcome.
        let is_spoilt = fault.is_some_and(|fault| !fault.spec.kind.keeps_answer());
        match &call.phase {
            ToolCallPhase::Requested | ToolCallPhase::Running => TriedEnd::Open,
            ToolCallPhase::Refused { .. } => TriedEnd::Refused,
            ToolCallPhase::Done { .. } | ToolCallPhase::Failed { .. } if is_spoilt => {
                TriedEnd::Injected
            }
            ToolCallPhase::Done { output } if output.text.trim().is_empty() => TriedEnd::Empty,
            ToolCallPhase::Done { .. } => TriedEnd::Ok,
            ToolCallPhase::Failed { .. } => TriedEnd::Failed,
        }
    }
}

/// The calls of a task that failed, by the texts of their arguments: for each text the first call of each tool, so that
/// a task of many thousand calls is looked through once.
struct Failed<'a>(BTreeMap<String, Vec<(usize, &'a ToolName)>>);

impl<'a> Failed<'a> {
    fn of(calls: impl Iterator<Item = &'a ToolCallState>) -> Self {
        let mut failed: BTreeMap<String, Vec<(usize, &ToolName)>> = BTreeMap::new();
        for (at, call) in calls.enumerate() {
            each_text(&call.arguments, &mut |text| {
                let first = failed.entry(text.to_lowercase()).or_default();
                if first.iter().all(|(_, tool)| **tool != call.tool) {
                    first.push((at, &call.tool));
                }
            });
        }
        Self(failed)
    }

    /// The tool of the first failed call that shares an argument with this call of another tool.
    fn instead_of(&self, call: &ToolCallState) -> Option<&'a ToolName> {
        if self.0.is_empty() {
            return None;
        }
        let mut found: Option<(usize, &ToolName)> = None;
        each_text(&call.arguments, &mut |text| {
            let same = self.0.get(&text.to_lowercase());
            let other = same.into_iter().flatten().filter(|(_, tool)| **tool != call.tool);
            found = found.into_iter().chain(other.copied()).min_by_key(|(at, _)| *at);
        });
        found.map(|(_, tool)| tool)
    }
}

fn in_order(laps: impl Iterator<Item = Lap>) -> Vec<Lap> {
    let mut laps: Vec<Lap> = laps.collect();
    laps.sort_by_key(|lap| lap.task);
    laps
}

/// Whether two calls share the text of an argument.
pub(super) fn asks_the_same(one: &ToolCallState, other: &ToolCallState) -> bool {
    let mut texts = Vec::new();
    each_text(&one.arguments, &mut |text| texts.push(text.to_lowercase()));
    let mut is_shared = false;
    each_text(&other.arguments, &mut |text| is_shared |= texts.contains(&text.to_lowercase()));
    is_shared
}

fn each_text(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) if text.trim().chars().count() >= TELLING => see(text.trim()),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
