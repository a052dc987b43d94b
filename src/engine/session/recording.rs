//! Events and their immediate consequences: the observers' events, the breakpoints that they hit, and a pause that is
//! complete.

use super::Session;
use super::breakpoints::Hit;
use crate::domain::{
    Boundary, BreakpointEvent, By, ControlEvent, Event, Hold, Lane, Mode, Record, RunId,
};

impl Session {
    /// Records an event, then the observers' events about it, then the breakpoints that they hit.
    pub fn emit(&mut self, event: impl Into<Event>) {
        self.record(event.into());
    }

    fn record(&mut self, event: Event) {
        let at = self.now();
        let change = self.breakpoints.change_of(&self.state, &event);
        let more = self.commit(Record::new(self.state.n + 1, at, event));
        more.into_iter().for_each(|event| self.record(event));
        if let Some(change) = change {
            let hits = self.breakpoints.hits_of(&self.state, &change);
            if !hits.is_empty() {
                self.stop_at(hits, None);
            }
        }
    }

    /// Collects the observers' last events at the end of the session.
    pub fn close_observers(&mut self) {
        let observers = self.log.observers.iter_mut();
        let more: Vec<Event> = observers.flat_map(|observer| observer.close(&self.state)).collect();
        more.into_iter().for_each(|event| self.emit(event));
    }

    /// Looks for breakpoints at a boundary that a lane has reached, and stops there if one holds.
    pub fn meet(&mut self, lane: Lane, boundary: Boundary) {
        if self.state.breakpoints.is_empty() || self.lanes.is_by_hand(lane) {
            return;
        }
        let hits = self.breakpoints.hits_at(&self.state, lane, boundary);
        self.stop_at(hits, Some((lane, boundary)));
    }

    /// Records hits of breakpoints, and stops where one holds.
    pub fn stop_at(&mut self, hits: Vec<Hit>, at: Option<(Lane, Boundary)>) {
        let (lane, boundary) = at.unzip();
        for hit in hits {
            let Hit { breakpoint, text, holds, alone } = hit;
            self.emit(BreakpointEvent::BreakpointHit { breakpoint, lane, boundary, holds, text });
            match lane {
                _ if !holds => {}
                Some(lane) if alone && !self.state.control.paused_lanes.contains(&lane) => {
                    self.emit(ControlEvent::LanePaused { lane, by: By::Engine });
                }
                _ => self.lanes.revoke_steps(|_| true),
            }
        }
        self.settle();
    }

    /// Releases a lane that is cancelled while it is held. A step granted to it is spent: it must
    /// not carry the lane past its next boundary as well.
    pub fn let_go(&mut self, lane: Lane) {
        self.lanes.spend_step(lane);
        if self.state.control.is_held(lane) {
            self.emit(ControlEvent::Released { lane });
        }
    }

    /// Releases every lane at the end of the session.
    pub fn let_all_go(&mut self) {
        let held: Vec<_> = self.state.control.held.iter().map(|hold| hold.lane).collect();
        for lane in held {
            self.let_go(lane);
        }
    }

    /// Revokes a step that no lane of this run, or of any, has taken yet.
    pub fn revoke_step(&mut self, run: Option<RunId>) {
        self.lanes.revoke_steps(|of| run.is_none_or(|run| run == of));
    }

    /// Lets the lane of this run, or of any, that has been held longest pass one boundary.
    pub fn grant_step(&mut self, run: Option<RunId>) {
        let control = &self.state.control;
        // A lane that waits for consent is released only by consent.
        let asks = |lane| matches!(lane, Lane::Effect(id) if control.asks.contains(&id));
        let is_meant = |lane| run.is_none_or(|run| self.lanes.run_of(lane) == run);
        let mut held = control.held.iter().map(|hold| hold.lane);
        let first = held.find(|lane| !asks(*lane) && is_meant(*lane));
        self.revoke_step(run);
        match first {
            Some(lane) => self.lanes.grant(lane),
            None => self.settle(),
        }
    }

    /// Records `Paused` once every lane is held, or there is none: for all runs together, and for each run that a
    /// person has stopped or resumed alone.
    pub fn settle(&mut self) {
        let alone: Vec<RunId> = self.state.control.modes.keys().copied().collect();
        if self.is_paused_now(self.state.control.mode, |run| !alone.contains(&run)) {
            self.emit(ControlEvent::Paused { run: None });
        }
        for run in alone {
            if self.is_paused_now(self.state.control.mode_of(run), |of| of == run) {
                self.emit(ControlEvent::Paused { run: Some(run) });
            }
        }
    }

    /// Whether a pause of these runs is complete.
    fn is_paused_now(&self, mode: Mode, of: impl Fn(RunId) -> bool) -> bool {
        let control = &self.state.control;
        let lanes = || self.lanes.at_work().filter(|lane| of(self.lanes.run_of(*lane)));
        let all_held = || lanes().all(|lane| control.is_held(lane));
        match mode {
            Mode::Pausing => all_held(),
            Mode::Stepping => {
                let has_step =
                    || self.state.all_runs().any(|run| of(run) && self.lanes.has_step(run));
                all_held() && !has_step() && lanes().next().is_some()
            }
            // Lanes that were released together wake one after another, so lanes that look held may
            // be on their way; only a hold before the next task ends this mode.
            Mode::SteppingTask => {
                let before = |hold: &Hold| hold.boundary == Boundary::BeforeTask;
                control.held.iter().any(|hold| before(hold) && of(self.lanes.run_of(hold.lane)))
            }
            Mode::Opening | Mode::Running | Mode::Paused | Mode::Ended => false,
        }
    }
}
