//! The changes to the past of a conversation. The agent sends that past unchanged with every request. Each time the
//! same places are changed, so that text that the model has read never changes by itself.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::Value;

use super::answers::FoundCalls;
use super::digest;
use crate::domain::blocks::Block;
use crate::domain::{EffectId, Message, Messages, Reply};
use crate::wire::{IncomingRequest, NotChanged, WireFormat, patch, with_texts, with_turns};

/// The content that a model reads in place of the agent's own.
#[derive(Debug, Default)]
pub struct Decided {
    /// Replacements for results, by their calls.
    results: HashMap<EffectId, Decision>,
    /// Replacements for the arguments of calls.
    arguments: HashMap<EffectId, Value>,
    /// Replacements for the texts of messages, by their place and their digest.
    texts: HashMap<(usize, u64), String>,
    /// Turns that the agent does not know, by the answer that followed them.
    turns: HashMap<AnswerKey, InsertedTurn>,
}

/// The turns that a model received before an answer.
#[derive(Debug)]
struct InsertedTurn {
    /// The place of the answer among the agent's messages.
    at: usize,
    messages: Vec<Message>,
}

/// The digest of an answer, and the number of equal answers before it.
type AnswerKey = (u64, usize);

/// A result as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub text: String,
    pub failed: bool,
}

impl Decided {
    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        let (results, arguments) = (self.results.is_empty(), self.arguments.is_empty());
        results && arguments && self.texts.is_empty() && self.turns.is_empty()
    }

    /// Notes that the model reads this result of a call.
    pub fn result(&mut self, call: EffectId, decision: Decision) {
        self.results.insert(call, decision);
    }

    /// Notes that the model reads this text in place of the message of the agent at this place.
    pub fn text(&mut self, at: usize, sent: &Message, text: String) {
        self.texts.insert((at, digest::of_message(sent)), text);
    }

    /// Notes that the model reads its own arguments of a call, not a person's edit of them.
    pub fn own_arguments(&mut self, call: EffectId, arguments: Value) {
        self.arguments.insert(call, arguments);
    }

    /// Notes that the model reads these turns before its answer to these messages of the agent.
    pub fn turns(&mut self, sent: &Messages, answer: &Reply, messages: Vec<Message>) {
        let answer = digest::of_reply(answer);
        let before = sent.iter().filter(|message| digest::of_message(message) == answer).count();
        self.turns.insert((answer, before), InsertedTurn { at: sent.len(), messages });
    }

    /// Notes that the model reads `read` in place of the agent's messages `sent`, whose calls were found. Later messages
    /// are left in `read`.
    pub fn messages<'a>(
        &mut self,
        sent: &Messages,
        found: &FoundCalls,
        read: &mut impl Iterator<Item = &'a Message>,
    ) {
        let turns: HashMap<usize, AnswerKey> = self.turns_in(sent).into_iter().collect();
        for (at, sent) in sent.iter().enumerate() {
            let turn = turns.get(&at).and_then(|key| self.turns.get_mut(key));
            turn.into_iter().for_each(|turn| retell(&mut turn.messages, read));
            let Some(read) = read.next() else { return };
            if sent.text() == read.text() {
                continue;
            }
            let text = read.text().to_owned();
            match (read, found.returned_at(at)) {
                (Message::Tool { failed, .. }, Some(call)) => {
                    self.result(call, Decision { text, failed: *failed });
                }
                _ => self.text(at, sent, text),
            }
        }
    }

    /// The body of a request as the model must read it; `None`: unchanged.
    ///
    /// # Errors
    /// A place that was changed before cannot be found any more.
    pub fn applied(
        &self,
        format: WireFormat,
        asked: &IncomingRequest,
        (body, found): (&Bytes, &FoundCalls),
    ) -> Result<Option<Bytes>, NotChanged> {
        let of_result = |number| self.results.get(&found.returned(number)?);
        let mut places = Vec::new();
        for spot in &asked.results {
            if let Some(decision) = of_result(spot.number) {
                let new = spot.written(&decision.text, decision.failed);
                places.push((spot.range.clone(), new));
            }
        }
        for spot in &asked.failures {
            if let Some(decision) = of_result(spot.number) {
                let is_there = !spot.range.is_empty();
                if decision.failed || is_there {
                    let new = spot.written(&decision.text, decision.failed);
                    places.push((spot.range.clone(), new));
                }
            }
        }
        for spot in &asked.calls {
            let arguments = found.called(spot.number).and_then(|call| self.arguments.get(&call));
            if let Some(arguments) = arguments {
                places.push((spot.range.clone(), format.arguments_at(spot, arguments)));
            }
        }
        let mut changed = None;
        if !places.is_empty() {
            let places: Vec<_> =
                places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
            changed = Some(Bytes::from(patch(body, &places)?));
        }
        let texts = self.texts_of(&asked.request.messages);
        if !texts.is_empty() {
            let body = changed.as_ref().unwrap_or(body);
            changed = Some(with_texts(body, &texts)?.into());
        }
        let turns = self.turns_of(&asked.request.messages);
        if !turns.is_empty() {
            let body = changed.as_ref().unwrap_or(body);
            changed = Some(with_turns(format, body, &turns)?.into());
        }
        Ok(changed)
    }

    /// The calls of a request whose results are replaced in a form that has no text.
    pub fn untold(&self, asked: &IncomingRequest, found: &FoundCalls) -> Vec<EffectId> {
        let no_texts = asked.results.iter().filter(|spot| !spot.form.takes_text());
        let calls = no_texts.filter_map(|spot| found.returned(spot.number));
        calls.filter(|call| self.results.contains_key(call)).collect()
    }

    /// The turns that belong to these messages of the agent: each with the place of the answer that followed.
    fn turns_in(&self, messages: &Messages) -> Vec<(usize, AnswerKey)> {
        if self.turns.is_empty() {
            return Vec::new();
        }
        let mut equal: HashMap<u64, usize> = HashMap::new();
        let place = |(at, message): (usize, &Message)| {
            let digest = digest::of_message(message);
            let before = equal.entry(digest).or_default();
            let key = (digest, *before);
            *before += 1;
            if self.turns.contains_key(&key) {
                return Some((at, key));
            }
            // Some clients only name the items of an answer, which the endpoint keeps.
            let mut there = self.turns.iter().filter(|(_, turn)| turn.at == at);
            there.next().filter(|_| is_reference(message)).map(|(key, _)| (at, *key))
        };
        messages.iter().enumerate().filter_map(place).collect()
    }

    /// The same turns, each with the number of messages of the assistant before it.
    fn turns_of(&self, messages: &Messages) -> Vec<(Option<usize>, &[Message])> {
        let is_answer = |message: &&Message| matches!(message, Message::Assistant { .. });
        let turn = |(at, key): (usize, AnswerKey)| {
            let before = messages.iter().take(at).filter(is_answer).count();
            Some((Some(before), self.turns.get(&key)?.messages.as_slice()))
        };
        self.turns_in(messages).into_iter().filter_map(turn).collect()
    }

    /// The texts of these messages that are to change: each with the number of equal ones before it, and the new text.
    fn texts_of<'a>(&'a self, messages: &'a Messages) -> Vec<(&'a str, usize, &'a str)> {
        if self.texts.is_empty() {
            return Vec::new();
        }
        let changed = messages.iter().enumerate().filter_map(|(at, message)| {
            let new = self.texts.get(&(at, digest::of_message(message)))?;
            Some((message.text(), equal_before(messages, at), new.as_str()))
        });
        changed.collect()
    }
}

