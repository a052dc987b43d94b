//! Whether a lane must wait at a boundary, and when it goes on.

use std::time::Duration;

use super::Session;
use crate::domain::{Boundary, By, ControlEvent, Lane, Mode, Resume};

impl Session {
    /// The mode of the run that a lane belongs to.
    fn mode_of(&self, lane: Lane) -> Mode {
        self.state.control.mode_of(self.lanes.run_of(lane))
    }

    /// Whether a lane can pass here without any wait.
    pub fn is_open(&self, lane: Lane, boundary: Boundary) -> bool {
        !self.is_broken() && !self.holds(lane, boundary)
    }

    /// Whether a lane must wait at this boundary. A pause holds the agent, but not calls by hand.
    pub fn holds(&self, lane: Lane, boundary: Boundary) -> bool {
        self.is_paused(lane)
            || !self.lanes.is_by_hand(lane)
                && match self.mode_of(lane) {
                    Mode::Running | Mode::Ended => false,
                    Mode::SteppingTask => boundary == Boundary::BeforeTask,
                    Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Stepping => true,
                }
    }

    /// Whether the user holds this lane individually. At the end of the session nothing is held.
    fn is_paused(&self, lane: Lane) -> bool {
        self.state.control.mode != Mode::Ended && self.state.control.paused_lanes.contains(&lane)
    }

    /// The longest hold of a lane if no person is there to release it.
    pub fn hold_limit(&self) -> Option<Duration> {
        self.breakpoints.limit
    }

    /// Releases a lane that was held for that long.
    pub fn end_hold(&mut self, lane: Lane) {
        let (by, run) = (By::Engine, Some(self.lanes.run_of(lane)));
        if self.state.control.paused_lanes.contains(&lane) {
            self.emit(ControlEvent::LaneResumed { lane, by });
        }
        self.emit(ControlEvent::Resumed { how: Resume::Run, by, run });
    }

    /// Whether a held lane may continue. A step to the end of a task also releases the hold before
    /// it.
    pub fn releases(&self, lane: Lane) -> bool {
        self.lanes.is_repeated(lane)
            // A program whose call is held after its end may be taken back from there.
            || (matches!(lane, Lane::Run(_)) || self.is_of_program(lane))
                && self.is_program_asked(self.lanes.run_of(lane))
            || self.lanes.is_granted(lane)
            || !self.is_paused(lane)
                && (self.lanes.is_by_hand(lane)
                    || match self.mode_of(lane) {
                        Mode::Running | Mode::SteppingTask | Mode::Ended => true,
                        Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Stepping => false,
                    })
    }
}
