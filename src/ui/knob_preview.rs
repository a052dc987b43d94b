//! The preview of the selected knob. It is computed again only when one of its inputs has changed.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use crate::domain::{Knob, Knobs, Lexical, State, TaskId};
use crate::strategy::preview::Preview;

/// A look one step of a knob ahead.
#[derive(Default)]
pub struct Ahead {
    made: Option<(PreviewKey, Preview)>,
    /// The index of the tools, with a hash of these tools.
    index: Option<(u64, Rc<Lexical>)>,
    /// Whether one step less is shown, not one step more.
    pub is_less: bool,
}

/// Key of a preview: its inputs, in short.
#[derive(Clone, Debug, PartialEq)]
struct PreviewKey {
    knob: Knob,
    knobs: Knobs,
    task: (Option<TaskId>, usize),
    /// Steps, plans and uses of the task at work.
    done: (usize, u32, u32),
    /// Effects that were requested, and effects that have not ended.
    effects: (usize, usize),
    tools: usize,
    scores: usize,
    /// The user's latest change.
    change: u64,
}

impl PreviewKey {
    fn of(state: &State, knob: Knob) -> Self {
        let task = state.task_at_work();
        let done = task.map(|task| (task.steps.len(), task.budget.plans, task.budget.uses()));
        Self {
            knob,
            knobs: state.knobs.clone(),
            task: (state.at_work.shown(), state.tasks_done),
            done: done.unwrap_or_default(),
            effects: (state.effects_requested(), state.effects_in_flight().count()),
            tools: state.tools.len(),
            scores: state.learning.history.values().map(|points| points.len()).sum(),
            change: state.control.changes.undo.last().map_or(0, |change| change.last),
        }
    }
}

impl Ahead {
    /// The preview of the last frame.
    pub fn preview(&self) -> Option<&Preview> {
        self.made.as_ref().map(|(_, preview)| preview)
    }

    /// Looks ahead from this state.
    pub fn look(&mut self, state: &State, knob: Knob) {
        let key = PreviewKey::of(state, knob);
        if self.made.as_ref().is_some_and(|(made, _)| *made == key) {
            return;
        }
        let known = &mut self.index;
        let index = || {
            let sum = sum_of_tools(state);
            match known {
                Some((made, index)) if *made == sum => Rc::clone(index),
                _ => {
                    let specs = state.tools.values().map(|tool| &*tool.spec);
                    let index = Rc::new(Lexical::of_session(specs));
                    *known = Some((sum, Rc::clone(&index)));
                    index
                }
            }
        };
        self.made = Some((key, Preview::of(state, index, knob)));
    }
}

fn sum_of_tools(state: &State) -> u64 {
    let mut sum = DefaultHasher::new();
    for tool in state.tools.values() {
        (tool.spec.name.as_str(), tool.spec.description.as_str()).hash(&mut sum);
    }
    sum.finish()
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("made", &self.made).finish_non_exhaustive()
    }
}
