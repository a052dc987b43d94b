//! The fold of runs.

use super::Family;
use crate::event::RunEvent;
use crate::id::TaskId;
use crate::state::{RunState, State, What};

impl Family for RunEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        let RunEvent::RunOpened { run, strategy } = self;
        state.runs.insert(*run, RunState { strategy: *strategy });
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        What::told(self.clone())
    }
}
