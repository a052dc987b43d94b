//! Where a run is held. Every lane passes the gate at every boundary; a pause or a step lets it wait
//! there. Holding never kills: what runs, runs on to its next boundary.

use super::core::{Core, Shared};
use crate::domain::{
    event::{Boundary, Event, Lane},
    id::EffectId,
    knob::Knob,
    state::Mode,
};

impl Core {
    /// A call has ended. After the last one the agent goes on.
    pub fn join(&mut self, call: EffectId) {
        self.lanes.live.remove(&Lane::Call(call));
        if self.lanes.live.is_empty() {
            self.lanes.open();
        }
        self.settle();
    }

    /// A lane that is cancelled while it is held is held no longer. A step that it was granted is
    /// spent: it must not carry the lane past its next boundary as well.
    pub fn let_go(&mut self, lane: Lane) {
        if self.lanes.granted == Some(lane) {
            self.lanes.granted = None;
        }
        if self.state.control.is_held(lane) {
            self.emit(Event::Released { lane });
        }
    }

    /// Releases every lane; the session ends.
    pub fn let_all_go(&mut self) {
        let held: Vec<_> = self.state.control.held.iter().map(|hold| hold.lane).collect();
        for lane in held {
            self.let_go(lane);
        }
    }

    /// Takes back a step that no lane has taken yet.
    pub fn revoke_step(&mut self) {
        self.lanes.granted = None;
    }

    /// Lets the lane that was held first go on by one boundary.
    pub fn grant_step(&mut self) {
        self.lanes.granted = self.state.control.held.first().map(|hold| hold.lane);
    }

    /// Says `Paused` once every lane is held, or there is none.
    pub fn settle(&mut self) {
        let control = &self.state.control;
        let all_held = self.lanes.live.iter().all(|lane| control.is_held(*lane));
        let idle = self.lanes.live.is_empty();
        let due = match control.mode {
            Mode::Pausing => all_held,
            Mode::Stepping => all_held && self.lanes.granted.is_none() && !idle,
            // Lanes that were released together wake one after another, so lanes that look held may
            // be on their way; only a hold before the next task ends this.
            Mode::SteppingTask => control.is_held_at(Boundary::BeforeTask),
            Mode::Opening | Mode::Running | Mode::Paused | Mode::Ended => false,
        };
        if due {
            self.emit(Event::Paused);
        }
    }

    /// Whether a lane must wait at this boundary.
    fn holds(&self, lane: Lane, boundary: Boundary) -> bool {
        self.is_stopped(lane)
            || match self.state.control.mode {
                Mode::Running | Mode::Ended => false,
                Mode::SteppingTask => boundary == Boundary::BeforeTask,
                Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Stepping => true,
            }
    }

    /// Whether the user holds this lane back alone. At the end of the session nothing is held.
    fn is_stopped(&self, lane: Lane) -> bool {
        self.state.control.mode != Mode::Ended && self.state.control.paused_lanes.contains(&lane)
    }

    /// Whether a lane that is held may go on. The wish to go on to the end of a task also releases
    /// the hold before it.
    fn releases(&self, lane: Lane) -> bool {
        self.lanes.granted == Some(lane)
            || !self.is_stopped(lane)
                && match self.state.control.mode {
                    Mode::Running | Mode::SteppingTask | Mode::Ended => true,
                    Mode::Opening | Mode::Pausing | Mode::Paused | Mode::Stepping => false,
                }
    }
}

impl Shared {
    /// Lets a lane pass a boundary, at once or when the user says so.
    pub async fn pass(&self, lane: Lane, boundary: Boundary) {
        self.stays_sound().await;
        let pace = self.read(|core| core.state.knobs.count(Knob::Pace));
        if pace > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(pace as u64)).await;
        }
        if !self.read(|core| core.holds(lane, boundary)) {
            return;
        }
        self.write(|core| {
            core.emit(Event::Held { lane, boundary });
            core.settle();
        });
        self.until(|core| core.releases(lane)).await;
        self.write(|core| {
            if core.lanes.granted == Some(lane) {
                core.lanes.granted = None;
            }
            core.emit(Event::Released { lane });
        });
    }
}
