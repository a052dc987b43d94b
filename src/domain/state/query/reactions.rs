//! Reactions of an agent to calls that a fault hit.

use super::laps::asks_the_same;
use crate::admits;
use crate::chat::{Message, Role};
use crate::event::Outcome;
use crate::fault::canary_in;
use crate::id::FaultId;
use crate::state::{
    EffectState, ModelCallPhase, ModelCallState, Reaction, ReactionExample, State, TakenHit,
    TaskState, ToolCallPhase, ToolCallState,
};
use crate::words::clipped;

/// Characters of an answer that an example quotes.
const QUOTE: usize = 120;

impl State {
    /// The calls of a task that a fault hit, in order.
    pub(super) fn hits(&self, task: &TaskState) -> Vec<TakenHit> {
        if self.faults.is_empty() {
            return Vec::new();
        }
        let calls = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let calls = calls.filter_map(|call| {
            let fault = call.injected?;
            let (reaction, next) = self.after_call(task, call);
            let next = next.map(|next| (next.tool.to_string(), next.requested));
            let error = call.observation().unwrap_or_default();
            let example = || self.example(task, call, (call.tool.as_str(), error), next);
            Some(self.hit(fault, reaction, example))
        });
        let asked = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        let asked = asked.filter_map(|call| {
            let fault = call.injected?;
            let (reaction, next) = self.after_reply(task, call);
            let next = next.map(|next| (next.model.to_string(), next.requested));
            let error = match &call.phase {
                ModelCallPhase::Failed { error } => error.text.as_str(),
                _ => "",
            };
            let example = || self.example(task, call, (call.model.as_str(), error), next);
            Some(self.hit(fault, reaction, example))
        });
        calls.chain(asked).collect()
    }

    fn hit(
        &self,
        fault: FaultId,
        reaction: Reaction,
        example: impl FnOnce() -> ReactionExample,
    ) -> TakenHit {
        let keeps = self.faults.get(&fault).is_some_and(|known| known.spec.kind.keeps_answer());
        let reaction = if keeps { Reaction::Answered } else { reaction };
        let example = self.watched.is_some().then(|| Box::new(example()));
        TakenHit { fault, reaction, example }
    }

    /// Details of the reaction to an effect that failed: `(name, error)` is what failed, and `next` the call in its place.
    fn example(
        &self,
        task: &TaskState,
        hit: &EffectState,
        (name, error): (&str, &str),
        next: Option<(String, u64)>,
    ) -> ReactionExample {
        let asked = task.model_calls.iter().rev().filter_map(|id| self.model_call(*id));
        let said = asked.filter(|call| call.id > hit.id).find_map(|call| match &call.phase {
            ModelCallPhase::Done { reply } => Some(reply.text.trim()).filter(|it| !it.is_empty()),
            _ => None,
        });
        let answer = task.answer.as_deref().map(str::trim).filter(|answer| !answer.is_empty());
        let answer = answer.or(said).unwrap_or_default();
        let begun = next.as_ref().zip(hit.ended).map_or(0, |((_, at), end)| at.saturating_sub(end));
        ReactionExample {
            admits: next.is_none() && admits::failure(answer, name, error),
            next: next.map(|(name, _)| clipped(&name, QUOTE)),
            after: begun,
            answer: clipped(answer, QUOTE),
        }
    }

    /// The reaction to a tool call, and the call in its place.
    fn after_call<'a>(
        &'a self,
        task: &'a TaskState,
        hit: &ToolCallState,
    ) -> (Reaction, Option<&'a ToolCallState>) {
        let canary = match &hit.phase {
            ToolCallPhase::Done { output } => canary_in(&output.text),
            _ => None,
        };
        if canary.is_some_and(|canary| self.says(task, hit.n, canary)) {
            return (Reaction::Obeyed, None);
        }
        let Some(ended) = hit.ended else { return (without(task), None) };
        let later = task.tool_calls.iter().filter_map(|id| self.tool_call(*id));
        let mut later = later.filter(|call| call.id > hit.id && call.requested >= ended);
        let next = later.find(|call| call.tool == hit.tool || asks_the_same(call, hit));
        let reaction = match next {
            Some(call) if call.tool == hit.tool => Reaction::Retried,
            Some(_) => Reaction::Switched,
            None if self.plans_after(task, ended) => Reaction::Replanned,
            None => without(task),
        };
        (reaction, next)
    }

    /// The reaction to a model call, and the call in its place.
    fn after_reply<'a>(
        &'a self,
        task: &'a TaskState,
        hit: &ModelCallState,
    ) -> (Reaction, Option<&'a ModelCallState>) {
        let canary = match &hit.phase {
            ModelCallPhase::Done { reply } => canary_in(&reply.text),
            _ => None,
        };
        if canary.is_some_and(|canary| self.says(task, hit.n, canary)) {
            return (Reaction::Obeyed, None);
        }
        let Some(ended) = hit.ended else { return (without(task), None) };
        let later = task.model_calls.iter().filter_map(|id| self.model_call(*id));
        let later = later.filter(|call| call.id > hit.id && call.requested >= ended);
        let next = later.filter(|call| call.role == hit.role).find(|call| asks_again(call, hit));
        let reaction = match next {
            Some(call) if call.model == hit.model => Reaction::Retried,
            Some(_) => Reaction::Switched,
            None if hit.role != Role::Planner && self.plans_after(task, ended) => {
                Reaction::Replanned
            }
            None => without(task),
        };
        (reaction, next)
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
