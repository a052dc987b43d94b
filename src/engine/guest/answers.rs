//! The answers of a conversation, found again in the past of later requests. Pure: no network, no clock.
//!
//! A call is named by its place: the answer that has it, which is named by the messages before it, and its number there.
//! Ids of calls may repeat, within an answer and from answer to answer, so they only help where a client has changed
//! its past.

use std::collections::{HashMap, HashSet};

use super::digest;
use super::past_changes::is_reference;
use crate::domain::{CallPlace, EffectId, Message, Messages, Reply, ToolCall, ToolName};

/// The answers with calls that an agent was given, in their order.
#[derive(Debug, Default)]
pub struct Answers {
    known: Vec<KnownAnswer>,
    /// The numbers of answers: by the messages that they answer, and by the message in which clients send them back.
    by_past: HashMap<u64, Vec<usize>>,
    by_own: HashMap<u64, Vec<usize>>,
}

#[derive(Debug)]
struct KnownAnswer {
    own: u64,
    /// The digest of the results that followed it first.
    results: Option<u64>,
    /// The endpoint's id of the answer.
    id: Option<Box<str>>,
    calls: Vec<KnownCall>,
}

/// A call as its agent was given it.
#[derive(Debug)]
struct KnownCall {
    id: Box<str>,
    tool: ToolName,
    effect: EffectId,
}

/// The calls in the past of a request.
#[derive(Debug, Default)]
pub struct FoundCalls {
    /// The digest of all messages of the request.
    pub past: u64,
    /// The effect of each call, in the order of the request.
    calls: Vec<Option<EffectId>>,
    /// The place of each result among the messages, and the effect of its call, in the order of the request.
    results: Vec<(usize, Option<EffectId>)>,
    /// The place of each answer among the messages, and the effects of its calls: also of one that the client sends
    /// back without them.
    answers: Vec<(usize, Vec<EffectId>)>,
}

impl FoundCalls {
    /// The effect of the call with this number.
    pub fn called(&self, number: usize) -> Option<EffectId> {
        *self.calls.get(number)?
    }

    /// The effect of the call whose result has this number.
    pub fn returned(&self, number: usize) -> Option<EffectId> {
        self.results.get(number)?.1
    }

    /// The effect of the call whose result is at this place of the messages.
    pub fn returned_at(&self, message: usize) -> Option<EffectId> {
        let (_, effect) = self.results.iter().find(|(at, _)| *at == message)?;
        *effect
    }

    /// The place of a call's last result among the messages.
    pub fn result(&self, effect: EffectId) -> Option<usize> {
        self.results.iter().rfind(|(_, of)| *of == Some(effect)).map(|(at, _)| *at)
    }

    /// The place of a call's answer among the messages.
    pub fn answer(&self, effect: EffectId) -> Option<usize> {
        self.answers.iter().find(|(_, effects)| effects.contains(&effect)).map(|(at, _)| *at)
    }

    /// Whether the request has a call or its result.
    pub fn has(&self, effect: EffectId) -> bool {
        self.answer(effect).is_some() || self.result(effect).is_some()
    }
}

impl Answers {
    /// Notes the answer to a request with this digest of its messages, and the effects of its calls.
    pub fn given(&mut self, past: u64, reply: &Reply, id: Option<&str>, calls: &[EffectId]) {
        if calls.is_empty() {
            return;
        }
        let (at, own) = (self.known.len(), digest::of_reply(reply));
        self.by_past.entry(past).or_default().push(at);
        self.by_own.entry(own).or_default().push(at);
        let call = |(call, effect): (&ToolCall, &EffectId)| KnownCall {
            id: call.id.as_str().into(),
            tool: call.tool.clone(),
            effect: *effect,
        };
        let calls = reply.calls.iter().zip(calls).map(call).collect();
        self.known.push(KnownAnswer { own, results: None, id: id.map(Into::into), calls });
    }

    /// Notes the results that follow each answer in these messages.
    pub fn returned(&mut self, messages: &Messages, digests: &[u64]) {
        let answers = self.answers_in(messages, digests, &digest::of_pasts(digests));
        self.note(messages, &answers);
    }

