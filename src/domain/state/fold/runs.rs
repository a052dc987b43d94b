//! The fold of runs.

use std::sync::Arc;

use super::Family;
use crate::event::RunEvent;
use crate::id::TaskId;
use crate::state::{RunState, State, Watched, What};

impl Family for RunEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        match self {
            RunEvent::RunOpened { run, strategy, guest } => {
                let (strategy, guest) = (*strategy, guest.clone());
                state.runs.insert(*run, RunState { strategy, guest, rewritten: 0 });
            }
            RunEvent::HistoryRewritten { run, .. } => {
                if let Some(run) = state.runs.get_mut(run) {
                    run.rewritten += 1;
                }
            }
            RunEvent::RunParted { .. } => {}
            RunEvent::RequestPassed { why, .. } => state.watch(|watched| match why {
                Some(_) => watched.not_understood += 1,
                None => watched.passed += 1,
            }),
            RunEvent::AgentStarted { command } => {
                state.watch(|watched| watched.command = Some(command.clone()));
            }
            RunEvent::AgentEnded { code } => state.watch(|watched| watched.ended = Some(*code)),
        }
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            RunEvent::RequestPassed { why: None, .. } => None,
            _ => What::told(self.clone()),
        }
    }
}

impl State {
    fn watch(&mut self, change: impl FnOnce(&mut Watched)) {
        change(Arc::make_mut(self.watched.get_or_insert_default()));
    }
}
