//! A planner's plan, and the progress of its workers.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use super::{ModelCallState, State, TaskState, ToolCallPhase, What, family::Family};
use crate::domain::event::PlanEvent;
use crate::domain::id::{EffectId, TaskId, ToolName};
use crate::domain::plan::{EvidenceId, Plan, PlanStep};
use crate::domain::{command::Command, null_filter::NullReason};

/// The plan of a task, and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Work {
    /// `None` until one was parsed.
    pub plan: Option<Arc<Plan>>,
    /// Why answers of the planner were refused.
    pub refused: Vec<String>,
    /// Evidence that was started, in that order.
    pub evidence: IndexMap<EvidenceId, EvidenceState>,
}

/// A piece of evidence that is searched or found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceState {
    pub source: Source,
    /// Start time, in microseconds since the session was opened.
    pub since: u64,
    pub found: Option<u64>,
    /// A model's answer; a tool's result is in the call.
    pub text: Option<String>,
    /// The reason for which it reaches the solver as null, if it does.
    pub nulled: Option<NullReason>,
    /// Tokens that the solver does not have to read.
    pub saved: u64,
}

/// The effect that searches for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A tool call.
    Call(EffectId),
    /// A model call.
    Model(EffectId),
}

impl EvidenceState {
    fn new(source: Source, since: u64) -> Self {
        Self { source, since, found: None, text: None, nulled: None, saved: 0 }
    }
}

impl Work {
    /// The plan that a piece of evidence follows.
    pub fn plan_of(&self, evidence: EvidenceId) -> Option<&PlanStep> {
        let steps = &self.plan.as_ref()?.steps;
        steps.iter().find(|plan| plan.evidence.iter().any(|known| known.id == evidence))
    }

    /// Tokens of results that did not reach the solver.
    pub fn saved(&self) -> u64 {
        self.evidence.values().fold(0, |sum, evidence| sum.saturating_add(evidence.saved))
    }

    /// Whether the final form of this evidence is known.
    pub fn is_found(&self, evidence: EvidenceId) -> bool {
        self.evidence.get(&evidence).is_some_and(|evidence| evidence.found.is_some())
    }

    /// The number of pieces of evidence that reach the solver as null.
    pub fn nulled(&self) -> usize {
        self.evidence.values().filter(|evidence| evidence.nulled.is_some()).count()
    }
}

impl State {
    /// The solver's input for a piece of evidence; `None` if it is null or not found yet.
    pub fn evidence_text<'s>(&'s self, work: &'s Work, id: EvidenceId) -> Option<&'s str> {
        let evidence = work.evidence.get(&id)?;
        if evidence.found.is_none() || evidence.nulled.is_some() {
            return None;
        }
        match evidence.source {
            Source::Model(_) => evidence.text.as_deref(),
            Source::Call(call) => match &self.tool_call(call)?.phase {
                ToolCallPhase::Done { output } => Some(&output.text),
                ToolCallPhase::Failed { error } => Some(&error.text),
                ToolCallPhase::Refused { why, .. } => Some(why),
                ToolCallPhase::Requested | ToolCallPhase::Running => None,
            },
        }
    }

    /// Why a tool's result is null, if it is; `None` stands for a failed call. The one rule for
    /// solver, judge, blacklist and experience.
    pub fn nulled(&self, tool: &ToolName, result: Option<&str>) -> Option<NullReason> {
        let class = self.tools.get(tool).and_then(|tool| tool.class.as_ref());
        let names = class.map(|class| [Some(class.class.as_str()), class.domain.as_deref()]);
        let names: Vec<&str> = names.into_iter().flatten().flatten().collect();
        self.workers.null.nulled(tool, &names, result)
    }

    /// The model call that searches for a piece of evidence, if it is one.
    pub fn evidence_model_call(&self, task: &TaskState, id: EvidenceId) -> Option<&ModelCallState> {
        match task.work.evidence.get(&id)?.source {
            Source::Model(call) => self.model_call(call),
            Source::Call(_) => None,
        }
    }

    pub(super) fn apply_plan(&mut self, at: u64, event: &PlanEvent) {
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
        source: Source,
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

    fn opposite(&self) -> Option<Command> {
        match self {
            PlanEvent::ToolClassSet { tool, was, .. } => {
                Some(Command::SetClass { tool: tool.clone(), class: was.clone() })
            }
            PlanEvent::ToolsClassified { .. }
            | PlanEvent::PlanWritten { .. }
            | PlanEvent::PlanRefused { .. }
            | PlanEvent::EvidenceFound { .. } => None,
        }
    }
}
