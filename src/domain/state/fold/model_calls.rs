//! The fold of model calls.

use std::sync::Arc;

use super::Family;
use crate::chat::{Request, Usage};
use crate::event::{Bill, ModelCallEvent};
use crate::finite::Finite;
use crate::id::TaskId;
use crate::state::models::{CallUsage, FailedUsage};
use crate::state::{EffectIndex, EvidenceSource, ModelCallPhase, ModelCallState, State, What};

impl State {
    fn apply_model_call(&mut self, at: u64, event: &ModelCallEvent) {
        match event {
            ModelCallEvent::ModelCallRequested {
                effect: of,
                task,
                role,
                model,
                request,
                evidence,
            } => {
                let request = self.shared(*task, request);
                let place = EffectIndex::ModelCall(self.model_calls.len());
                let Some(effect) = self.request(at, *of, *task, place) else { return };
                self.model_calls.push(ModelCallState {
                    effect,
                    role: *role,
                    model: model.clone(),
                    request,
                    evidence: *evidence,
                    phase: ModelCallPhase::Requested,
                    partial: String::new(),
                    judged: Vec::new(),
                    retries: 0,
                    billed: None,
                    dollars: None,
                    lost: None,
                    rewritten: None,
                    unread: None,
                });
                if let Some(task) = self.task_mut(*task) {
                    task.add_model_call(*role, of.id);
                }
                self.seek(at, *task, *evidence, EvidenceSource::Model(of.id));
            }
            ModelCallEvent::ModelCallStarted { effect } => {
                self.start(at, *effect);
                if let Some(call) = self.model_call_mut(effect.id) {
                    call.phase = ModelCallPhase::Running;
                }
            }
            ModelCallEvent::ModelCallSent { .. } | ModelCallEvent::ModelCallAnswered { .. } => {}
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
                if !role.is_of_agent() {
                    return self.count_grading(task, reply.usage, *dollars);
                }
                self.charge_model_call(task, credits, micros);
                let listed = self.models.lists(&model, &reply.usage);
                self.count_tokens(task, reply.usage, *dollars, listed);
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
                if !role.is_of_agent() {
                    let Some(Bill { usage, dollars }) = *billed else { return };
                    return self.count_grading(task, usage, dollars);
                }
                self.charge_model_call(task, credits, micros);
                if let Some(Bill { usage, dollars }) = *billed {
                    let listed = self.models.lists(&model, &usage);
                    self.count_tokens(task, usage, dollars, listed);
                }
            }
        }
    }

    /// A request that shares equal messages with the request before it in the same task, since an agent sends its whole
    /// past each time.
    fn shared(&self, task: TaskId, request: &Arc<Request>) -> Arc<Request> {
        let before = self.task(task).and_then(|task| self.model_call(*task.model_calls.last()?));
        let Some(before) = before.map(|before| &before.request) else { return Arc::clone(request) };
        let mut shared = (**request).clone();
        shared.messages.share(&before.messages);
        if shared.tools == before.tools {
            shared.tools = Arc::clone(&before.tools);
        }
        Arc::new(shared)
    }

    /// Adds the tokens and the cost of grading a task's answer.
    fn count_grading(&mut self, task: TaskId, usage: Usage, dollars: Option<Finite>) {
        if let Some(task) = self.task_mut(task) {
            task.grading.get_or_insert_default().count(usage, dollars);
        }
    }

    /// Adds the tokens that a model read and wrote for a task, and their cost, which may be by list prices.
    pub(super) fn count_tokens(
        &mut self,
        task: TaskId,
        usage: Usage,
        dollars: Option<Finite>,
        listed: bool,
    ) {
        let Some(task) = self.task_mut(task) else { return };
        // Endpoints may report any number, even 2^64 - 1 tokens twice.
        task.tokens_in = task.tokens_in.saturating_add(usage.tokens_in);
        task.cached = task.cached.saturating_add(usage.cached);
        task.tokens_out = task.tokens_out.saturating_add(usage.tokens_out);
        task.dollars += dollars.unwrap_or_default();
        task.unpriced += u32::from(dollars.is_none());
        task.listed |= listed;
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
            | ModelCallEvent::ModelCallSent { .. }
            | ModelCallEvent::ModelCallAnswered { .. }
            | ModelCallEvent::ModelCallProgressed { .. }
            | ModelCallEvent::ModelCallFinished { .. }
            | ModelCallEvent::ModelCallFailed { .. } => None,
        }
    }
}
