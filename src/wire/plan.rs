//! An answer whose calls change, in a form that all formats share.

use std::collections::HashSet;

use serde_json::Value;

use crate::arguments;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::object::{JsonObject, quoted};

/// An event of an answer, or a whole answer.
pub(crate) struct AnswerEvent<'a> {
    pub data: &'a str,
    /// The data, if that is an object.
    pub object: Option<JsonObject<'a>>,
    /// New events before this one.
    pub added: String,
    pub is_dropped: bool,
}

impl<'a> AnswerEvent<'a> {
    pub fn of(data: &'a str) -> Self {
        Self { data, object: JsonObject::of(data), added: String::new(), is_dropped: false }
    }

    /// The changed data; `None` if nothing changes.
    pub fn text(&self) -> Option<String> {
        self.object.as_ref()?.text()
    }
}

/// The numbers of the calls that an event has parts of, one for each item of its list. An item may be no call.
pub(crate) type CallNumbers = Vec<Option<usize>>;

/// Reads all events.
pub(crate) fn read(
    events: &[AnswerEvent<'_>],
    mut read: impl FnMut(&JsonFields<'_>) -> CallNumbers,
) -> Vec<CallNumbers> {
    let objects = events.iter().map(|event| event.object.as_ref());
    objects.map(|object| object.map(|it| read(&it.came)).unwrap_or_default()).collect()
}

/// The place of the event before which further calls come.
pub(crate) fn end(events: &[AnswerEvent<'_>], is_end: fn(&str) -> bool) -> usize {
    let is_it = |event: &AnswerEvent<'_>| event.data.trim() == "[DONE]" || is_end(event.data);
    events.iter().position(is_it).unwrap_or(events.len() - 1)
}

/// The place of the last event that has this field.
pub(crate) fn last_with(events: &[AnswerEvent<'_>], field: &str) -> Option<usize> {
    let has_it = |event: &AnswerEvent<'_>| {
        event.object.as_ref().is_some_and(|object| object.came.get(field).is_some())
    };
    events.iter().rposition(has_it)
}

/// A call as it came.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub id: String,
    pub name: String,
    pub arguments: String,
    /// The index of the call among the calls, blocks or items of the answer.
    pub index: Option<u64>,
    /// Whether its arguments came in pieces.
    pub in_pieces: bool,
    /// Whether the arguments are any text rather than JSON.
    pub is_text: bool,
    /// Whether the call is of a kind that has only one tool, which takes an object.
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

    fn can_be(&self, call: &ToolCall) -> bool {
        !self.is_fixed || self.name == call.tool.as_str()
    }
}

/// The fates of the calls that came.
pub(crate) struct CallFates<'a> {
    pub came: Vec<Came>,
    /// The new parts of each call; `None` if the call is dropped.
    fates: Vec<Option<NewParts>>,
    /// The calls whose new arguments have been written.
    filled: HashSet<usize>,
    /// The calls to add.
    pub added: Vec<&'a ToolCall>,
}

/// The name and the arguments of a call, where they differ.
#[derive(Default)]
struct NewParts {
    name: Option<String>,
    arguments: Option<String>,
}

impl<'a> CallFates<'a> {
    pub fn of(came: Vec<Came>, calls: &'a [ToolCall]) -> Self {
        let mut left: Vec<&ToolCall> = calls.iter().collect();
        let mut ids = HashSet::new();
        // A call without an id of its own got one here.
        let own: Vec<bool> =
            came.iter().map(|it| !it.id.is_empty() && ids.insert(it.id.as_str())).collect();
        let mut find = |is_it: &dyn Fn(&ToolCall) -> bool| {
            left.iter().position(|call| is_it(call)).map(|at| left.remove(at))
        };
        let is_same = |it: &Came, has_id: bool, call: &ToolCall| match has_id {
            true => it.id == call.id && it.can_be(call),
            false => it.is(call),
        };
        let found =
            came.iter().zip(&own).map(|(it, has_id)| find(&|call| is_same(it, *has_id, call)));
        let mut found: Vec<_> = found.collect();
        // Of the others, the order tells which call was changed.
        for ((call, has_id), it) in found.iter_mut().zip(&own).zip(&came) {
            if call.is_none() && !has_id && !it.is_empty() {
                *call = find(&|call| !ids.contains(call.id.as_str()) && it.can_be(call));
            }
        }
        let fates = came.iter().zip(found).map(|(it, call)| match call {
            Some(call) => Some(NewParts {
                name: (it.name != call.tool.as_str()).then(|| call.tool.to_string()),
                arguments: (it.value() != call.arguments).then(|| text(&call.arguments)),
            }),
            None => it.is_empty().then(NewParts::default),
        });
        let fates = fates.collect();
        Self { came, fates, filled: HashSet::new(), added: left }
    }

    fn new_parts(&self, call: usize) -> Option<&NewParts> {
        self.fates.get(call)?.as_ref()
    }

    /// Whether a part of an answer stays: it belongs to no call, or to one that is not dropped.
    pub fn is_kept(&self, call: Option<usize>) -> bool {
        call.is_none_or(|call| self.new_parts(call).is_some())
    }

    /// The name of a call, if it changes.
    pub fn name(&self, call: usize) -> Option<&str> {
        self.new_parts(call)?.name.as_deref()
    }

    /// The arguments of a call, if they change.
    pub fn arguments(&self, call: usize) -> Option<&str> {
        self.new_parts(call)?.arguments.as_deref()
    }

    /// The next piece of a call's arguments, if they change: the first one has all of them.
    pub fn piece(&mut self, call: usize) -> Option<&str> {
        let arguments = self.fates.get(call)?.as_ref()?.arguments.as_deref()?;
        Some(if self.filled.insert(call) { arguments } else { "" })
    }

    /// Changes the field of an event that has a piece of a call's arguments.
    pub fn change_piece(&mut self, call: usize, event: &mut JsonObject<'_>, name: &'static str) {
        let is_piece = event.came.get(name).is_some();
        let new = if is_piece { self.piece(call) } else { None };
        new.iter().for_each(|new| event.set(name, quoted(new)));
    }

    /// The further calls with their indices, which follow the last index of all calls, blocks or items that came.
    pub fn further(&self, last: Option<u64>) -> Vec<(u64, &'a ToolCall)> {
        let dropped = self.fates.iter().filter(|fate| fate.is_none()).count() as u64;
        let next = last.map_or(0, |last| last.saturating_add(1)).saturating_sub(dropped);
        let numbered = (0..).zip(&self.added);
        numbered.map(|(at, call)| (next.saturating_add(at), *call)).collect()
    }

    /// An index, less the calls that are dropped before it.
    pub fn index(&self, came: u64) -> u64 {
        let dropped =
            self.came.iter().zip(&self.fates).filter(|(call, fate)| {
                fate.is_none() && call.index.is_some_and(|index| index < came)
            });
        came.saturating_sub(dropped.count() as u64)
    }

    /// Lowers an index in an event by the calls that are dropped before it.
    pub fn lower(&self, event: &mut JsonObject<'_>, name: &'static str) {
        let came = event.came.number(name);
        came.iter().for_each(|came| event.set(name, self.index(*came)));
    }

    /// Changes the reason of the end if all calls are dropped, or if some are added where there were none. Of the
    /// words for either reason, the first is written.
    pub fn change_reason(
        &self,
        end: &mut JsonObject<'_>,
        name: &'static str,
        (calls, stops): (&[&str], &[&str]),
    ) {
        let word = end.came.string(name).unwrap_or_default().to_ascii_lowercase();
        let has_some = self.fates.iter().any(Option::is_some) || !self.added.is_empty();
        let new = match self.fates.is_empty() {
            false if !has_some && calls.contains(&word.as_str()) => stops.first(),
            true if has_some && stops.contains(&word.as_str()) => calls.first(),
            _ => None,
        };
        new.into_iter().for_each(|new| end.set(name, quoted(new)));
    }
}

/// Arguments as a model writes them. A string is raw text that was not JSON.
pub(crate) fn text(arguments: &Value) -> String {
    match arguments {
        Value::String(raw) => raw.clone(),
        arguments => arguments.to_string(),
    }
}

/// Arguments as JSON: a text if they are not.
pub(crate) fn as_json(arguments: &str) -> String {
    if JsonNode::of(arguments).is_ok() { arguments.to_owned() } else { quoted(arguments) }
}
