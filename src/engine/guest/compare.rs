//! Compares an agent's request with an earlier one, and finds the first field that differs. Pure.

use std::collections::HashMap;

use serde_json::Value;

use super::volatile_parts::{Used, Varies};
use crate::domain::blocks::Block;
use crate::domain::difference::{Difference, of_lengths, of_texts, of_values};
use crate::domain::{Message, Messages, Request, ToolCall, ToolDef, chance::canonical};

/// Fields of a body that are compared by their meaning, or that do not matter for the comparison.
const MEANT: [&str; 14] = [
    "model",
    "messages",
    "contents",
    "input",
    "prompt",
    "instructions",
    "system",
    "systemInstruction",
    "system_instruction",
    "tools",
    // The previous answer, which has another id now.
    "previous_response_id",
    "conversation",
    "thread",
    // This field is added on the way.
    "stream_options",
];

/// A request in the form that is compared.
#[derive(Clone, Debug)]
pub struct ComparedRequest {
    /// The endpoint's own name of the model.
    pub model: String,
    pub request: Request,
    /// The body; `None`: it is not kept.
    pub body: Option<Value>,
}

/// Compares requests.
pub struct Compare<'a> {
    varies: &'a Varies,
    /// The ids of each request's calls, by those of the other one: `true` for the new request. Clients invent ids where an endpoint gives
    /// none, and some replace those that it gives. So an id has to stand for the same call, and not to be the same.
    /// `None`: it has to be the same.
    ids: Option<HashMap<(bool, String), String>>,
    /// Rules that removed a difference.
    pub used: Used,
}

impl<'a> Compare<'a> {
    pub fn new(varies: &'a Varies) -> Self {
        Self { varies, ids: Some(HashMap::new()), used: Used::new() }
    }

    /// Also compares the ids of calls themselves.
    pub fn with_ids(varies: &'a Varies) -> Self {
        Self { ids: None, ..Self::new(varies) }
    }

    /// The first difference of two requests.
    pub fn requests(
        &mut self,
        asked: &ComparedRequest,
        recorded: &ComparedRequest,
    ) -> Option<Difference> {
        of_texts("model", &asked.model, &recorded.model)
            .or_else(|| self.messages(&asked.request.messages, &recorded.request.messages))
            .or_else(|| tools(&asked.request.tools, &recorded.request.tools))
            .or_else(|| self.rest(asked.body.as_ref()?, recorded.body.as_ref()?))
    }

    /// Whether two requests begin the same conversation: with the same model and tools, and the same messages up to the
    /// first one of a user.
    pub fn opens_alike(&mut self, asked: &ComparedRequest, recorded: &ComparedRequest) -> bool {
        let [one, other] = [asked, recorded].map(|side| opening(&side.request.messages));
        asked.model == recorded.model
            && self.messages(&one, &other).is_none()
            && tools(&asked.request.tools, &recorded.request.tools).is_none()
    }

    fn messages(&mut self, asked: &Messages, recorded: &Messages) -> Option<Difference> {
        let [own, theirs] = [asked, recorded].map(in_order);
        let mut both = own.iter().zip(&theirs);
        let found = both.find_map(|((at, one), (_, other))| self.message(*at, one, other));
        found.or_else(|| {
            let at = own.len().min(theirs.len());
            let [one, other] = [own, theirs].map(|all| all.get(at).map(|(_, it)| said(it)));
            of_lengths(format!("messages[{at}]"), one, other)
        })
    }

    pub(super) fn message(
        &mut self,
        at: usize,
        one: &Message,
        other: &Message,
    ) -> Option<Difference> {
        let at = format!("messages[{at}]");
        let blocks = || {
            let [one, other] = [one, other].map(|message| kept(message.blocks()));
            of_texts(&format!("{at}.content"), &one, &other)
        };
        let text = |compare: &mut Self, one: &str, other: &str| {
            compare.texts(&format!("{at}.content"), one, other)
        };
        match (one, other) {
            (Message::System { text: one }, Message::System { text: other }) => {
                text(self, one, other)
            }
            (Message::User { text: one, .. }, Message::User { text: other, .. }) => {
                text(self, one, other).or_else(blocks)
            }
            (
                Message::Assistant { text: one, calls: own, .. },
                Message::Assistant { text: other, calls: theirs, .. },
            ) => text(self, one.trim(), other.trim()).or_else(|| self.calls(&at, own, theirs)),
            (
                Message::Tool { id: one, text: own, failed, .. },
                Message::Tool { id: other, text: theirs, failed: has_failed, .. },
            ) => self
                .id(&format!("{at}.tool_call_id"), one, other)
                .or_else(|| text(self, own, theirs))
                .or_else(|| {
                    let [one, other] = [failed, has_failed].map(ToString::to_string);
                    of_texts(&format!("{at}.is_error"), &one, &other)
                })
                .or_else(blocks),
            _ => of_texts(&format!("{at}.role"), role(one), role(other)),
        }
    }

    fn texts(&mut self, field: &str, one: &str, other: &str) -> Option<Difference> {
        if one == other {
            return None;
        }
        let ((one, own), (other, theirs)) = (self.varies.without(one), self.varies.without(other));
        let found = of_texts(field, &one, &other);
        if found.is_none() {
            self.used.extend(own.into_iter().chain(theirs));
        }
        found
    }

