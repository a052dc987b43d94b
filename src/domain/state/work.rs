//! What a planner wrote, and how far its workers are.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use super::{ModelCallState, State, TaskState, ToolCallPhase};
use crate::domain::{
    chat::Role,
    event::Event,
    id::EffectId,
    null_filter::Nulled,
    plan::{EvidenceId, Plan, PlanStep},
};

/// The plan of a task, and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Work {
    /// `None` until one could be read.
    pub plan: Option<Arc<Plan>>,
    /// Why answers of the planner could not be used.
    pub refused: Vec<String>,
    /// What was begun, in the order in which it was.
    pub evidence: IndexMap<EvidenceId, EvidenceState>,
}

/// A piece of evidence that somebody looks for, or has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceState {
    pub source: Source,
    /// Since when, in microseconds since the session was opened.
    pub since: u64,
    pub found: Option<u64>,
    /// What a model said; what a call found is in the call.
    pub text: Option<String>,
    /// Why it reaches the solver as null, if it does.
    pub nulled: Option<Nulled>,
    /// Tokens that the solver is spared.
    pub saved: u64,
}

/// Who looks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Call(EffectId),
    /// A model, asked in so many words.
    Model,
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

    /// Whether it is known what reaches the solver of this evidence.
    pub fn is_found(&self, evidence: EvidenceId) -> bool {
        self.evidence.get(&evidence).is_some_and(|evidence| evidence.found.is_some())
    }

    /// How many pieces of evidence reach the solver as null.
    pub fn nulled(&self) -> usize {
        self.evidence.values().filter(|evidence| evidence.nulled.is_some()).count()
    }
}

impl State {
    /// What the solver is given of a piece of evidence; `None` where it is null or not there yet.
    pub fn evidence_text<'s>(&'s self, work: &'s Work, id: EvidenceId) -> Option<&'s str> {
        let evidence = work.evidence.get(&id)?;
        if evidence.found.is_none() || evidence.nulled.is_some() {
            return None;
        }
        match evidence.source {
            Source::Model => evidence.text.as_deref(),
            Source::Call(call) => match &self.call(call)?.phase {
                ToolCallPhase::Done { output } => Some(&output.text),
                ToolCallPhase::Failed { error } => Some(&error.text),
                ToolCallPhase::Refused { why, .. } => Some(why),
                ToolCallPhase::Requested | ToolCallPhase::Running => None,
            },
        }
    }

    /// What a model was asked for a piece of evidence, if it was one that looked for it.
    pub fn evidence_ask(&self, task: &TaskState, id: EvidenceId) -> Option<&ModelCallState> {
        let evidence = task.work.evidence.get(&id).filter(|it| it.source == Source::Model)?;
        // Evidence is asked for one after the other, and by the actor alone.
        let after = task.asks.partition_point(|ask| {
            self.ask(*ask).is_some_and(|ask| ask.requested < evidence.since)
        });
        let mut asks = task.asks.get(after..)?.iter().filter_map(|ask| self.ask(*ask));
        asks.find(|ask| ask.role == Role::Actor)
            .filter(|ask| evidence.found.is_none_or(|found| ask.requested <= found))
    }

    pub(super) fn apply_work(&mut self, at: u64, event: &Event) {
        let (Event::PlanWritten { task, .. }
        | Event::PlanRefused { task, .. }
        | Event::EvidenceAsked { task, .. }
        | Event::EvidenceFound { task, .. }) = event
        else {
            return;
        };
        let Some(task) = self.task_mut(*task) else { return };
        let work = &mut task.work;
        match event {
            Event::PlanWritten { plan, .. } => {
                task.plans = task.plans.saturating_add(plan.steps.len() as u64);
                work.plan = Some(Arc::clone(plan));
                work.evidence.clear();
            }
            Event::PlanRefused { why, .. } => work.refused.push(why.clone()),
            Event::EvidenceAsked { evidence, .. } => {
                work.evidence.insert(*evidence, EvidenceState::new(Source::Model, at));
            }
            Event::EvidenceFound { evidence, text, nulled, saved, .. } => {
                if let Some(state) = work.evidence.get_mut(evidence) {
                    state.found = Some(at);
                    state.text.clone_from(text);
                    state.nulled.clone_from(nulled);
                    state.saved = *saved;
                }
            }
            _ => {}
        }
    }

    /// A call was requested for a piece of evidence.
    pub(super) fn seek(&mut self, at: u64, event: &Event) {
        if let Event::ToolCallRequested { call, task, evidence: Some(evidence), .. } = event
            && let Some(task) = self.task_mut(*task)
        {
            let state = EvidenceState::new(Source::Call(*call), at);
            task.work.evidence.insert(*evidence, state);
        }
    }
}
