//! The conversation that a request belongs to. Pure: no network, no clock.
//!
//! A request carries its whole past, which shows where it belongs: first by the id of an answer that it names; then by the
//! ids of calls, of whose conversations the one with this past is taken, since some endpoints repeat ids; else by the
//! longest known past, with the answers that were given. Of equal conversations the one that was idle longest is taken,
//! until their answers differ.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::digest;
use crate::domain::{Message, Messages, Reply};
use crate::wire::WireFormat;

/// Ids of calls and answers that are kept; older ones are forgotten.
const IDS: usize = 1 << 14;
/// Conversations that a request may continue; those idle longest are forgotten.
const MOST: usize = 4096;

/// The digest of an answer that is not known.
const UNKNOWN: u64 = 0;

/// The least bytes of messages that two conversations do not share by chance.
const TELLING: usize = 24;

/// Instructions are the same if they differ in less than one part in this many.
const SMALL: usize = 4;

/// The parts of a request that determine its place.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'a> {
    pub format: WireFormat,
    /// The client's own name of its session.
    pub session: Option<&'a str>,
    pub messages: &'a Messages,
    /// The answer at the endpoint, or the conversation there, that the request continues.
    pub previous: Option<&'a str>,
    /// Whether the client has tried before.
    pub is_retry: bool,
}

/// The place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The number of the conversation, from 0.
    pub at: usize,
    pub how: How,
}

/// How a request relates to its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The request begins a conversation.
    New,
    /// The request continues where the last answer ended.
    Continued,
    /// The request repeats one that failed.
    Again,
    /// The request continues another past: only the first messages are the same as in the last request.
    Rewritten { kept: usize, dropped: usize },
}

/// All conversations of a session.
#[derive(Debug, Default)]
pub struct Conversations {
    known: Vec<Conversation>,
    /// The places of the conversations that a request may continue.
    open: Vec<usize>,
    /// The conversations with an answer or a call of an id, by the digest of the id; the last one last.
    ids: HashMap<u64, Vec<usize>>,
    in_order: VecDeque<u64>,
    /// Counts requests and answers.
    turn: u64,
}

#[derive(Debug)]
struct Conversation {
    format: WireFormat,
    session: Option<Box<str>>,
    /// The messages of the last request.
    asked: Vec<u64>,
    /// The place of the first of these messages that a user wrote.
    first_user: Option<usize>,
    /// The instructions at the beginning of the conversation.
    system: Option<Arc<Message>>,
    /// The answer to the last request.
    answer: Option<u64>,
    /// Whether the last request failed.
    has_failed: bool,
    /// Whether the last request has neither an answer nor failed.
    is_waiting: bool,
    /// The turn in which the conversation was last active.
    last: u64,
}

impl Conversations {
    /// Places a request, which is then the last one of its conversation.
    pub fn place(&mut self, letter: Letter<'_>) -> Placed {
        let asked = digest::of_messages(letter.messages);
        let placed =
            self.find(&letter, &asked).unwrap_or(Placed { at: self.known.len(), how: How::New });
        self.enter(letter, placed.at, asked);
        placed
    }

    /// Number of requests and answers since this conversation had one.
    pub fn idle(&self, at: usize) -> u64 {
        self.known.get(at).map_or(0, |known| self.turn - known.last)
    }

    /// The digests of the messages of a conversation's last request.
    pub fn asked(&self, at: usize) -> &[u64] {
        self.known.get(at).map_or(&[], |known| &known.asked)
    }

    /// Notes that the request is the last one of the conversation with this number.
    fn enter(&mut self, letter: Letter<'_>, at: usize, asked: Vec<u64>) {
        self.turn += 1;
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        let conversation = Conversation {
            format: letter.format,
            session: letter.session.map(Into::into),
            first_user: letter.messages.iter().position(is_user),
            system: system_of(letter.messages).cloned(),
            asked,
            answer: None,
            has_failed: false,
            is_waiting: true,
            last: self.turn,
        };
        match self.known.get_mut(at) {
            Some(known) => *known = conversation,
            None => {
                self.known.push(conversation);
                self.open_another(at);
            }
        }
    }

    /// Restores a conversation from an earlier part of the session: its last request and all answers to it.
    pub fn restore(&mut self, letter: Letter<'_>, replies: &[Reply], is_answered: bool) {
        let at = self.known.len();
        self.enter(letter, at, digest::of_messages(letter.messages));
        replies.iter().for_each(|reply| self.answered(at, reply, None));
        if !is_answered {
            self.failed(at);
        }
    }

