//! Last cause that moved the weights of the graph.

use crate::event::{ChangeEvent, Event, GraphEvent};
use crate::id::{TaskId, ToolName};
use crate::{knob::Knob, state::State};

/// Cause that moved weights, and the value that it replaced.
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

impl Cause {
    /// Returns a change of the user as a cause, if it moved weights.
    fn of(change: &Event) -> Option<Self> {
        match change {
            Event::Change(ChangeEvent::KnobTurned {
                knob: knob @ (Knob::Alpha | Knob::Beta),
                was,
                ..
            }) => Some(Cause::Knob { knob: *knob, was: f64::from(*was) }),
            Event::Graph(GraphEvent::ScoreSet { tool, was, .. }) => {
                Some(Cause::Score { tool: tool.clone(), was: f64::from(*was) })
            }
            Event::Graph(GraphEvent::WeightPinned { from, to, was, .. }) => {
                Some(Cause::Pin { from: from.clone(), to: to.clone(), was: was.map(f64::from) })
            }
            Event::Graph(GraphEvent::WeightUnpinned { from, to, was, .. }) => {
                Some(Cause::Pin { from: from.clone(), to: to.clone(), was: Some(f64::from(*was)) })
            }
            _ => None,
        }
    }
}

impl State {
    /// Returns the last cause that moved weights and was not undone: a change, or else the evaluation before it.
    pub fn last_move(&self) -> Option<Cause> {
        let (n, task) = self.learning.evaluated.unzip();
        let changes = self.control.changes.undo.iter().rev();
        let mut since = changes.take_while(|change| n.is_none_or(|n| change.last > n));
        let cause = since.find_map(|change| Cause::of(&change.event));
        cause.or(task.map(|task| Cause::Evaluation { task }))
    }
}
