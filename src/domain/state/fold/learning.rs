//! The fold of learned data about the tool graph.

use super::Family;
use crate::event::GraphEvent;
use crate::id::TaskId;
use crate::state::{State, What};

impl State {
    fn apply_graph(&mut self, event: &GraphEvent) {
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
                self.learning.set_score(task, tool, f64::from(*score));
            }
            GraphEvent::WeightPinned { from, to, weight, .. } => {
                self.learning.pin(from, to, f64::from(*weight));
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
}
