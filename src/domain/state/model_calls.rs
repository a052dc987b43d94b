//! Model calls, from the request to the end.

use std::{ops::Deref, sync::Arc};

use serde::Serialize;

use super::{EffectState, State, What, effects::Place};
use super::{
    family::Family,
    models::{CallUsage, FailedUsage},
};
use crate::domain::chat::{Reply, Request, Role, Usage};
use crate::domain::event::{Bill, ModelCallEvent};
use crate::domain::id::{EffectId, ModelName, TaskId};
use crate::domain::{error::ModelError, plan::EvidenceId};

/// The progress of a model call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelCallPhase {
    /// Requested, but not sent yet.
    Requested,
    Running,
    Done {
        reply: Arc<Reply>,
    },
    Failed {
        error: ModelError,
    },
}

/// One model call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCallState {
    #[serde(flatten)]
    pub effect: EffectState,
    pub role: Role,
    pub model: ModelName,
    /// Exactly what the model saw.
    pub request: Arc<Request>,
    /// The evidence of a plan that the call must find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceId>,
    pub phase: ModelCallPhase,
    /// The streamed text so far; empty once the answer is complete.
    pub partial: String,
    pub retries: u32,
    /// For a failed call: its probable usage.
    pub billed: Option<Usage>,
    pub dollars: Option<f64>,
}

impl Deref for ModelCallState {
    type Target = EffectState;

    /// A model call is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
    }
}

impl ModelCallPhase {
    pub fn is_over(&self) -> bool {
        match self {
            ModelCallPhase::Requested | ModelCallPhase::Running => false,
            ModelCallPhase::Done { .. } | ModelCallPhase::Failed { .. } => true,
        }
    }
}

impl ModelCallState {
    pub fn reply(&self) -> Option<&Reply> {
        match &self.phase {
            ModelCallPhase::Done { reply } => Some(reply),
            ModelCallPhase::Requested | ModelCallPhase::Running | ModelCallPhase::Failed { .. } => {
                None
            }
        }
    }

    /// Its usage, as far as known.
    pub fn usage(&self) -> Option<Usage> {
        self.reply().map(|reply| reply.usage).or(self.billed)
    }
}

impl State {
    pub(super) fn apply_model_call(&mut self, at: u64, event: &ModelCallEvent) {
        match event {
            ModelCallEvent::ModelCallRequested {
                effect: of,
                task,
                role,
                model,
                request,
                evidence,
            } => {
                let place = Place::ModelCall(self.model_calls.len());
                let Some(effect) = self.request(at, *of, *task, place) else { return };
                self.model_calls.push(ModelCallState {
                    effect,
                    role: *role,
                    model: model.clone(),
                    request: Arc::clone(request),
                    evidence: *evidence,
                    phase: ModelCallPhase::Requested,
                    partial: String::new(),
                    retries: 0,
                    billed: None,
                    dollars: None,
                });
                if let Some(task) = self.task_mut(*task) {
                    task.add_model_call(*role, of.id);
                }
                self.seek(at, *task, *evidence, super::Source::Model(of.id));
                self.count_occasions(of.id);
            }
            ModelCallEvent::ModelCallStarted { effect } => {
                self.start(at, *effect);
                if let Some(call) = self.model_call_mut(effect.id) {
                    call.phase = ModelCallPhase::Running;
                }
            }
            ModelCallEvent::ModelCallProgressed { effect, text, reasoning } => {
                if let Some(call) = self.model_call_mut(effect.id) {
                    call.partial.push_str(reasoning);
                    call.partial.push_str(text);
                }
            }
            ModelCallEvent::ModelCallRetried { effect, .. } => {
                let Some(call) = self.model_call_mut(effect.id) else { return };
                call.retries += 1;
                let (role, model) = (call.role, call.model.clone());
                self.models.retried(role, &model);
            }
            ModelCallEvent::ModelCallFinished { effect, reply, dollars } => {
                self.end(at, *effect);
                let credits = self.rates.model(*dollars);
                let Some(call) = self.model_call_mut(effect.id) else { return };
                call.close(ModelCallPhase::Done { reply: Arc::clone(reply) });
                call.dollars = *dollars;
                let (task, micros) = (call.task, call.elapsed(at));
                let (role, model) = (call.role, call.model.clone());
                let used = CallUsage { usage: reply.usage, dollars: *dollars, credits, micros };
                self.models.used(role, &model, used);
                self.charge_model_call(task, credits, micros);
                self.count_tokens(task, reply.usage, *dollars);
            }
            ModelCallEvent::ModelCallFailed { effect, error, billed } => {
                self.end(at, *effect);
                let credits = billed.map_or(0.0, |billed| self.rates.model(billed.dollars));
                let Some(call) = self.model_call_mut(effect.id) else { return };
                call.close(ModelCallPhase::Failed { error: error.clone() });
                call.billed = billed.map(|billed| billed.usage);
                call.dollars = billed.and_then(|billed| billed.dollars);
                let (task, micros) = (call.task, call.elapsed(at));
                let (role, model) = (call.role, call.model.clone());
                self.models.failed(role, &model, FailedUsage { billed: *billed, credits, micros });
                self.charge_model_call(task, credits, micros);
                if let Some(Bill { usage, dollars }) = *billed {
                    self.count_tokens(task, usage, dollars);
                }
            }
        }
    }

    /// Adds the tokens that a model read and wrote for a task.
    pub(super) fn count_tokens(&mut self, task: TaskId, usage: Usage, dollars: Option<f64>) {
        let Some(task) = self.task_mut(task) else { return };
        // Endpoints may report any number, even 2^64 - 1 tokens twice.
        task.tokens_in = task.tokens_in.saturating_add(usage.tokens_in);
        task.tokens_out = task.tokens_out.saturating_add(usage.tokens_out);
        task.dollars += dollars.unwrap_or(0.0);
        task.unpriced += u32::from(dollars.is_none());
    }

    fn model_call_mut(&mut self, id: EffectId) -> Option<&mut ModelCallState> {
        match self.place(id)? {
            Place::ModelCall(at) => self.model_calls.get_mut(at),
            Place::ToolCall(_) | Place::Embedding(_) => None,
        }
    }
}

impl ModelCallState {
    fn close(&mut self, phase: ModelCallPhase) {
        self.partial.clear();
        self.phase = phase;
    }
}

impl Family for ModelCallEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_model_call(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ModelCallEvent::ModelCallRequested { effect: of, task, .. } => {
                Some((Some(*task), What::ModelCall { call: of.id }))
            }
            ModelCallEvent::ModelCallRetried { .. } => What::told(self.clone()),
            ModelCallEvent::ModelCallStarted { .. }
            | ModelCallEvent::ModelCallProgressed { .. }
            | ModelCallEvent::ModelCallFinished { .. }
            | ModelCallEvent::ModelCallFailed { .. } => None,
        }
    }
}
