//! The fold of control events: whether the agent runs, and where it is held.

use super::Family;
use crate::event::ControlEvent;
use crate::id::TaskId;
use crate::state::{Mode, State, What};

impl State {
    fn apply_control(&mut self, at: u64, event: &ControlEvent) {
        match event {
            ControlEvent::Resumed { how, run, .. } => {
                self.control.set_mode(*run, Mode::from(*how));
                self.control.stop = None;
            }
            ControlEvent::PauseRequested { run, .. } => self.control.set_mode(*run, Mode::Pausing),
            ControlEvent::Paused { run } => {
                match run {
                    Some(_) => self.control.set_mode(*run, Mode::Paused),
                    // A run with a mode of its own is not affected.
                    None => self.control.mode = Mode::Paused,
                }
                self.end_run_to();
            }
            ControlEvent::Held { lane, boundary } => self.control.hold(*lane, *boundary, at),
            ControlEvent::Released { lane } => {
                if let Some(hold) = self.control.release(*lane) {
                    self.charge_hold(hold, at);
                }
            }
            ControlEvent::LanePaused { lane, .. } => {
                self.control.paused_lanes.insert(*lane);
            }
            ControlEvent::LaneResumed { lane, .. } => {
                self.control.paused_lanes.remove(lane);
            }
        }
    }
}

impl Family for ControlEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_control(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ControlEvent::LanePaused { .. }
            | ControlEvent::LaneResumed { .. }
            | ControlEvent::Resumed { run: Some(_), .. }
            | ControlEvent::PauseRequested { run: Some(_), .. } => What::told(self.clone()),
            ControlEvent::Resumed { .. }
            | ControlEvent::PauseRequested { .. }
            | ControlEvent::Paused { .. }
            | ControlEvent::Held { .. }
            | ControlEvent::Released { .. } => None,
        }
    }
}
