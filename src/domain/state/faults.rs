//! State of armed faults, and the possible targets.

use std::collections::HashSet;

use indexmap::IndexSet;
use serde::Serialize;

use super::{State, What, family::Family};
use crate::domain::event::{ClassAssignment, FaultEvent};
use crate::domain::fault::{Aim, FaultSpec, Target};
use crate::domain::id::{EffectId, FaultId, TaskId, ToolName};
use crate::domain::{chat::Role, command::Command};

/// A fault and how often it fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultState {
    pub spec: FaultSpec,
    pub armed: bool,
    /// The event that armed it.
    #[serde(skip)]
    since: u64,
    /// Requests that matched its target since it was armed.
    pub seen: u32,
    pub fired: u32,
}

impl FaultState {
    /// Whether it is armed and matches this effect.
    pub fn is_armed_on(&self, aim: &Aim<'_>) -> bool {
        self.armed && self.spec.target.matches(aim)
    }
}

impl State {
    pub(super) fn apply_fault(&mut self, event: &FaultEvent) {
        match event {
            FaultEvent::FaultArmed { fault, spec, .. } => self.arm(*fault, spec),
            FaultEvent::FaultDisarmed { fault, .. } => {
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.armed = false;
                }
            }
            FaultEvent::FaultFired { fault, effect } => self.inject(*effect, *fault),
        }
    }

    /// Arms a fault, possibly again: matching effects are counted from here, firings are never
    /// reset.
    fn arm(&mut self, id: FaultId, spec: &FaultSpec) {
        let n = self.n;
        let fault = self.faults.entry(id).or_insert_with(|| FaultState {
            spec: spec.clone(),
            armed: true,
            since: n,
            seen: 0,
            fired: 0,
        });
        fault.spec = spec.clone();
        fault.armed = true;
        fault.since = n;
        fault.seen = 0;
    }

    /// The properties of an effect that a fault can match.
    fn aim(&self, effect: EffectId) -> Aim<'_> {
        if let Some(call) = self.model_call(effect) {
            return Aim { role: Some(call.role), model: Some(&call.model), ..Aim::default() };
        }
        if let Some(call) = self.tool_call(effect) {
            let class = self.tools.get(&call.tool).and_then(|tool| tool.class.as_ref());
            return Aim { tool: Some((&call.tool, class)), ..Aim::default() };
        }
        Aim { embedding: self.embedding(effect).is_some(), ..Aim::default() }
    }

    /// The armed faults that match an effect, in the order in which they were armed.
    pub fn faults_on(&self, effect: EffectId) -> impl Iterator<Item = (FaultId, &FaultState)> {
        // Usually there are none, and then the effect's properties are not needed.
        let aim = if self.faults.is_empty() { Aim::default() } else { self.aim(effect) };
        let hit = self.faults.iter().filter(move |(_, fault)| fault.is_armed_on(&aim));
        hit.map(|(id, fault)| (*id, fault))
    }

    /// The number of this occasion for each of these faults, from 1, for an effect that was just
    /// requested.
    pub fn occasions(&self, effect: EffectId) -> Vec<(FaultId, u32)> {
        self.faults_on(effect).map(|(id, fault)| (id, fault.seen)).collect()
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

    /// Whether any armed fault matches this effect.
    pub fn has_fault_on(&self, aim: &Aim<'_>) -> bool {
        self.faults.values().any(|fault| fault.is_armed_on(aim))
    }

    /// The tools that an armed fault targets.
    pub fn broken_tools(&self) -> HashSet<&ToolName> {
        // Usually nothing is armed, and then no tool needs a look.
        if self.faults_armed() == 0 {
            return HashSet::new();
        }
        let broken = self.tools.values().filter(|tool| self.has_fault_on(&tool.aim()));
        broken.map(|tool| &tool.spec.name).collect()
    }

    /// Every possible target, one sort after the other.
    pub fn fault_targets(&self) -> Vec<Target> {
        let of_tools = self.tools.values().filter_map(|tool| tool.class.as_ref());
        let classes = self.workers.classes.names().chain(of_tools.map(ClassAssignment::name));
        // The classes in use are usually configured ones, too.
        let classes: IndexSet<String> = classes.collect();
        let tools = self.tools.keys().cloned().map(Target::Tool);
        tools
            .chain(classes.into_iter().map(Target::Class))
            .chain(Role::all().map(Target::Role))
            .chain(self.models.known.keys().cloned().map(Target::Model))
            .chain([Target::Embedding])
            .collect()
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

    fn opposite(&self) -> Option<Command> {
        match self {
            FaultEvent::FaultArmed { fault, .. } => Some(Command::DisarmFault { fault: *fault }),
            FaultEvent::FaultDisarmed { fault, .. } => Some(Command::RearmFault { fault: *fault }),
            FaultEvent::FaultFired { .. } => None,
        }
    }
}
