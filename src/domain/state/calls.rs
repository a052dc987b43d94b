//! Model requests and tool calls, from the wish to the end.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{
    Hold, State, index, is_next,
    models::{Used, Vain},
};
use crate::domain::{
    chat::{Reply, Request, Role, Usage},
    error::{ModelError, ToolError},
    event::{Billed, Event, Lane, Refusal},
    id::{EffectId, FaultId, ModelName, TaskId, ToolName},
    output::ToolOutput,
    plan::EvidenceId,
};

/// Where a model request stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelCallPhase {
    /// Wanted, but not sent yet.
    Requested,
    Running,
    Done {
        reply: Arc<Reply>,
    },
    Failed {
        error: ModelError,
    },
}

/// One model request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCallState {
    pub id: EffectId,
    pub task: TaskId,
    pub role: Role,
    pub model: ModelName,
    /// Exactly what the model saw.
    pub request: Arc<Request>,
    pub phase: ModelCallPhase,
    /// What has streamed in so far; empty once the answer is whole.
    pub partial: String,
    pub retries: u32,
    /// Of one that failed: what it has probably used all the same.
    pub billed: Option<Usage>,
    pub dollars: Option<f64>,
    /// Microseconds since the session was opened.
    pub requested: u64,
    pub started: Option<u64>,
    pub ended: Option<u64>,
}

/// Where a tool call stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// Wanted, but not running yet.
    Requested,
    Running,
    /// Not run, and free of charge.
    Refused {
        why: String,
        reason: Refusal,
    },
    Done {
        output: ToolOutput,
    },
    Failed {
        error: ToolError,
    },
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCallState {
    pub id: EffectId,
    pub task: TaskId,
    pub step: u32,
    pub tool: ToolName,
    pub arguments: Value,
    /// What of a plan it is to find.
    pub evidence: Option<EvidenceId>,
    pub phase: ToolCallPhase,
    /// The fault that fired on it, if one did.
    pub injected: Option<FaultId>,
    /// Whether its result helped, once that was judged.
    pub helpful: Option<bool>,
    /// Microseconds since the session was opened.
    pub requested: u64,
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// Microseconds spent held by the user since it started; no part of its own time.
    pub held: u64,
    /// From when to when it was held, before it started and after it ended too, in microseconds since
    /// the session was opened. A hold that lasts is in [`super::Control::held`].
    pub holds: Vec<(u64, u64)>,
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

    /// What it used, as far as that is known.
    pub fn usage(&self) -> Option<Usage> {
        self.reply().map(|reply| reply.usage).or(self.billed)
    }

    /// How long it took, or has taken until `now`, in microseconds; 0 while it has not started.
    pub fn elapsed(&self, now: u64) -> u64 {
        self.started.map_or(0, |started| self.ended.unwrap_or(now).saturating_sub(started))
    }
}

impl ToolCallPhase {
    pub fn is_over(&self) -> bool {
        match self {
            ToolCallPhase::Requested | ToolCallPhase::Running => false,
            ToolCallPhase::Refused { .. }
            | ToolCallPhase::Done { .. }
            | ToolCallPhase::Failed { .. } => true,
        }
    }
}

impl ToolCallState {
    /// How long it ran, or has run until `now`, without the time it was held, in microseconds.
    pub fn elapsed(&self, now: u64) -> u64 {
        let started = self.started.unwrap_or(self.requested);
        self.ended.unwrap_or(now).saturating_sub(started).saturating_sub(self.held)
    }

    /// What the agent was told.
    pub fn observation(&self) -> Option<&str> {
        match &self.phase {
            ToolCallPhase::Requested | ToolCallPhase::Running => None,
            ToolCallPhase::Refused { why, .. } => Some(why),
            ToolCallPhase::Done { output } => Some(&output.text),
            ToolCallPhase::Failed { error } => Some(&error.text),
        }
    }
}

impl State {
    pub(super) fn apply_ask(&mut self, at: u64, event: &Event) {
        if let Event::ModelCallRequested { ask, task, role, model, request } = event {
            if !is_next(ask.0, self.asks.len()) {
                return;
            }
            self.asks.push(ModelCallState {
                id: *ask,
                task: *task,
                role: *role,
                model: model.clone(),
                request: Arc::clone(request),
                phase: ModelCallPhase::Requested,
                partial: String::new(),
                retries: 0,
                billed: None,
                dollars: None,
                requested: at,
                started: None,
                ended: None,
            });
            if let Some(task) = self.task_mut(*task) {
                task.asks.push(*ask);
            }
            return;
        }
        let (Event::ModelCallStarted { ask }
        | Event::ModelCallProgressed { ask, .. }
        | Event::ModelCallRetried { ask, .. }
        | Event::ModelCallFinished { ask, .. }
        | Event::ModelCallFailed { ask, .. }) = event
        else {
            return;
        };
        let Some(state) = index(ask.0).and_then(|i| self.asks.get_mut(i)) else { return };
        if let Event::ModelCallStarted { .. } = event {
            state.started = Some(at);
            state.phase = ModelCallPhase::Running;
        }
        if let Event::ModelCallProgressed { text, reasoning, .. } = event {
            state.partial.push_str(reasoning);
            state.partial.push_str(text);
        }
        if let Event::ModelCallRetried { .. } = event {
            state.retries += 1;
            self.models.retried(state.role, &state.model);
        }
        if let Event::ModelCallFailed { error, billed, .. } = event {
            state.end(at, ModelCallPhase::Failed { error: error.clone() });
            state.billed = billed.map(|billed| billed.usage);
            state.dollars = billed.and_then(|billed| billed.dollars);
            let (task, micros) = (state.task, state.elapsed(at));
            let credits = billed.map_or(0.0, |billed| self.rates.ask(billed.dollars));
            let vain = Vain { billed: *billed, credits, micros };
            self.models.failed(state.role, &state.model, vain);
            self.charge_ask(task, credits, micros);
            if let Some(Billed { usage, dollars }) = *billed {
                self.count_tokens(task, usage, dollars);
            }
            return;
        }
        if let Event::ModelCallFinished { reply, dollars, .. } = event {
            state.dollars = *dollars;
            state.end(at, ModelCallPhase::Done { reply: Arc::clone(reply) });
            let micros = state.elapsed(at);
            let credits = self.rates.ask(*dollars);
            let spent = Used { usage: reply.usage, dollars: *dollars, credits, micros };
            self.models.used(state.role, &state.model, spent);
            let task = state.task;
            self.charge_ask(task, credits, micros);
            self.count_tokens(task, reply.usage, *dollars);
        }
    }

