//! The learned knowledge: the graph's prior, the scores and their history, and the user's pins.
//! Weights are derived from these and the knobs, and never stored.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;

use super::{State, What, family::Family};
use crate::domain::event::{ChangeEvent, Event, GraphEvent, Verdict};
use crate::domain::graph::{Pins, Scores, ToolGraph};
use crate::domain::id::{TaskId, ToolName};
use crate::domain::{command::Command, knob::Knob};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Learning {
    pub graph: ToolGraph,
    pub scores: Scores,
    pub pins: Pins,
    /// The score of a tool after each task that scored it, and after each edit.
    pub history: IndexMap<ToolName, Vec<ScorePoint>>,
    /// The last evaluation that moved weights: its event and its task.
    #[serde(skip)]
    evaluated: Option<(u64, TaskId)>,
}

/// What moved weights, and the value that it replaced.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The evaluation of this task, whose verdicts are in the task.
    Evaluation { task: TaskId },
    /// The user turned alpha or beta.
    Knob { knob: Knob, was: f64 },
    /// The user set the score of a tool.
    Score { tool: ToolName, was: f64 },
    /// The user pinned a weight, or unpinned it.
    Pin { from: ToolName, to: ToolName, was: Option<f64> },
}

/// A tool's score at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScorePoint {
    /// The task that was current or had just ended; 0 before the first.
    pub task: TaskId,
    pub score: f64,
}

impl Learning {
    pub fn score(&self, tool: &ToolName) -> f64 {
        self.scores.get(tool.as_str()).unwrap_or(0.0)
    }

    fn pin(&mut self, from: &ToolName, to: &ToolName, weight: f64) {
        // The engine checks weights before it makes events of them, as it does scores.
        let _ = self.pins.set(from.clone(), to.clone(), weight);
    }

    fn load(&mut self, graph: &ToolGraph, scores: &BTreeMap<ToolName, f64>) {
        let known: Vec<_> = self.graph.tools().cloned().collect();
        self.graph = graph.clone();
        for tool in known {
            self.graph.add_tool(tool);
        }
        for (tool, score) in scores {
            self.set_score(None, tool, *score);
        }
    }

    fn evaluate(&mut self, n: u64, task: TaskId, verdicts: &[Verdict]) {
        self.evaluated = Some((n, task));
        for verdict in verdicts {
            let score = self.score(&verdict.tool) + f64::from(verdict.score);
            self.set_score(Some(task), &verdict.tool, score);
        }
    }

    fn set_score(&mut self, task: Option<TaskId>, tool: &ToolName, score: f64) {
        // The engine checks scores before it makes events of them; a damaged journal changes nothing.
        if self.scores.set(tool.clone(), score).is_err() {
            return;
        }
        let point = ScorePoint { task: task.unwrap_or_default(), score };
        self.history.entry(tool.clone()).or_default().push(point);
    }
}

impl Cause {
    /// What a change of the user did to weights, if anything.
    fn of(change: &Event) -> Option<Self> {
        match change {
            Event::Change(ChangeEvent::KnobTurned {
                knob: knob @ (Knob::Alpha | Knob::Beta),
                was,
                ..
            }) => Some(Cause::Knob { knob: *knob, was: *was }),
            Event::Graph(GraphEvent::ScoreSet { tool, was, .. }) => {
                Some(Cause::Score { tool: tool.clone(), was: *was })
            }
            Event::Graph(GraphEvent::WeightPinned { from, to, was, .. }) => {
                Some(Cause::Pin { from: from.clone(), to: to.clone(), was: *was })
            }
            Event::Graph(GraphEvent::WeightUnpinned { from, to, was, .. }) => {
                Some(Cause::Pin { from: from.clone(), to: to.clone(), was: Some(*was) })
            }
            _ => None,
        }
    }
}

impl State {
    /// What moved weights last and was not undone: a change, or else the evaluation before it.
    pub fn last_move(&self) -> Option<Cause> {
        let (n, task) = self.learning.evaluated.unzip();
        let changes = self.control.changes.undo.iter().rev();
        let mut since = changes.take_while(|change| n.is_none_or(|n| change.last > n));
        let cause = since.find_map(|change| Cause::of(&change.event));
        cause.or(task.map(|task| Cause::Evaluation { task }))
    }

    pub(super) fn apply_graph(&mut self, event: &GraphEvent) {
        match event {
            GraphEvent::GraphLoaded { graph, scores } => self.learning.load(graph, scores),
            GraphEvent::Evaluated { task, verdicts, learned } => {
                if *learned {
                    self.learning.evaluate(self.n, *task, verdicts);
                    verdicts.iter().for_each(|said| self.control.changes.keep_learned(said));
                }
                if let Some(task) = self.task_mut(*task) {
                    task.verdicts.clone_from(verdicts);
                }
            }
            GraphEvent::EdgeExplored { from, to } => {
                self.learning.graph.add_edge(from.as_str(), to.as_str());
            }
            GraphEvent::ScoreSet { tool, score, .. } => {
                let task = self.shown_task().map(|task| task.id);
                self.learning.set_score(task, tool, *score);
            }
            GraphEvent::WeightPinned { from, to, weight, .. } => {
                self.learning.pin(from, to, *weight);
            }
            GraphEvent::WeightUnpinned { from, to, .. } => {
                self.learning.pins.remove(from.as_str(), to.as_str());
            }
            GraphEvent::EvaluationRefused { .. } => {}
        }
    }
}

impl Family for GraphEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_graph(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            GraphEvent::Evaluated { task, learned, .. } => {
                Some((Some(*task), What::Evaluated { learned: *learned }))
            }
            GraphEvent::GraphLoaded { .. } => None,
            GraphEvent::EvaluationRefused { .. }
            | GraphEvent::EdgeExplored { .. }
            | GraphEvent::ScoreSet { .. }
            | GraphEvent::WeightPinned { .. }
            | GraphEvent::WeightUnpinned { .. } => What::told(self.clone()),
        }
    }

    fn opposite(&self) -> Option<Command> {
        match self {
            GraphEvent::ScoreSet { tool, was, .. } => {
                Some(Command::SetScore { tool: tool.clone(), score: *was })
            }
            GraphEvent::WeightPinned { from, to, was, .. } => {
                let (from, to) = (from.clone(), to.clone());
                Some(match was {
                    Some(weight) => Command::PinWeight { from, to, weight: *weight },
                    None => Command::UnpinWeight { from, to },
                })
            }
            GraphEvent::WeightUnpinned { from, to, was, .. } => {
                let (from, to) = (from.clone(), to.clone());
                Some(Command::PinWeight { from, to, weight: *was })
            }
            GraphEvent::GraphLoaded { .. }
            | GraphEvent::Evaluated { .. }
            | GraphEvent::EvaluationRefused { .. }
            | GraphEvent::EdgeExplored { .. } => None,
        }
    }
}
