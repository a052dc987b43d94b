//! The learned knowledge: the graph's prior, the scores and their history, and the user's pins.
//! Weights are derived from these and the knobs, and never stored.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::rolling_list::RollingList;
use crate::event::ToolVerdict;
use crate::finite::Finite;
use crate::graph::{Pins, Scores, ToolGraph};
use crate::id::{TaskId, ToolName};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    pub graph: ToolGraph,
    pub scores: Scores,
    pub pins: Pins,
    /// The score of a tool after each task that scored it, and after each edit.
    pub history: IndexMap<ToolName, RollingList<ScorePoint>>,
    /// The whole graph, while `graph` leaves the current task's own trajectory out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) whole: Option<Box<ToolGraph>>,
    /// The last evaluation that moved weights: its event and its task.
    #[serde(default)]
    pub(super) evaluated: Option<(u64, TaskId)>,
}

/// A tool's score at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScorePoint {
    /// The task that was current or had just ended; 0 before the first.
    pub task: TaskId,
    pub score: Finite,
}

impl Learning {
    pub fn score(&self, tool: &ToolName) -> f64 {
        self.scores.get(tool.as_str()).unwrap_or(0.0)
    }

    /// The graph with all that it was learned from, even while the trajectory of a task is left out.
    pub fn whole(&self) -> &ToolGraph {
        self.whole.as_deref().unwrap_or(&self.graph)
    }

    /// Leaves the trajectory of a task out of the graph that it was learned from.
    pub(super) fn leave_out(&mut self, calls: &[ToolName]) {
        self.put_back();
        let less = self.graph.without(calls);
        self.whole = Some(Box::new(std::mem::replace(&mut self.graph, less)));
    }

    /// Puts back what was left out. Explored edges, and tools that joined or left since then, stay as they are.
    pub(super) fn put_back(&mut self) {
        let Some(mut whole) = self.whole.take() else { return };
        for tool in self.graph.tools() {
            whole.add_tool(tool.clone());
        }
        let gone: Vec<_> =
            whole.tools().filter(|tool| !self.graph.contains(tool.as_str())).cloned().collect();
        for tool in gone {
            whole.remove_tool(tool.as_str());
        }
        for edge in self.graph.edges().iter().filter(|edge| edge.count == 0) {
            whole.add_edge(edge.from.as_str(), edge.to.as_str());
        }
        self.graph = *whole;
    }

    pub(super) fn pin(&mut self, from: &ToolName, to: &ToolName, weight: f64) {
        // The engine checks weights before it makes events of them, as it does scores.
        let _ = self.pins.set(from.clone(), to.clone(), weight);
    }

    pub(super) fn load(&mut self, graph: &ToolGraph, scores: &BTreeMap<ToolName, Finite>) {
        let known: Vec<_> = self.graph.tools().cloned().collect();
        self.graph = graph.clone();
        for tool in known {
            self.graph.add_tool(tool);
        }
        for (tool, score) in scores {
            self.set_score(None, tool, **score);
        }
    }

    pub(super) fn evaluate(&mut self, n: u64, task: TaskId, verdicts: &[ToolVerdict]) {
        self.evaluated = Some((n, task));
        for verdict in verdicts {
            let score = self.score(&verdict.tool) + f64::from(verdict.score);
            self.set_score(Some(task), &verdict.tool, score);
        }
    }

    pub(super) fn set_score(&mut self, task: Option<TaskId>, tool: &ToolName, score: f64) {
        // The engine checks scores before it makes events of them; a damaged journal changes nothing.
        if self.scores.set(tool.clone(), score).is_err() {
            return;
        }
        let point = ScorePoint { task: task.unwrap_or_default(), score: score.into() };
        self.history.entry(tool.clone()).or_default().push(point);
    }
}