/// The body with the texts of other messages in it.
///
/// # Errors
/// For a person: not only texts differ, or a text is not in exactly one place of the body.
pub fn with_messages(body: &[u8], old: &Messages, new: &Messages) -> Result<Vec<u8>, String> {
    let same_kind = |(old, new): (&Message, &Message)| without_text(old) == without_text(new);
    if old.len() != new.len() || !old.iter().zip(new.iter()).all(same_kind) {
        let text = "in a watched agent's prompt the texts can be changed; its messages stay those that they are";
        return Err(text.to_owned());
    }
    let differing = old.iter().zip(new.iter()).enumerate().filter(|(_, (old, new))| old != new);
    let changes: Vec<_> = differing
        .map(|(at, (old_one, new_one))| (old_one.text(), equal_before(old, at), new_one.text()))
        .collect();
    with_texts(body, &changes).map_err(|why| format!("the prompt cannot be changed: {why}"))
}

fn equal_before(messages: &Messages, at: usize) -> usize {
    let text = messages.get(at).map_or("", Message::text);
    messages.iter().take(at).filter(|message| message.text() == text).count()
}

/// Whether a message consists only of names of items.
pub(super) fn is_reference(message: &Message) -> bool {
    let names_item =
        |block: &Block| matches!(block, Block::Kept { raw, .. } if raw["type"] == "item_reference");
    let blocks = message.blocks();
    let is_answer = matches!(message, Message::Assistant { .. });
    is_answer && !blocks.is_empty() && blocks.iter().all(names_item)
}

/// Gives these messages the texts of `read`.
pub(super) fn retell<'a>(messages: &mut [Message], read: &mut impl Iterator<Item = &'a Message>) {
    for (message, read) in messages.iter_mut().zip(read) {
        read.text().clone_into(text_of(message));
    }
}

fn without_text(message: &Message) -> Message {
    let mut message = message.clone();
    text_of(&mut message).clear();
    message
}

fn text_of(message: &mut Message) -> &mut String {
    match message {
        Message::System { text }
        | Message::User { text, .. }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text,
    }
}