    /// A task had this read and written by a model.
    pub(super) fn count_tokens(&mut self, task: TaskId, usage: Usage, dollars: Option<f64>) {
        let Some(task) = self.task_mut(task) else { return };
        // Endpoints say what they like, also 2^64 - 1 tokens twice.
        task.tokens_in = task.tokens_in.saturating_add(usage.tokens_in);
        task.tokens_out = task.tokens_out.saturating_add(usage.tokens_out);
        task.dollars += dollars.unwrap_or(0.0);
        task.unpriced += u32::from(dollars.is_none());
    }

    pub(super) fn apply_call(&mut self, at: u64, event: &Event) {
        if let Event::ToolCallRequested { call, task, step, tool, arguments, evidence } = event {
            if !is_next(call.0, self.calls.len()) {
                return;
            }
            self.calls.push(ToolCallState {
                id: *call,
                task: *task,
                step: *step,
                tool: tool.clone(),
                arguments: arguments.clone(),
                evidence: *evidence,
                phase: ToolCallPhase::Requested,
                injected: None,
                helpful: None,
                requested: at,
                started: None,
                ended: None,
                held: 0,
                holds: Vec::new(),
            });
            if let Some(task) = self.task_mut(*task) {
                task.calls.push(*call);
            }
            return;
        }
        let (Event::ToolCallRefused { call, .. }
        | Event::ToolCallStarted { call }
        | Event::FaultFired { call, .. }
        | Event::ToolCallFinished { call, .. }
        | Event::ToolCallFailed { call, .. }) = event
        else {
            return;
        };
        let Some(state) = index(call.0).and_then(|i| self.calls.get_mut(i)) else { return };
        match event {
            Event::ToolCallStarted { .. } => {
                state.started = Some(at);
                state.phase = ToolCallPhase::Running;
                let (tool, task) = (state.tool.clone(), state.task);
                self.count_call(&tool, task);
            }
            Event::FaultFired { fault, .. } => {
                state.injected = Some(*fault);
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.fired += 1;
                }
            }
            Event::ToolCallRefused { why, reason, .. } => {
                state.end(at, ToolCallPhase::Refused { why: why.clone(), reason: *reason });
                let (tool, task) = (state.tool.clone(), state.task);
                self.count_end(&tool, None, |tool| tool.refused += 1);
                self.refuse(task, &tool, *reason);
            }
            Event::ToolCallFinished { output, .. } => {
                state.end(at, ToolCallPhase::Done { output: output.clone() });
                let (tool, task, micros) = (state.tool.clone(), state.task, state.elapsed(at));
                self.count_end(&tool, Some(micros), |tool| tool.succeeded += 1);
                self.charge_call_time(task, &tool, micros);
            }
            Event::ToolCallFailed { error, .. } => {
                let ran = state.started.is_some();
                state.end(at, ToolCallPhase::Failed { error: error.clone() });
                let (tool, task, micros) = (state.tool.clone(), state.task, state.elapsed(at));
                self.count_end(&tool, ran.then_some(micros), |tool| {
                    let count = if ran { &mut tool.failed } else { &mut tool.refused };
                    *count += 1;
                });
                if ran {
                    self.charge_call_time(task, &tool, micros);
                }
            }
            _ => {}
        }
    }

    /// Time held is no part of a call's own time.
    pub(super) fn charge_hold(&mut self, hold: Hold, until: u64) {
        if let Lane::Call(call) = hold.lane
            && let Some(call) = index(call.0).and_then(|i| self.calls.get_mut(i))
        {
            call.holds.push((hold.since, until));
            if call.started.is_some() && call.ended.is_none() {
                call.held = call.held.saturating_add(until.saturating_sub(hold.since));
            }
        }
    }
}

impl ModelCallState {
    fn end(&mut self, at: u64, phase: ModelCallPhase) {
        self.ended = Some(at);
        self.partial.clear();
        self.phase = phase;
    }
}

impl ToolCallState {
    fn end(&mut self, at: u64, phase: ToolCallPhase) {
        self.ended = Some(at);
        self.phase = phase;
    }
}
