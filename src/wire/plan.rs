//! Changes to the events of an answer whose calls change, in a form that all formats share.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use crate::arguments;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};

/// The fields of events that are JSON objects.
pub(crate) fn read<'a>(data: &[&'a str]) -> Vec<Option<JsonFields<'a>>> {
    data.iter().map(|data| JsonNode::of(data).ok()?.fields()).collect()
}

/// A place in the data of an event, and its new text.
pub(crate) type Edit = (Range<usize>, String);

/// Changes to the events of an answer.
pub(crate) struct Changes {
    /// The change of each event, in order.
    pub events: Vec<Event>,
    /// New events, each before the event of this place.
    pub added: Vec<(usize, String)>,
}

/// The change of one event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Event {
    pub edits: Vec<Edit>,
    pub is_dropped: bool,
}

impl Changes {
    pub fn none(events: usize) -> Self {
        Self { events: vec![Event::default(); events], added: Vec::new() }
    }
}

impl Event {
    pub fn set(&mut self, node: &JsonNode<'_>, text: impl ToString) {
        let text = text.to_string();
        if node.raw() != text {
            self.edits.push((node.range(), text));
        }
    }

    /// Sets a field of an object, or adds it.
    pub fn put(&mut self, object: &JsonNode<'_>, name: &str, value: &str) {
        let fields = object.fields();
        let fields: Vec<_> = fields.iter().flat_map(|fields| fields.iter()).collect();
        match fields.iter().rev().find(|(known, _)| *known == name) {
            Some((_, node)) => self.set(node, value),
            None => {
                let end = object.range().end - 1;
                let comma = if fields.is_empty() { "" } else { "," };
                self.edits.push((end..end, format!("{comma}{}:{value}", quoted(name))));
            }
        }
    }

    /// Leaves out some items of a list.
    pub fn list(&mut self, list: &JsonNode<'_>, is_kept: impl Fn(usize) -> bool) {
        let items = list.items().unwrap_or_default();
        let last = (0..items.len()).rev().find(|at| is_kept(*at));
        let rest = last.map_or(0, |at| at + 1);
        for (at, pair) in items.windows(2).take(rest).enumerate() {
            if !is_kept(at) {
                self.edits.push((pair[0].range().start..pair[1].range().start, String::new()));
            }
        }
        if let (Some(first), Some(end)) = (items.get(rest), items.last()) {
            let from = last.map_or(first.range().start, |at| items[at].range().end);
            self.edits.push((from..end.range().end, String::new()));
        }
    }

    /// Adds items after the last one of a list, some of which may have been left out.
    pub fn more(&mut self, list: &JsonNode<'_>, is_kept: impl Fn(usize) -> bool, more: &[String]) {
        let items = list.items().unwrap_or_default();
        let end = items.last().map_or(list.range().start + 1, |item| item.range().end);
        let comma = if (0..items.len()).any(is_kept) { "," } else { "" };
        self.edits.push((end..end, format!("{comma}{}", more.join(","))));
    }
}

/// A call as it came.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub id: String,
    pub name: String,
    pub arguments: String,
    /// Whether the arguments are any text rather than JSON.
    pub is_text: bool,
    /// Whether the call is of a kind that has only one tool.
    pub is_fixed: bool,
}

impl Came {
    fn is_empty(&self) -> bool {
        self.name.is_empty() && self.arguments.trim().is_empty()
    }

    fn value(&self) -> Value {
        match self.is_text {
            true => Value::String(self.arguments.clone()),
            false => arguments::read(&self.arguments),
        }
    }

    fn is(&self, call: &ToolCall) -> bool {
        self.name == call.tool.as_str() && self.value() == call.arguments
    }
}

/// The fates of the calls that came.
pub(crate) struct CallFates<'a> {
    fates: Vec<Fate>,
    /// The calls to add.
    pub added: Vec<&'a ToolCall>,
}

/// The fate of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Dropped,
    /// The call stays, with this name and these arguments where they differ.
    Kept {
        name: Option<String>,
        arguments: Option<String>,
    },
}

impl<'a> CallFates<'a> {
    pub fn of(came: &[Came], calls: &'a [ToolCall]) -> Self {
        let mut left: Vec<&ToolCall> = calls.iter().collect();
        let mut ids = HashSet::new();
        // A call without an id of its own got one here.
        let own: Vec<bool> =
            came.iter().map(|it| !it.id.is_empty() && ids.insert(it.id.as_str())).collect();
        let mut find = |is_it: &dyn Fn(&ToolCall) -> bool| {
            left.iter().position(|call| is_it(call)).map(|at| left.remove(at))
        };
        let found = came.iter().zip(&own).map(|(it, has_id)| {
            let can_be = |call: &ToolCall| !it.is_fixed || it.name == call.tool.as_str();
            find(&|call| match has_id {
                true => it.id == call.id && can_be(call),
                false => it.is(call),
            })
        });
        let mut found: Vec<_> = found.collect();
        // Of the others, the order tells which call was changed.
        for ((call, has_id), it) in found.iter_mut().zip(&own).zip(came) {
            if call.is_none() && !has_id && !it.is_empty() {
                let can_be = |call: &ToolCall| !it.is_fixed || it.name == call.tool.as_str();
                *call = find(&|call| !ids.contains(call.id.as_str()) && can_be(call));
            }
        }
        let fates = came.iter().zip(found).map(|(it, call)| match call {
            Some(call) if it.is(call) => Fate::Kept { name: None, arguments: None },
            Some(call) => Fate::Kept {
                name: (it.name != call.tool.as_str()).then(|| call.tool.to_string()),
                arguments: (it.value() != call.arguments).then(|| text(&call.arguments)),
            },
            None if it.is_empty() => Fate::Kept { name: None, arguments: None },
            None => Fate::Dropped,
        });
        Self { fates: fates.collect(), added: left }
    }

    pub fn fate(&self, at: usize) -> &Fate {
        self.fates.get(at).unwrap_or(&Fate::Dropped)
    }

    pub fn is_kept(&self, at: usize) -> bool {
        *self.fate(at) != Fate::Dropped
    }

    /// The number of dropped calls before this one.
    pub fn dropped_before(&self, at: usize) -> u64 {
        self.fates.iter().take(at).filter(|fate| **fate == Fate::Dropped).count() as u64
    }

    /// Whether all calls are dropped, and whether calls are added where there were none.
    pub fn ends(&self) -> (bool, bool) {
        let has_kept = self.fates.iter().any(|fate| *fate != Fate::Dropped);
        let has_some = has_kept || !self.added.is_empty();
        (!has_some && !self.fates.is_empty(), has_some && self.fates.is_empty())
    }
}

/// Arguments as a model writes them. A string is raw text that was not JSON.
pub(crate) fn text(arguments: &Value) -> String {
    match arguments {
        Value::String(raw) => raw.clone(),
        arguments => arguments.to_string(),
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
