//! The result of an ended task, for the tally of its models.

use crate::id::{ModelName, TaskId};
use crate::pairs::{Pair, PairTally, Player};
use crate::state::{State, TaskState};
use crate::{chat::Role, event::Outcome};

impl State {
    /// The result of a task, by its models; `None` for a task that has not ended, that the user stopped, or
    /// that probes tools.
    pub fn pair_tally(&self, task: TaskId) -> Option<PairTally> {
        let task = self.task(task).filter(|task| task.task.probe.is_none())?;
        if task.outcome()? == Outcome::Stopped {
            return None;
        }
        Some(PairTally {
            pair: self.pair_of(task)?,
            tasks: 1,
            with_gold: u64::from(task.task.can_be_scored()),
            correct: u64::from(task.correct == Some(true)),
            tokens_in: task.tokens_in,
            tokens_out: task.tokens_out,
            // An immediate answer counts as a step, too.
            steps: task.steps_taken().max(1),
            dollars: Some(task.dollars),
            unpriced: u64::from(task.unpriced > 0),
        })
    }

    /// The model called last in a role has played it; without a call, the bound model counts.
    fn pair_of(&self, task: &TaskState) -> Option<Pair> {
        let calls = || task.model_calls.iter().rev().filter_map(|call| self.model_call(*call));
        let player = |role: Role| {
            let asked = calls().find(|call| call.role == role).map(|call| &call.model);
            let bound = || self.models.roles.get(&role).map(|bound| &bound.model);
            asked.or_else(bound).map(|model| self.player(model))
        };
        let plans = calls().any(|call| call.role == Role::Planner);
        let planner = if plans { player(Role::Planner) } else { None };
        let solver = player(if plans { Role::Solver } else { Role::Actor })?;
        let strategy = task.strategy?;
        Some(Pair { strategy, planner, solver })
    }

    fn player(&self, model: &ModelName) -> Player {
        let spec = self.models.known.get(model).map(|known| &known.spec);
        Player {
            model: model.clone(),
            source: spec.map_or_else(String::new, |spec| spec.source.clone()),
            simulated: spec.is_some_and(|spec| spec.simulated),
        }
    }
}