    fn calls(&mut self, at: &str, own: &[ToolCall], theirs: &[ToolCall]) -> Option<Difference> {
        let both = own.iter().zip(theirs).enumerate();
        let found = both.into_iter().find_map(|(n, (one, other))| {
            let at = format!("{at}.tool_calls[{n}]");
            let [own, theirs] = [one, other].map(|call| canonical(&call.arguments));
            of_texts(&format!("{at}.name"), one.tool.as_str(), other.tool.as_str())
                .or_else(|| of_texts(&format!("{at}.arguments"), &own, &theirs))
                .or_else(|| self.id(&format!("{at}.id"), &one.id, &other.id))
        });
        found.or_else(|| {
            let n = own.len().min(theirs.len());
            let name = |calls: &[ToolCall]| calls.get(n).map(|call| call.tool.to_string());
            of_lengths(format!("{at}.tool_calls[{n}]"), name(own), name(theirs))
        })
    }

    /// The difference of two ids: one of them has stood for another call.
    fn id(&mut self, field: &str, one: &str, other: &str) -> Option<Difference> {
        let is_same = match &mut self.ids {
            Some(ids) => {
                [(true, one, other), (false, other, one)].into_iter().all(|(new, id, to)| {
                    ids.entry((new, id.to_owned())).or_insert_with(|| to.to_owned()) == to
                })
            }
            None => one == other,
        };
        if is_same { None } else { of_texts(field, one, other) }
    }

    /// The difference in fields of the bodies that are not compared by their meaning.
    fn rest(&mut self, asked: &Value, recorded: &Value) -> Option<Difference> {
        let mut is_left_out = |path: &[String]| {
            let rule = self.varies.of_field(path);
            self.used.extend(rule);
            rule.is_some() || path.first().is_some_and(|first| MEANT.contains(&first.as_str()))
        };
        of_values(&mut Vec::new(), asked, recorded, &mut is_left_out)
    }
}

/// The messages with their places, the results of one answer's calls in the order of these calls. Agents that run their
/// calls at the same time send the results in the order in which they came.
fn in_order(messages: &Messages) -> Vec<(usize, &Message)> {
    let mut all: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let is_answer = |(_, message): &(usize, &Message)| matches!(message, Message::Assistant { .. });
    for part in all.split_mut(is_answer) {
        let Some(before) = part.first().and_then(|(at, _)| at.checked_sub(1)) else { continue };
        let Some(Message::Assistant { calls, .. }) = messages.get(before) else { continue };
        let mut left: Vec<Option<&str>> = calls.iter().map(|call| Some(call.id.as_str())).collect();
        let results = part.iter().filter_map(|(at, message)| match message {
            // Of calls with the same id, each has one result.
            Message::Tool { id, .. } => {
                let call = left.iter().position(|left| *left == Some(id.as_str()));
                call.and_then(|call| left.get_mut(call)?.take());
                Some((call.unwrap_or(usize::MAX), (*at, *message)))
            }
            _ => None,
        });
        let mut results: Vec<_> = results.collect();
        results.sort_by_key(|(call, _)| *call);
        let places = part.iter_mut().filter(|(_, it)| matches!(it, Message::Tool { .. }));
        places.zip(results).for_each(|(place, (_, result))| *place = result);
    }
    all
}

/// The messages up to the first one of a user.
fn opening(messages: &Messages) -> Messages {
    let is_user = |message: &Message| matches!(message, Message::User { .. });
    let length = messages.iter().position(is_user).map_or(messages.len(), |at| at + 1);
    let mut opening = messages.clone();
    opening.truncate(length);
    opening
}

pub(super) fn tools(own: &[ToolDef], theirs: &[ToolDef]) -> Option<Difference> {
    let both = own.iter().zip(theirs).enumerate();
    let found = both.into_iter().find_map(|(n, (one, other))| {
        let at = format!("tools[{n}]");
        let [own, theirs] = [one, other].map(|tool| canonical(&tool.parameters));
        of_texts(&format!("{at}.name"), one.name.as_str(), other.name.as_str())
            .or_else(|| {
                of_texts(&format!("{at}.description"), &one.description, &other.description)
            })
            .or_else(|| of_texts(&format!("{at}.parameters"), &own, &theirs))
    });
    found.or_else(|| {
        let n = own.len().min(theirs.len());
        let name = |tools: &[ToolDef]| tools.get(n).map(|tool| tool.name.to_string());
        of_lengths(format!("tools[{n}]"), name(own), name(theirs))
    })
}

pub(super) fn said(message: &Message) -> String {
    let calls = match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    };
    let calls = calls.iter().map(|call| format!(" {}({})", call.tool, call.arguments));
    format!("{}: {}{}", role(message), message.text(), calls.collect::<String>())
}

pub(super) fn role(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    }
}

/// Images and similar parts.
fn kept(blocks: &[Block]) -> String {
    let raw = blocks.iter().filter_map(|block| match block {
        Block::Kept { raw, .. } => Some(canonical(raw)),
        Block::Text { .. } | Block::Call { .. } => None,
    });
    format!("[{}]", raw.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests;
