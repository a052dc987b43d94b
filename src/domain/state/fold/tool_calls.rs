//! The fold of tool calls.

use std::sync::Arc;

use super::Family;
use crate::event::{By, EffectRef, ToolCallEvent};
use crate::id::{TaskId, ToolName};
use crate::state::{
    EffectIndex, EvidenceSource, Relayed, State, ToolCallPhase, ToolCallState, What,
};

impl State {
    fn apply_tool_call(&mut self, at: u64, event: &ToolCallEvent) {
        match event {
            ToolCallEvent::ToolCallRequested {
                effect: of,
                task,
                step,
                tool,
                arguments,
                evidence,
                by,
                wire_id,
            } => {
                let place = EffectIndex::ToolCall(self.tool_calls.len());
                let Some(effect) = self.request(at, *of, *task, place) else { return };
                self.tool_calls.push(ToolCallState {
                    effect,
                    step: *step,
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                    own: None,
                    shows_own: false,
                    evidence: *evidence,
                    phase: ToolCallPhase::Requested,
                    progress: None,
                    helpful: None,
                    by: *by,
                    wire_id: wire_id.clone(),
                    withheld: None,
                    unseen: None,
                    relayed: None,
                    is_skipped: false,
                });
                if *by == By::User {
                    self.by_hand.push(of.id);
                    return;
                }
                self.add_to_task(*task, *of, tool);
                self.call_of_program(*of, *task);
                self.seek(at, *task, *evidence, EvidenceSource::Call(of.id));
            }
            ToolCallEvent::ToolCallStarted { effect } => {
                self.start(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Running;
                if !call.is_by_hand() {
                    let (tool, task) = (call.tool.clone(), call.task);
                    self.count_call(&tool, task);
                }
            }
            ToolCallEvent::ToolCallRefused { effect, why, reason } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Refused { why: why.clone(), reason: *reason };
                if call.is_by_hand() {
                    return;
                }
                let (tool, task) = (call.tool.clone(), call.task);
                self.count_end(&tool, None, |tool| tool.refused += 1);
                self.refuse(task, &tool, *reason);
            }
            ToolCallEvent::ToolCallFinished { effect, output } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Done { output: Arc::clone(output) };
                if call.is_by_hand() {
                    return;
                }
                let (tool, task) = (call.tool.clone(), call.task);
                // Nobody knows how long a call took whose result no request has.
                let micros = call.unseen.is_none().then(|| call.elapsed(at));
                self.count_end(&tool, micros, |tool| tool.succeeded += 1);
                micros.into_iter().for_each(|it| self.charge_call_time(task, &tool, it));
            }
            ToolCallEvent::ToolCallFailed { effect, error } => {
                self.end(at, *effect);
                let Some(call) = self.tool_call_mut(effect.id) else { return };
                call.phase = ToolCallPhase::Failed { error: error.clone() };
                if call.is_by_hand() {
                    return;
                }
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
            ToolCallEvent::ToolCallProgressed { .. }
            | ToolCallEvent::ResultWithheld { .. }
            | ToolCallEvent::ResultUnseen { .. }
            | ToolCallEvent::CallSent { .. }
            | ToolCallEvent::CallRan { .. }
            | ToolCallEvent::ResultRead { .. }
            | ToolCallEvent::CallSkipped { .. } => self.mark_tool_call(at, event),
        }
    }

    /// Adds a call of the agent to its task, and counts what it came after.
    fn add_to_task(&mut self, task: TaskId, call: EffectRef, tool: &ToolName) {
        if self.watched.is_some() && self.at_work.contains(task) {
            self.followed.call(task, call.parent, tool);
        }
        if let Some(task) = self.task_mut(task) {
            task.add_tool_call(call.id);
        }
    }

    /// Notes in a call an event that neither starts nor ends it.
    fn mark_tool_call(&mut self, at: u64, event: &ToolCallEvent) {
        let effect: Option<EffectRef> = event.part();
        let Some(call) = effect.and_then(|effect| self.tool_call_mut(effect.id)) else { return };
        match event {
            ToolCallEvent::ToolCallProgressed { progress, .. } => {
                call.progress = Some(progress.clone());
            }
            ToolCallEvent::ResultWithheld { output, .. } => {
                call.withheld = Some(Arc::clone(output));
            }
            ToolCallEvent::CallSent { server, .. } => {
                let server = Arc::clone(server);
                call.relayed = Some(Relayed { server, sent: at, ran: None, read: None });
            }
            ToolCallEvent::ResultUnseen { why, .. } => call.unseen = Some(*why),
            ToolCallEvent::CallSkipped { .. } => call.is_skipped = true,
            event => {
                let Some(relayed) = &mut call.relayed else { return };
                match event {
                    ToolCallEvent::CallRan { .. } => relayed.ran = Some(at),
                    ToolCallEvent::ResultRead { .. } => relayed.read = Some(at),
                    _ => {}
                }
            }
        }
    }
}

impl Family for ToolCallEvent {
    fn fold(&self, state: &mut State, at: u64) {
        state.apply_tool_call(at, self);
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            ToolCallEvent::ToolCallRequested { effect: of, task, .. } => {
                // A call by hand may come before the first task.
                let task = Some(*task).filter(|task| state.task(*task).is_some());
                Some((task, What::ToolCall { call: of.id }))
            }
            ToolCallEvent::ToolCallRefused { .. }
            | ToolCallEvent::ToolCallStarted { .. }
            | ToolCallEvent::ToolCallProgressed { .. }
            | ToolCallEvent::ToolCallFinished { .. }
            | ToolCallEvent::ToolCallFailed { .. }
            | ToolCallEvent::ResultWithheld { .. }
            | ToolCallEvent::ResultUnseen { .. }
            | ToolCallEvent::CallSent { .. }
            | ToolCallEvent::CallRan { .. }
            | ToolCallEvent::ResultRead { .. }
            | ToolCallEvent::CallSkipped { .. } => None,
        }
    }
}