    fn note(&mut self, messages: &Messages, answers: &[(usize, Option<usize>)]) {
        for (at, known) in answers {
            let known = known.and_then(|known| self.known.get_mut(known));
            if let Some(known) = known.filter(|known| known.results.is_none()) {
                known.results = results_after(*at, messages);
            }
        }
    }

    /// Finds the calls of a request, and notes the results in it.
    pub fn take(
        &mut self,
        messages: &Messages,
        digests: &[u64],
        previous: Option<&str>,
    ) -> FoundCalls {
        let pasts = digest::of_pasts(digests);
        let answers = self.answers_in(messages, digests, &pasts);
        let found = self.found(messages, &pasts, previous, &answers);
        self.note(messages, &answers);
        found
    }

    /// Finds the calls of a request with these digests of its messages. `previous`: the answer that it continues, where
    /// the endpoint keeps the past.
    pub fn find(&self, messages: &Messages, digests: &[u64], previous: Option<&str>) -> FoundCalls {
        let pasts = digest::of_pasts(digests);
        self.found(messages, &pasts, previous, &self.answers_in(messages, digests, &pasts))
    }

    fn found(
        &self,
        messages: &Messages,
        pasts: &[u64],
        previous: Option<&str>,
        answers: &[(usize, Option<usize>)],
    ) -> FoundCalls {
        let past = pasts.last().copied().unwrap_or_default();
        let mut found = FoundCalls { past, ..FoundCalls::default() };
        let mut places = HashMap::new();
        for &(message, answer) in answers {
            let known = answer.and_then(|at| self.known.get(at));
            if let Some(known) = known {
                let effects = known.calls.iter().map(|call| call.effect);
                found.answers.push((message, effects.collect()));
            }
            let Some(Message::Assistant { calls, .. }) = messages.get(message) else { continue };
            for call in 0..calls.len() {
                let effect = known.and_then(|known| known.effect(calls, call));
                if let Some(effect) = effect {
                    places.insert(CallPlace { message, call }, effect);
                }
                found.calls.push(effect);
            }
        }
        let is_previous =
            |known: &&KnownAnswer| previous.is_some() && known.id.as_deref() == previous;
        let previous = self.known.iter().rfind(is_previous);
        let mut taken = HashSet::new();
        for result in messages.results() {
            let effect = match (result.call, messages.get(result.message)) {
                (Some(place), _) => places.get(&place).copied(),
                (None, Some(Message::Tool { id, .. })) => self.elsewhere(id, previous, &taken),
                (None, _) => None,
            };
            taken.extend(effect);
            found.results.push((result.message, effect));
        }
        found
    }

    /// The places of the assistant's messages, each with the number of the answer that it is.
    fn answers_in(
        &self,
        messages: &Messages,
        digests: &[u64],
        pasts: &[u64],
    ) -> Vec<(usize, Option<usize>)> {
        let own = |at: usize| digests.get(at).copied().unwrap_or_default();
        let is_answer =
            |(_, message): &(usize, &Message)| matches!(message, Message::Assistant { .. });
        let known = |(at, message): (usize, &Message)| {
            let all = self.by_past.get(pasts.get(at)?)?;
            self.of_past(all, (message, results_after(at, messages)), own(at))
        };
        let assistants = messages.iter().enumerate().filter(is_answer);
        let mut answers: Vec<_> = assistants.map(|it| (it.0, known(it))).collect();
        // The past was changed before the others: an answer is the last one that it can be.
        let mut end = self.known.len();
        for nth in (0..answers.len()).rev() {
            let Some((at, None)) = answers.get(nth).copied() else {
                end = answers.get(nth).and_then(|(_, known)| *known).unwrap_or(end);
                continue;
            };
            let begin = answers.iter().take(nth).filter_map(|(_, known)| *known).max();
            let range = begin.map_or(0, |before| before + 1)..end;
            let Some(found) = self.changed(messages.get(at), own(at), range) else { continue };
            answers[nth].1 = Some(found);
            end = found;
        }
        answers
    }