    /// Notes the answer to the last request of a conversation, and the endpoint's id of it.
    pub fn answered(&mut self, at: usize, reply: &Reply, id: Option<&str>) {
        let calls = reply.calls.iter().map(|call| call.id.as_str());
        for id in calls.chain(id).filter(|id| !id.is_empty()) {
            self.note(id, at);
        }
        self.turn += 1;
        let turn = self.turn;
        if let Some(known) = self.known.get_mut(at) {
            (known.answer, known.is_waiting) = (Some(digest::of_reply(reply)), false);
            known.last = turn;
        }
    }

    /// Notes that the last request of a conversation has an answer that is not known.
    pub fn answered_unread(&mut self, at: usize) {
        if let Some(known) = self.known.get_mut(at) {
            (known.answer, known.has_failed, known.is_waiting) = (Some(UNKNOWN), false, false);
        }
    }

    /// Notes that the last request of a conversation failed.
    pub fn failed(&mut self, at: usize) {
        if let Some(known) = self.known.get_mut(at) {
            (known.has_failed, known.is_waiting) = (true, false);
        }
    }

    fn find(&self, letter: &Letter<'_>, asked: &[u64]) -> Option<Placed> {
        self.by_answer(letter)
            .or_else(|| self.by_call(letter, asked))
            .or_else(|| self.by_past(letter, asked))
            .or_else(|| self.rewritten(letter, asked))
            .or_else(|| self.summarized(letter, asked))
    }

    fn by_call(&self, letter: &Letter<'_>, asked: &[u64]) -> Option<Placed> {
        let ids = letter.messages.iter().rev().find_map(|message| match message {
            Message::Tool { id, .. } => self.of_id(id),
            Message::Assistant { calls, .. } => {
                calls.iter().rev().find_map(|call| self.of_id(&call.id))
            }
            Message::System { .. } | Message::User { .. } => None,
        });
        let known = ids?.iter().filter_map(|at| Some((*at, self.known.get(*at)?)));
        let is_own = |known: &Conversation| {
            let sessions = known.session.as_deref().zip(letter.session);
            known.format == letter.format && sessions.is_none_or(|(own, other)| own == other)
        };
        let rank = |known: &Conversation| {
            let kept = common(&known.asked, asked);
            let is_next = known.answer.is_some() && known.answer == asked.get(kept).copied();
            let is_whole = kept == known.asked.len();
            (is_whole, is_whole && is_next, kept, std::cmp::Reverse(known.last))
        };
        let own = known.filter(|(_, known)| is_own(known));
        let (at, known) = own.max_by_key(|(_, known)| rank(known))?;
        let kept = common(&known.asked, asked);
        let how = match () {
            () if letter.previous.is_some() => How::Continued,
            () if known.has_failed && known.asked == asked => How::Again,
            () if kept == known.asked.len() => How::Continued,
            () => How::Rewritten { kept, dropped: known.asked.len() - kept },
        };
        Some(Placed { at, how })
    }

    fn by_answer(&self, letter: &Letter<'_>) -> Option<Placed> {
        let at = *self.of_id(letter.previous?)?.last()?;
        Some(Placed { at, how: How::Continued })
    }

    fn by_past(&self, letter: &Letter<'_>, asked: &[u64]) -> Option<Placed> {
        let continued = self.candidates(letter).filter_map(|(at, known)| {
            let (length, is_whole) = (known.asked.len(), asked.starts_with(&known.asked));
            if length == 0 || !is_whole {
                return None;
            }
            let Some(next) = asked.get(length) else {
                let is_again = known.has_failed || (letter.is_retry && known.is_waiting);
                return is_again.then_some((at, (true, length, known.last), How::Again));
            };
            // An agent that waits for an answer cannot continue from it.
            let is_answered = known.answer.is_some() && !known.is_waiting;
            let is_own = known.answer == Some(*next);
            is_answered.then_some((at, (is_own, length, known.last), How::Continued))
        });
        // Of equal conversations, the one that was idle longest.
        let best = continued
            .max_by_key(|(_, (is_own, length, last), _)| (*is_own, *length, Reverse(*last)));
        best.map(|(at, _, how)| Placed { at, how })
    }

