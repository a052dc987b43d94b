//! Counts of the calls of watched agents that followed each other: what came after what, and how often.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::id::{EffectId, TaskId, ToolName};

/// Number of edges that are counted one by one.
const EDGES: usize = 4096;
/// Number of different tools of one answer that are counted: an answer may have any number.
const WIDE: usize = 64;

/// Edges between the tools of watched agents, `start` and `end`, with how often each was taken.
///
/// The calls of one answer, which have the same parent, run together. Each tool of an answer came once after each tool of
/// the answer with calls before it in the same task, or after `start` if there is none. `end` came after the tools of the
/// last answer with calls, when the task is answered. A call without a parent, as a relay sees it, is an answer by
/// itself. A task without calls counts nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Followed {
    counts: IndexMap<ToolName, IndexMap<ToolName, u32>>,
    /// Times beyond the edges and tools that are counted one by one.
    #[serde(default)]
    pub others: u64,
    /// The tasks at work that have calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    at_work: BTreeMap<TaskId, FollowedTask>,
}

/// The last two answers with calls of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FollowedTask {
    before: Vec<ToolName>,
    now: Vec<ToolName>,
    parent: Option<EffectId>,
}

/// An edge and how often it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowedEdge<'a> {
    pub after: &'a ToolName,
    pub came: &'a ToolName,
    pub times: u32,
    /// The part of all times that something came after the same node, from 0 to 1.
    pub share: f64,
}

impl Followed {
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.others == 0
    }

    /// All edges: those after `start`, then by the first time that anything came after a node.
    pub fn edges(&self) -> impl Iterator<Item = FollowedEdge<'_>> {
        self.counts.iter().flat_map(|(after, all)| {
            let sum: f64 = all.values().map(|times| f64::from(*times)).sum();
            all.iter().map(move |(came, times)| FollowedEdge {
                after,
                came,
                times: *times,
                share: f64::from(*times) / sum,
            })
        })
    }

    pub(super) fn call(&mut self, task: TaskId, parent: Option<EffectId>, tool: &ToolName) {
        let mut walk = self.at_work.remove(&task).unwrap_or_default();
        if !walk.call(parent, tool, &mut |after, came| self.count(after, came)) {
            self.others += 1;
        }
        self.at_work.insert(task, walk);
    }

    pub(super) fn finish(&mut self, task: TaskId, is_answered: bool) {
        let walk = self.at_work.remove(&task).filter(|_| is_answered);
        walk.into_iter().for_each(|walk| walk.end(&mut |after, came| self.count(after, came)));
    }

    fn count(&mut self, after: &ToolName, came: &ToolName) {
        let known = self.counts.get(after).is_some_and(|all| all.contains_key(came));
        if !known && self.counts.values().map(IndexMap::len).sum::<usize>() >= EDGES {
            self.others += 1;
            return;
        }
        let times = self.counts.entry(after.clone()).or_default().entry(came.clone()).or_default();
        *times = times.saturating_add(1);
    }
}

impl FollowedTask {
    /// Takes a call, and names the edges that it takes. False: its answer has too many tools to count.
    pub fn call(
        &mut self,
        parent: Option<EffectId>,
        tool: &ToolName,
        edge: &mut dyn FnMut(&ToolName, &ToolName),
    ) -> bool {
        if parent.is_none() || parent != self.parent {
            (self.before, self.parent) = (std::mem::take(&mut self.now), parent);
        }
        let tool = node(tool);
        if self.now.contains(&tool) {
            return true;
        }
        if self.now.len() >= WIDE {
            return false;
        }
        match self.before.is_empty() {
            true => edge(&ToolName::start(), &tool),
            false => self.before.iter().for_each(|before| edge(before, &tool)),
        }
        self.now.push(tool);
        true
    }

    /// Names the edges that the end of an answered task takes.
    pub fn end(self, edge: &mut dyn FnMut(&ToolName, &ToolName)) {
        self.now.iter().for_each(|last| edge(last, &ToolName::end()));
    }
}

/// The node of a tool. A watched agent may call a tool as no tool of toolyard is called.
fn node(tool: &ToolName) -> ToolName {
    if tool.is_special() { ToolName::new(format!("{tool} (tool)")) } else { tool.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(followed: &Followed) -> Vec<String> {
        let said = |edge: FollowedEdge| {
            format!("{} {} {} {:.0} %", edge.after, edge.came, edge.times, 100.0 * edge.share)
        };
        followed.edges().map(said).collect()
    }

    fn call(followed: &mut Followed, task: u32, parent: u32, tool: &str) {
        followed.call(TaskId(task), Some(EffectId(parent)), &tool.into());
    }

    #[test]
    fn calls_of_one_answer_run_together_and_tasks_are_apart() {
        let mut followed = Followed::default();
        for (task, parent, tool) in [
            (1, 1, "a"),
            (1, 1, "b"),
            (2, 4, "b"),
            (1, 1, "a"),
            (1, 9, "c"),
            (2, 5, "b"),
            (3, 6, "end"),
        ] {
            call(&mut followed, task, parent, tool);
        }
        followed.finish(TaskId(1), true);
        followed.finish(TaskId(2), false);
        followed.finish(TaskId(7), true);
        assert_eq!(
            said(&followed),
            [
                "start a 1 25 %",
                "start b 2 50 %",
                "start end (tool) 1 25 %",
                "a c 1 100 %",
                "b c 1 50 %",
                "b b 1 50 %",
                "c end 1 100 %",
            ]
        );
        let json = serde_json::to_string(&followed).unwrap();
        assert_eq!(serde_json::from_str::<Followed>(&json).unwrap(), followed);
    }

    #[test]
    fn a_call_without_a_parent_is_an_answer_by_itself() {
        let mut followed = Followed::default();
        for tool in ["a", "a"] {
            followed.call(TaskId(1), None, &tool.into());
        }
        assert_eq!(said(&followed), ["start a 1 100 %", "a a 1 100 %"]);
    }

    #[test]
    fn edges_and_answers_are_bounded() {
        let mut followed = Followed::default();
        for n in 0..200 {
            call(&mut followed, 1, n / 100, &format!("t{n}"));
        }
        assert_eq!(followed.edges().count(), EDGES);
        assert_eq!(followed.others, 2 * (100 - WIDE as u64) + WIDE as u64);
        call(&mut followed, 2, 201, "t0");
        assert_eq!(said(&followed)[0], "start t0 2 3 %", "known edges count on");
    }
}
