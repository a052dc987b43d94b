//! Ids for calls whose endpoint sent none.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::domain::{Message, ReplySource, Request, ToolCall};

/// The length of an id that fits everywhere. Mistral accepts no other.
pub const LENGTH: usize = 9;

/// Whether every endpoint accepts this id.
pub fn fits(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The calls of a conversation.
pub fn calls(request: &Request) -> impl Iterator<Item = &ToolCall> {
    request.messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    })
}

/// The ids of a conversation's calls and results. A client may leave out a call but send its result.
pub fn ids(request: &Request) -> impl Iterator<Item = &str> {
    let of_results = request.messages.iter().filter_map(|message| match message {
        Message::Tool { id, .. } => Some(id.as_str()),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    });
    calls(request).map(|call| call.id.as_str()).chain(of_results)
}

/// The fields of a call that came without an id, so that it got one here.
pub fn given_here() -> Map<String, Value> {
    Map::from_iter([("id".to_owned(), Value::Null)])
}

/// Whether a call came without an id.
pub fn is_given_here(call: &ToolCall, source: Option<&ReplySource>) -> bool {
    let fields = source.and_then(|source| source.calls.get(&call.id));
    fields.and_then(|fields| fields.get("id")).is_some_and(Value::is_null)
}

/// Ids that are unused in a conversation, and that every endpoint accepts.
pub struct FreeIds<'a> {
    /// Four letters.
    prefix: &'static str,
    taken: HashSet<&'a str>,
    next: usize,
}

impl<'a> FreeIds<'a> {
    pub fn of(request: &'a Request, prefix: &'static str) -> Self {
        Self::beside(calls(request).map(|call| call.id.as_str()), prefix)
    }

    /// Ids that are none of these.
    pub fn beside(ids: impl Iterator<Item = &'a str>, prefix: &'static str) -> Self {
        let taken: HashSet<&str> = ids.collect();
        Self { prefix, next: taken.len() + 1, taken }
    }

    /// An id that is unused and was not returned before.
    pub fn take(&mut self) -> String {
        loop {
            let id = format!("{}{:05}", self.prefix, self.next);
            self.next += 1;
            if !self.taken.contains(id.as_str()) {
                return id;
            }
        }
    }
}
