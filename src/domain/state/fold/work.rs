//! The fold of plans and of the evidence found for them.

use std::sync::Arc;

use super::Family;
use crate::event::PlanEvent;
use crate::id::TaskId;
use crate::null_filter::NullReason;
use crate::plan::EvidenceId;
use crate::state::{EvidenceSource, EvidenceState, State, What};

impl State {
    fn apply_plan(&mut self, at: u64, event: &PlanEvent) {
        match event {
            PlanEvent::ToolsClassified { tools } => {
                for (tool, class) in tools {
                    if let Some(tool) = self.tools.get_mut(tool) {
                        tool.classify(class);
                    }
                }
            }
            PlanEvent::ToolClassSet { tool, class, .. } => {
                if let Some(tool) = self.tools.get_mut(tool) {
                    tool.class.clone_from(class);
                }
            }
            PlanEvent::PlanWritten { task, plan } => {
                let Some(task) = self.task_mut(*task) else { return };
                task.plans = task.plans.saturating_add(plan.steps.len() as u64);
                task.work.plan = Some(Arc::clone(plan));
                task.work.evidence.clear();
            }
            PlanEvent::PlanRefused { task, why } => {
                if let Some(task) = self.task_mut(*task) {
                    task.work.refused.push(why.clone());
                }
            }
            PlanEvent::EvidenceFound { task, evidence, text, nulled, saved } => {
                let Some(task) = self.task_mut(*task) else { return };
                // Evidence whose call needs null evidence is found without an effect.
                let without = matches!(nulled, Some(NullReason::Needs(_)));
                if without {
                    task.work
                        .evidence
                        .insert(*evidence, EvidenceState::new(EvidenceSource::None, at));
                }
                if let Some(state) = task.work.evidence.get_mut(evidence) {
                    state.found = Some(at);
                    state.text.clone_from(text);
                    state.nulled.clone_from(nulled);
                    state.saved = *saved;
                }
            }
        }
    }

    /// A call was requested, perhaps for a piece of evidence.
    pub(super) fn seek(
        &mut self,
        at: u64,
        task: TaskId,
        evidence: Option<EvidenceId>,
        source: EvidenceSource,
    ) {
        if let Some((evidence, task)) = evidence.zip(self.task_mut(task)) {
            task.work.evidence.insert(evidence, EvidenceState::new(source, at));
        }
    }
}

impl Family for PlanEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_plan(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            PlanEvent::PlanWritten { task, plan } => {
                Some((Some(*task), What::Plan { plan: Arc::clone(plan) }))
            }
            PlanEvent::EvidenceFound { nulled: None, .. } => None,
            PlanEvent::ToolsClassified { .. }
            | PlanEvent::ToolClassSet { .. }
            | PlanEvent::PlanRefused { .. }
            | PlanEvent::EvidenceFound { nulled: Some(_), .. } => What::told(self.clone()),
        }
    }
}
