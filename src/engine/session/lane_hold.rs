//! Whether a lane must wait at a boundary, and when it goes on.

use super::Session;
use crate::domain::{Acting, Boundary, By, ControlEvent, Lane, Mode, Resume, SessionEvent};

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

    /// Whether a person controls the session now, and can decide and release.
    pub fn has_person(&self) -> bool {
        self.breakpoints.seats.is_taken()
    }

    /// See [`Seats::left`](super::seats::Seats::left).
    pub fn left(&self) -> impl Future<Output = bool> + use<> {
        self.breakpoints.seats.left()
    }

    /// Releases a lane whose time to be held is over. `was_taken`: a person controlled the session, and has left.
    pub fn end_hold(&mut self, lane: Lane, was_taken: bool) {
        if was_taken {
            let text =
                "no screen controls the session any more, so what its breakpoint held goes on";
            self.emit(SessionEvent::Noticed { text: text.to_owned() });
        }
        // A breakpoint stops one conversation of watched agents, or all runs.
        let is_alone = self.state.acting() == Acting::Foreign;
        let (by, run) = (By::Engine, is_alone.then(|| self.lanes.run_of(lane)));
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