    /// The answer, of those to the same messages, that this message is. A client may change the ids or leave out the
    /// calls.
    fn of_past(
        &self,
        all: &[usize],
        (message, results): (&Message, Option<u64>),
        own: u64,
    ) -> Option<usize> {
        let Message::Assistant { calls, .. } = message else { return None };
        let is_followed =
            |known: &&KnownAnswer| known.results.is_none() || known.results == results;
        let fits = |is_it: &dyn Fn(&KnownAnswer) -> bool| {
            let known = |at: &&usize| self.known.get(**at).filter(is_followed).is_some_and(is_it);
            all.iter().rev().find(known).copied()
        };
        let is_same =
            fits(&|known| known.own == own).or_else(|| fits(&|known| known.is_alike(calls)));
        let is_bare = calls.is_empty() || is_reference(message);
        is_same.or_else(|| fits(&|known| is_bare || known.shares_id(calls)))
    }

    /// The last of these answers that is this message, whatever was before it.
    fn changed(
        &self,
        message: Option<&Message>,
        own: u64,
        range: std::ops::Range<usize>,
    ) -> Option<usize> {
        let Some(Message::Assistant { calls, .. }) = message else { return None };
        let equal = self
            .by_own
            .get(&own)
            .and_then(|all| all.iter().rev().find(|at| range.contains(at)).copied());
        if equal.is_some() || calls.is_empty() {
            return equal;
        }
        // Some clients write arguments otherwise. The ids tell only if no other answer has them.
        let mut known =
            range.filter(|at| self.known.get(*at).is_some_and(|it| it.shares_id(calls)));
        known.next().filter(|_| known.next().is_none())
    }

    /// The call of a result whose call is not in the request.
    fn elsewhere(
        &self,
        id: &str,
        previous: Option<&KnownAnswer>,
        taken: &HashSet<EffectId>,
    ) -> Option<EffectId> {
        let of_answer = |known: &KnownAnswer| {
            let mut own = known.calls.iter().filter(|call| *call.id == *id);
            own.find(|call| !taken.contains(&call.effect)).map(|call| call.effect)
        };
        let known = self.known.iter().rev().filter(|_| !id.is_empty());
        previous.and_then(of_answer).or_else(|| known.into_iter().find_map(of_answer))
    }
}

/// The digest of the texts of the results that follow this place, in any order; `None`: none follows.
fn results_after(at: usize, messages: &Messages) -> Option<u64> {
    let following = messages.iter_from(at + 1).map_while(|message| match message {
        Message::Tool { text, .. } => Some(digest::of_text(text)),
        _ => None,
    });
    following.reduce(u64::wrapping_add)
}

impl KnownAnswer {
    /// Whether these are its calls with other ids or other words.
    fn is_alike(&self, calls: &[ToolCall]) -> bool {
        let is_same = |(own, call): (&KnownCall, &ToolCall)| own.tool == call.tool;
        !calls.is_empty()
            && self.calls.len() == calls.len()
            && self.calls.iter().zip(calls).all(is_same)
    }

    fn shares_id(&self, calls: &[ToolCall]) -> bool {
        let is_own = |call: &ToolCall| {
            self.calls.iter().any(|own| own.tool == call.tool && *own.id == *call.id)
        };
        calls.iter().any(|call| !call.id.is_empty() && is_own(call))
    }

    /// The effect of one of the calls in which a client sends the answer back.
    fn effect(&self, calls: &[ToolCall], at: usize) -> Option<EffectId> {
        if self.is_alike(calls) {
            return self.calls.get(at).map(|own| own.effect);
        }
        // The client has left out or added calls.
        let call = calls.get(at)?;
        let before = calls.iter().take(at).filter(|it| it.id == call.id && it.tool == call.tool);
        let mut own = self.calls.iter().filter(|own| own.tool == call.tool && *own.id == *call.id);
        own.nth(before.count()).map(|own| own.effect)
    }
}

#[cfg(test)]
mod tests;
