//! Tools and the faults armed on them.

use std::sync::Arc;

use serde::Serialize;

use super::State;
use super::What;
use crate::domain::{
    command::Command,
    event::{By, Classed, ClassedBy, EffectRef, FaultEvent, family::Family},
    fault::FaultSpec,
    id::{EffectId, FaultId, TaskId, ToolName},
    spec::ToolSpec,
};

/// One tool and what its calls came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolState {
    pub spec: Arc<ToolSpec>,
    /// False once its manifest is gone; it stays known, since the past names it.
    pub present: bool,
    /// False while the user keeps it off every menu.
    pub switched_on: bool,
    /// Of which class it is, once anybody has said so.
    pub class: Option<Classed>,
    /// Calls that ran, ended or not.
    pub started: u32,
    pub succeeded: u32,
    /// Calls that ran and failed.
    pub failed: u32,
    /// Calls that were refused, or cancelled before they ran.
    pub refused: u32,
    /// Own time of all ended calls together, in microseconds.
    pub micros: u64,
    /// Own cost of all calls that ran, in credits.
    pub credits: f64,
}

/// A fault and how often it fired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultState {
    pub spec: FaultSpec,
    pub armed: bool,
    /// The event that armed it.
    #[serde(skip)]
    since: u64,
    /// Requests that it aims at since it was armed.
    pub seen: u32,
    pub fired: u32,
}

impl ToolState {
    fn new(spec: Arc<ToolSpec>) -> Self {
        let declared = spec.class.trim();
        let class = (!declared.is_empty()).then(|| Classed {
            class: declared.to_owned(),
            domain: None,
            by: ClassedBy::Declared,
        });
        Self {
            spec,
            class,
            present: true,
            switched_on: true,
            started: 0,
            succeeded: 0,
            failed: 0,
            refused: 0,
            micros: 0,
            credits: 0.0,
        }
    }

    /// Notes a class, unless somebody who is rather believed has named one.
    pub(super) fn classify(&mut self, class: &Classed) {
        if self.class.as_ref().is_none_or(|known| known.by <= class.by) {
            self.class = Some(class.clone());
        }
    }

    /// Whether it may be on a menu.
    pub fn is_offered(&self) -> bool {
        self.present && self.switched_on
    }
}

impl State {
    /// Whether there is such a tool, and it may be on a menu.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(ToolState::is_offered)
    }

    pub(super) fn join(&mut self, spec: Arc<ToolSpec>) {
        let name = spec.name.clone();
        self.learning.graph.add_tool(name.clone());
        match self.tools.get_mut(&name) {
            Some(tool) => {
                tool.spec = spec;
                tool.present = true;
            }
            None => {
                self.tools.insert(name, ToolState::new(spec));
            }
        }
    }

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

    /// Arms a fault, also again: its calls are counted from here, its firings all along.
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

    /// The armed faults that aim at an effect, the one armed first before the others.
    pub fn faults_on(&self, effect: EffectId) -> impl Iterator<Item = (FaultId, &FaultState)> {
        let tool = self.call(effect).map(|call| &call.tool);
        let armed = self.faults.iter().filter(|(_, fault)| fault.armed);
        armed
            .filter(move |(_, fault)| tool == Some(&fault.spec.tool))
            .map(|(id, fault)| (*id, fault))
    }

    /// Which occasion an effect that was just requested is for each of these faults, from 1.
    pub fn occasions(&self, effect: EffectId) -> Vec<(FaultId, u32)> {
        self.faults_on(effect).map(|(id, fault)| (id, fault.seen)).collect()
    }

    /// An effect was requested: it counts for the faults that aim at it. Requests are counted, and not starts,
    /// so that it does not matter what runs first.
    pub(super) fn count_occasions(&mut self, effect: EffectId) {
        let seen: Vec<FaultId> = self.faults_on(effect).map(|(id, _)| id).collect();
        self.count_seen(&seen);
    }

    /// An effect starts: it counts for the faults that were armed since it was requested.
    pub(super) fn count_late_occasions(&mut self, effect: EffectId) {
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

    pub(super) fn leave(&mut self, name: &ToolName) {
        self.learning.graph.remove_tool(name.as_str());
        if let Some(tool) = self.tools.get_mut(name) {
            tool.present = false;
        }
    }

    /// A call of this tool starts.
    pub(super) fn count_call(&mut self, name: &ToolName, task: TaskId) {
        let Some(tool) = self.tools.get_mut(name) else { return };
        let cost = self.rates.tool(tool.spec.cost);
        tool.started += 1;
        tool.credits += cost;
        self.charge_call(task, name, cost);
    }

    /// A call of this tool ended, after so much time of its own if it ran at all.
    pub(super) fn count_end(
        &mut self,
        name: &ToolName,
        micros: Option<u64>,
        count: impl FnOnce(&mut ToolState),
    ) {
        if let Some(tool) = self.tools.get_mut(name) {
            tool.micros = tool.micros.saturating_add(micros.unwrap_or(0));
            count(tool);
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

    fn undone_by(&self) -> Option<(By, Command)> {
        match self {
            FaultEvent::FaultArmed { fault, by, .. } => {
                Some((*by, Command::DisarmFault { fault: *fault }))
            }
            FaultEvent::FaultDisarmed { fault, by } => {
                Some((*by, Command::RearmFault { fault: *fault }))
            }
            FaultEvent::FaultFired { .. } => None,
        }
    }

    fn effect(&self) -> Option<EffectRef> {
        match self {
            FaultEvent::FaultFired { effect, .. } => Some(*effect),
            FaultEvent::FaultArmed { .. } | FaultEvent::FaultDisarmed { .. } => None,
        }
    }
}
