//! The run that a screen follows: the one that was last active.

use crate::event::Lane;
use crate::id::RunId;
use crate::state::{EffectState, Hold, Mode, State};

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

    /// The held effect that is shown: the one that a breakpoint stopped, else one of the run that is shown.
    pub fn shown_held(&self) -> Option<&EffectState> {
        let stopped = self.control.stop.as_ref().and_then(|stop| stop.lane);
        let shown = self.shown_hold().map(|hold| hold.lane);
        let run = self.shown_run();
        let all = || self.control.held.iter().map(|hold| hold.lane);
        let own = all().filter(|lane| self.run_of_lane(*lane) == run);
        let mut lanes = stopped.into_iter().chain(shown).chain(own).chain(all());
        lanes.find_map(|lane| match lane {
            Lane::Effect(id) if self.control.is_held(lane) => self.effect(id),
            _ => None,
        })
    }
}