    /// A conversation whose beginning is the same, up to its user's first message. Its instructions may differ a
    /// little, such as in a time.
    fn rewritten(&self, letter: &Letter<'_>, asked: &[u64]) -> Option<Placed> {
        let is_answer = |message: &Message| matches!(message, Message::Assistant { .. });
        if !letter.messages.iter().any(is_answer) {
            return None;
        }
        let began_so = self.candidates(letter).filter_map(|(at, known)| {
            let kept = match (&known.system, system_of(letter.messages)) {
                (Some(one), Some(other))
                    if known.asked.first() != asked.first()
                        && is_alike(one.text(), other.text()) =>
                {
                    1 + common(known.asked.get(1..)?, asked.get(1..)?)
                }
                _ => common(&known.asked, asked),
            };
            let is_it = !known.is_waiting && known.first_user.is_some_and(|first| kept > first);
            is_it.then_some((at, kept, known))
        });
        let best = began_so.max_by_key(|(_, kept, known)| (*kept, Reverse(known.last)));
        best.map(|(at, _, known)| {
            let kept = common(&known.asked, asked);
            let how = How::Rewritten { kept, dropped: known.asked.len() - kept };
            Placed { at, how }
        })
    }

    /// A conversation whose end is in this request behind another beginning: its client has summarised the rest. The
    /// end is at least two messages, which together are too long to be the same by chance.
    fn summarized(&self, letter: &Letter<'_>, asked: &[u64]) -> Option<Placed> {
        let is_answer = |message: &Message| matches!(message, Message::Assistant { .. });
        if !letter.messages.iter().any(is_answer) {
            return None;
        }
        let system = system_of(letter.messages);
        let ended_so = self.candidates(letter).filter_map(|(at, known)| {
            let is_other = |(one, other): (&Arc<Message>, &Arc<Message>)| {
                one != other && !is_alike(one.text(), other.text())
            };
            if known.is_waiting || known.system.as_ref().zip(system).is_some_and(is_other) {
                return None;
            }
            let past: Vec<u64> = known.asked.iter().copied().chain(known.answer).collect();
            let end = asked.iter().rposition(|one| Some(one) == past.last())? + 1;
            let both = asked.get(..end)?.iter().rev().zip(past.iter().rev());
            let length = both.take_while(|(one, other)| one == other).count();
            let same = letter.messages.iter_from(end - length).take(length);
            let is_said = |message: &&Message| !matches!(message, Message::System { .. });
            let said = same.filter(is_said);
            let bytes: usize = said.clone().map(|message| message.text().len()).sum();
            let is_it = said.count() >= 2 && bytes >= TELLING;
            is_it.then_some((at, length, known))
        });
        let best = ended_so.max_by_key(|(_, length, known)| (*length, Reverse(known.last)));
        best.map(|(at, _, known)| {
            let kept = common(&known.asked, asked);
            let how = How::Rewritten { kept, dropped: known.asked.len() - kept };
            Placed { at, how }
        })
    }

    /// Conversations of the same format and session.
    fn candidates<'a>(
        &'a self,
        letter: &'a Letter<'_>,
    ) -> impl Iterator<Item = (usize, &'a Conversation)> {
        let known = self.open.iter().filter_map(|at| Some((*at, self.known.get(*at)?)));
        known.filter(|(_, known)| {
            let sessions = known.session.as_deref().zip(letter.session);
            known.format == letter.format && sessions.is_none_or(|(own, other)| own == other)
        })
    }

    fn open_another(&mut self, at: usize) {
        self.open.push(at);
        if self.open.len() > MOST {
            let idle = |at: &usize| self.known.get(*at).map_or(0, |known| known.last);
            let idlest = self.open.iter().copied().min_by_key(idle);
            self.open.retain(|at| Some(*at) != idlest);
            let gone = idlest.and_then(|at| self.known.get_mut(at));
            gone.into_iter().for_each(|known| known.asked = Vec::new());
        }
    }

    fn of_id(&self, id: &str) -> Option<&Vec<usize>> {
        self.ids.get(&digest::of_text(id))
    }

    fn note(&mut self, id: &str, at: usize) {
        let id = digest::of_text(id);
        let known = self.ids.entry(id).or_default();
        if known.is_empty() {
            self.in_order.push_back(id);
        }
        known.retain(|known| *known != at);
        if known.len() == MOST {
            known.remove(0);
        }
        known.push(at);
        if self.in_order.len() > IDS
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

/// The instructions at the beginning of a request.
fn system_of(messages: &Messages) -> Option<&Arc<Message>> {
    messages.shared().next().filter(|message| matches!(***message, Message::System { .. }))
}

/// Whether one text is the other with a small part replaced.
fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let shorter = one.len().min(other.len());
    let begins = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let ends = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let same = (begins + ends).min(shorter);
    same * SMALL > one.len().max(other.len()) * (SMALL - 1)
}

/// The length of the common beginning.
fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests;
