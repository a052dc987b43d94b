//! The fold of breakpoints: set, switched, deleted and hit.

use super::Family;
use crate::agent_kind::Acting;
use crate::event::{BreakpointEvent, Lane};
use crate::id::{RunId, TaskId};
use crate::state::breakpoints::{BreakpointState, BreakpointStop};
use crate::state::{Mode, State, What};

impl State {
    fn apply_breakpoint(&mut self, at: u64, event: &BreakpointEvent) {
        match event {
            BreakpointEvent::BreakpointSet { breakpoint, spec, on, temporary, .. } => {
                let new = || BreakpointState::new((**spec).clone(), *on, *temporary);
                let known = self.breakpoints.entry(*breakpoint).or_insert_with(new);
                (known.spec, known.on) = ((**spec).clone(), *on);
                self.breakpoints_set = self.breakpoints_set.max(breakpoint.0);
            }
            BreakpointEvent::BreakpointSwitched { breakpoint, on, .. } => {
                if let Some(known) = self.breakpoints.get_mut(breakpoint) {
                    known.on = *on;
                }
            }
            BreakpointEvent::BreakpointDeleted { breakpoint, .. } => {
                self.breakpoints.remove(breakpoint);
            }
            BreakpointEvent::BreakpointHit { breakpoint, lane, boundary, holds, text } => {
                let n = self.n;
                let Some(known) = self.breakpoints.get_mut(breakpoint) else { return };
                known.hits = known.hits.saturating_add(1);
                known.last = Some(n);
                if !holds {
                    return;
                }
                known.stops = known.stops.saturating_add(1);
                known.on &= !known.spec.once;
                let place = known.spec.to_string();
                self.control.stop = Some(BreakpointStop {
                    breakpoint: *breakpoint,
                    was_sought: known.temporary,
                    place,
                    lane: *lane,
                    boundary: *boundary,
                    text: text.clone(),
                    since: at,
                });
                let alone = known.spec.alone;
                let run = lane.and_then(|lane| self.run_to_pause(lane));
                let mode = run.map_or(self.control.mode, |run| self.control.mode_of(run));
                let is_running =
                    matches!(mode, Mode::Running | Mode::Stepping | Mode::SteppingTask);
                match run {
                    _ if alone || !is_running => {}
                    Some(_) => self.control.set_mode(run, Mode::Pausing),
                    None => self.control.mode = Mode::Pausing,
                }
            }
        }
    }

    /// The only run that stops with this lane: other conversations of watched agents are not affected.
    fn run_to_pause(&self, lane: Lane) -> Option<RunId> {
        let Lane::Effect(effect) = lane else { return None };
        let task = self.effect(effect).map(|effect| effect.task)?;
        (self.acting() == Acting::Foreign).then(|| self.run_of(task))
    }

    /// Deletes the breakpoints of a run to a place, which have no further use.
    pub(super) fn end_run_to(&mut self) {
        self.breakpoints.retain(|_, known| !known.temporary);
    }
}

impl Family for BreakpointEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_breakpoint(at, self);
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            // The person knows this place already.
            BreakpointEvent::BreakpointSet { temporary: true, .. } => None,
            BreakpointEvent::BreakpointHit { breakpoint, holds, text, .. } => {
                let known = state.breakpoints.get(breakpoint);
                let logs = known.is_some_and(|known| known.spec.log.is_some()) && !text.is_empty();
                let was_sought = known.is_some_and(|known| known.temporary);
                (*holds && !was_sought || logs).then(|| What::told(self.clone()))?
            }
            BreakpointEvent::BreakpointSet { .. }
            | BreakpointEvent::BreakpointSwitched { .. }
            | BreakpointEvent::BreakpointDeleted { .. } => What::told(self.clone()),
        }
    }
}
