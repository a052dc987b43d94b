//! The fold of faults: armed, disarmed and fired, and the occasions that they count.

use super::Family;
use crate::domain::event::{EffectRef, FaultEvent};
use crate::domain::fault::FaultSpec;
use crate::domain::id::{EffectId, FaultId, TaskId};
use crate::domain::state::{FaultState, State, What, next_number};

impl State {
    fn apply_fault(&mut self, event: &FaultEvent) {
        match event {
            FaultEvent::FaultArmed { fault, spec, .. } => self.arm(*fault, spec),
            FaultEvent::FaultDisarmed { fault, .. } => {
                let until = self.shown_task().map(|task| task.id);
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.armed = false;
                    fault.until = Some(until.unwrap_or_default());
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
        }
    }

    /// Arms a fault, possibly again: matching effects are counted from here, firings are never
    /// reset.
    fn arm(&mut self, id: FaultId, spec: &FaultSpec) {
        let n = self.n;
        let next = TaskId(next_number(self.tasks_done));
        let earliest = TaskId(spec.trigger.from_task.unwrap_or(0));
        let from = self.at_work.unwrap_or(next).max(earliest);
        let fault = self.faults.entry(id).or_insert_with(|| FaultState {
            spec: spec.clone(),
            armed: true,
            since: n,
            from,
            until: None,
            seen: 0,
            fired: 0,
        });
        fault.spec = spec.clone();
        fault.armed = true;
        fault.since = n;
        (fault.from, fault.until) = (from, None);
        fault.seen = 0;
    }

    /// An effect was requested: it counts for the faults that match it. Requests are counted, not
    /// starts, so that it does not matter what runs first.
    pub(super) fn count_occasions(&mut self, effect: EffectId) {
        let seen: Vec<FaultId> = self.faults_on(effect).map(|(id, _)| id).collect();
        self.count_seen(&seen);
    }

    /// An effect starts: it counts for the faults that were armed since its request.
    pub(super) fn count_late_occasions(&mut self, effect: EffectId) {
        if self.faults.is_empty() {
            return;
        }
        let requested = self.effect(effect).map_or(0, |effect| effect.n);
        let late = self.faults_on(effect).filter(|(_, fault)| fault.since > requested);
        let seen: Vec<FaultId> = late.map(|(id, _)| id).collect();
        self.count_seen(&seen);
    }

    fn count_seen(&mut self, faults: &[FaultId]) {
        for fault in faults {
            if let Some(fault) = self.faults.get_mut(fault) {
                fault.seen += 1;
            }
        }
    }
}

impl Family for FaultEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_fault(self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            FaultEvent::FaultArmed { .. } | FaultEvent::FaultDisarmed { .. } => {
                What::told(self.clone())
            }
            FaultEvent::FaultFired { .. } => None,
        }
    }
}
