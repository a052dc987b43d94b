//! Tool calls, from the request to the end.

use std::{ops::Deref, sync::Arc};

use serde::Serialize;
use serde_json::Value;

use super::{EffectState, State, What, effects::Place, family::Family};
use crate::domain::event::{Refusal, ToolCallEvent};
use crate::domain::id::{EffectId, TaskId, ToolName};
use crate::domain::{error::ToolError, output::ToolOutput, plan::EvidenceId};

/// The progress of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPhase {
    /// Requested, but not running yet.
    Requested,
    Running,
    /// Not run, at no cost.
    Refused {
        why: String,
        reason: Refusal,
    },
    Done {
        output: Arc<ToolOutput>,
    },
    Failed {
        error: ToolError,
    },
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCallState {
    #[serde(flatten)]
    pub effect: EffectState,
    pub step: u32,
    pub tool: ToolName,
    pub arguments: Value,
    /// The evidence of a plan that the call must find.
    pub evidence: Option<EvidenceId>,
    pub phase: ToolCallPhase,
    /// Whether its result helped, once it was judged.
    pub helpful: Option<bool>,
}

impl Deref for ToolCallState {
    type Target = EffectState;

    /// A tool call is an effect: its common part is read as its own.
    fn deref(&self) -> &EffectState {
        &self.effect
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
    /// The text that the agent saw.
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
    pub(super) fn apply_tool_call(&mut self, at: u64, event: &ToolCallEvent) {
        match event {
            ToolCallEvent::ToolCallRequested {
                effect: of,
                task,
                step,
                tool,
                arguments,
                evidence,
            } => {
                let place = Place::ToolCall(self.tool_calls.len());
                let Some(effect) = self.request(at, *of, *task, place) else { return };
                self.tool_calls.push(ToolCallState {
                    effect,
                    step: *step,
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    evidence: *evidence,
                    phase: ToolCallPhase::Requested,
                    helpful: None,
                });
                if let Some(task) = self.task_mut(*task) {
                    task.add_tool_call(of.id);
                }
                self.seek(at, *task, *evidence, super::Source::Call(of.id));
                self.count_occasions(of.id);
            }
            ToolCallEvent::ToolCallStarted { effect } => {
                self.start(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Running;
                let (tool, task) = (call.tool.clone(), call.task);
                self.count_call(&tool, task);
            }
            ToolCallEvent::ToolCallRefused { effect, why, reason } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Refused { why: why.clone(), reason: *reason };
                let (tool, task) = (call.tool.clone(), call.task);
                self.count_end(&tool, None, |tool| tool.refused += 1);
                self.refuse(task, &tool, *reason);
            }
            ToolCallEvent::ToolCallFinished { effect, output } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Done { output: Arc::clone(output) };
                let (tool, task, micros) = (call.tool.clone(), call.task, call.elapsed(at));
                self.count_end(&tool, Some(micros), |tool| tool.succeeded += 1);
                self.charge_call_time(task, &tool, micros);
            }
            ToolCallEvent::ToolCallFailed { effect, error } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Failed { error: error.clone() };
                let ran = call.started.is_some();
                let (tool, task, micros) = (call.tool.clone(), call.task, call.elapsed(at));
                self.count_end(&tool, ran.then_some(micros), |tool| {
                    let count = if ran { &mut tool.failed } else { &mut tool.refused };
                    *count += 1;
                });
                if ran {
                    self.charge_call_time(task, &tool, micros);
                }
            }
        }
    }

    pub(super) fn tool_call_mut(&mut self, id: EffectId) -> Option<&mut ToolCallState> {
        match self.place(id)? {
            Place::ToolCall(at) => self.tool_calls.get_mut(at),
            Place::ModelCall(_) | Place::Embedding(_) => None,
        }
    }
}

impl Family for ToolCallEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_tool_call(at, self);
    }

    fn line(&self, _state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ToolCallEvent::ToolCallRequested { effect: of, task, .. } => {
                Some((Some(*task), What::ToolCall { call: of.id }))
            }
            ToolCallEvent::ToolCallRefused { .. }
            | ToolCallEvent::ToolCallStarted { .. }
            | ToolCallEvent::ToolCallFinished { .. }
            | ToolCallEvent::ToolCallFailed { .. } => None,
        }
    }
}
