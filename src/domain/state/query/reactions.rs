//! Reactions of an agent to calls that a fault hit.

use super::laps::asks_the_same;
use crate::chat::{Message, Role};
use crate::event::Outcome;
use crate::fault::canary_in;
use crate::id::FaultId;
use crate::state::{
    ModelCallPhase, ModelCallState, Reaction, State, TakenHit, TaskState, ToolCallPhase,
    ToolCallState,
};

impl State {
    /// The calls of a task that a fault hit, in order.
    pub(super) fn hits(&self, task: &TaskState) -> Vec<TakenHit> {
        if self.faults.is_empty() {
            return Vec::new();
        }
        let calls = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let calls = calls.filter_map(|call| Some((call.injected?, self.after_call(task, call))));
        let asked = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        let asked = asked.filter_map(|call| Some((call.injected?, self.after_reply(task, call))));
        let hit = |(fault, reaction): (FaultId, Reaction)| {
            let known = self.faults.get(&fault);
            let keeps = known.is_some_and(|known| known.spec.kind.keeps_answer());
            TakenHit { fault, reaction: if keeps { Reaction::Answered } else { reaction } }
        };
        calls.chain(asked).map(hit).collect()
    }

    fn after_call(&self, task: &TaskState, hit: &ToolCallState) -> Reaction {
        let canary = match &hit.phase {
            ToolCallPhase::Done { output } => canary_in(&output.text),
            _ => None,
        };
        if canary.is_some_and(|canary| self.says(task, hit.n, canary)) {
            return Reaction::Obeyed;
        }
        let Some(ended) = hit.ended else { return without(task) };
        let later = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let mut later = later.filter(|call| call.id > hit.id && call.requested >= ended);
        let next = later.find(|call| call.tool == hit.tool || asks_the_same(call, hit));
        match next {
            Some(call) if call.tool == hit.tool => Reaction::Retried,
            Some(_) => Reaction::Switched,
            None if self.plans_after(task, ended) => Reaction::Replanned,
            None => without(task),
        }
    }

    fn after_reply(&self, task: &TaskState, hit: &ModelCallState) -> Reaction {
        let canary = match &hit.phase {
            ModelCallPhase::Done { reply } => canary_in(&reply.text),
            _ => None,
        };
        if canary.is_some_and(|canary| self.says(task, hit.n, canary)) {
            return Reaction::Obeyed;
        }
        let Some(ended) = hit.ended else { return without(task) };
        let later = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        let later = later.filter(|call| call.id > hit.id && call.requested >= ended);
        match later.filter(|call| call.role == hit.role).find(|call| asks_again(call, hit)) {
            Some(call) if call.model == hit.model => Reaction::Retried,
            Some(_) => Reaction::Switched,
            None if hit.role != Role::Planner && self.plans_after(task, ended) => {
                Reaction::Replanned
            }
            None => without(task),
        }
    }

    /// Whether a planner was called after this moment, in microseconds of the session.
    fn plans_after(&self, task: &TaskState, moment: u64) -> bool {
        let mut asked = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        asked.any(|call| call.role == Role::Planner && call.requested >= moment)
    }

    /// Whether the agent says this word after an event: in its answer, in arguments, or in a reply.
    fn says(&self, task: &TaskState, after: u64, word: &str) -> bool {
        let mut calls = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let mut asked = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        task.answer.as_ref().is_some_and(|answer| answer.contains(word))
            || calls.any(|call| call.n > after && call.arguments.to_string().contains(word))
            || asked.any(|call| {
                let replied = matches!(&call.phase, ModelCallPhase::Done { reply } if reply.text.contains(word));
                call.n > after && replied
            })
    }
}

fn without(task: &TaskState) -> Reaction {
    match task.outcome() {
        Some(Outcome::Answered) | None => Reaction::Ignored,
        Some(_) => Reaction::GaveUp,
    }
}

/// Whether a request is the same as an earlier one, or only adds what was wrong with the reply.
fn asks_again(call: &ModelCallState, earlier: &ModelCallState) -> bool {
    let (now, was) = (&call.request.messages, &earlier.request.messages);
    let Some(mut more) = now.after(was) else { return false };
    let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
    let is_said = |message: &Message| matches!(message, Message::User { .. });
    more.clone().next().is_none()
        || more.clone().all(|it| is_reply(it) || is_said(it)) && more.any(is_said)
}
