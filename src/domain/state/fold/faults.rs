//! The fold of faults: armed, disarmed, matched and fired.

use super::Family;
use crate::event::{By, EffectRef, FaultEvent};
use crate::fault::FaultSpec;
use crate::id::{FaultId, TaskId};
use crate::state::{FaultState, State, What, next_number};

impl State {
    fn apply_fault(&mut self, event: &FaultEvent, at: u64) {
        match event {
            FaultEvent::FaultArmed { fault, spec, .. } => self.arm(*fault, spec, at),
            FaultEvent::FaultDisarmed { fault, by } => {
                let until = self.shown_task().map(|task| task.id);
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.armed = false;
                    fault.is_over = *by == By::Engine;
                    fault.until = Some(until.unwrap_or_default());
                }
            }
            FaultEvent::FaultMatched { fault, fires, .. } => {
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.seen += 1;
                    if *fires {
                        fault.chosen += 1;
                        fault.first_at.get_or_insert(at);
                    }
                }
            }
            FaultEvent::FaultFired { fault, effect } => self.inject(*effect, *fault),
        }
    }

    /// A fault fired on an effect.
    fn inject(&mut self, effect: EffectRef, fault: FaultId) {
        if let Some(state) = self.effect_mut(effect.id) {
            state.injected = Some(fault);
        }
        if let Some(fault) = self.faults.get_mut(&fault) {
            fault.fired += 1;
            // A journal of an earlier version does not say which calls have matched.
            fault.seen = fault.seen.max(1);
        }
    }

    /// Arms a fault, possibly again: matching effects are counted from here, firings are never
    /// reset.
    fn arm(&mut self, id: FaultId, spec: &FaultSpec, at: u64) {
        let next = TaskId(next_number(self.tasks_done));
        let earliest = TaskId(spec.trigger.from_task.unwrap_or(0));
        let from = self.at_work.tasks().min().unwrap_or(next).max(earliest);
        let fault = self.faults.entry(id).or_insert_with(|| FaultState {
            spec: spec.clone(),
            armed: true,
            from,
            until: None,
            is_over: false,
            seen: 0,
            chosen: 0,
            armed_at: at,
            first_at: None,
            fired: 0,
        });
        fault.spec = spec.clone();
        fault.armed = true;
        fault.is_over = false;
        (fault.from, fault.until) = (from, None);
        (fault.seen, fault.chosen) = (0, 0);
        (fault.armed_at, fault.first_at) = (at, None);
    }
}

impl Family for FaultEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_fault(self, at);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            FaultEvent::FaultArmed { .. } | FaultEvent::FaultDisarmed { .. } => {
                What::told(self.clone())
            }
            FaultEvent::FaultMatched { .. } | FaultEvent::FaultFired { .. } => None,
        }
    }
}
