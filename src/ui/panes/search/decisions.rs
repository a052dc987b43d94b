//! What was decided at each node: a step carries no thought, and asks carry no step, so both are found
//! where they stand in the transcript.

use std::collections::HashMap;

use crate::domain::{
    chat::Role,
    id::EffectId,
    state::{State, TaskState, What},
};

/// What the step of a node led to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decision {
    pub ask: Option<EffectId>,
    pub call: Option<EffectId>,
}

/// The decisions of a task's latest try, by step.
#[derive(Debug, Default)]
pub(super) struct Decisions(HashMap<u32, Decision>);

impl Decisions {
    pub fn of(state: &State, task: &TaskState) -> Self {
        let mut found = Self::default();
        let Some(started) = task.started else { return found };
        let first = state.transcript.partition_point(|line| line.at < started);
        let mut step = 0;
        for line in state.transcript[first..].iter().filter(|line| line.task == Some(task.id)) {
            match &line.what {
                // Steps are counted from 1 again.
                What::TryStarted { .. } => found.0.clear(),
                What::Step { index } => {
                    step = task.steps.get(*index as usize).map_or(0, |step| step.step);
                }
                What::Ask { ask }
                    if state.model_call(*ask).is_some_and(|ask| ask.role == Role::Actor) =>
                {
                    found.0.entry(step).or_default().ask.get_or_insert(*ask);
                }
                What::Call { call } => {
                    if let Some(state) = state.tool_call(*call) {
                        found.0.entry(state.step).or_default().call = Some(*call);
                    }
                }
                What::TaskFinished => return found,
                What::TaskStarted
                | What::Ask { .. }
                | What::Evaluated { .. }
                | What::BudgetPlanned { .. }
                | What::Plan { .. }
                | What::Told { .. }
                | What::Newer { .. } => {}
            }
        }
        found
    }

    pub fn at(&self, node: u32) -> Decision {
        self.0.get(&node).copied().unwrap_or_default()
    }
}
