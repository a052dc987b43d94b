//! The run that a screen follows: the one that was last active.

use crate::id::RunId;
use crate::state::{Hold, Mode, State};

impl State {
    /// The run of the task that is shown.
    fn shown_run(&self) -> RunId {
        self.shown_task().map_or(RunId::FIRST, |task| task.task.run)
    }

    /// The mode of the run that is shown.
    pub fn shown_mode(&self) -> Mode {
        self.control.mode_of(self.shown_run())
    }

    /// The first hold of a lane of the run that is shown; without one, the first hold of all.
    pub fn shown_hold(&self) -> Option<&Hold> {
        let run = self.shown_run();
        let held = &self.control.held;
        held.iter().find(|hold| self.run_of_lane(hold.lane) == run).or_else(|| held.first())
    }
}
