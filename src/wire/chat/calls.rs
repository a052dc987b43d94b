//! Assembles the deltas of tool calls. Servers disagree on what distinguishes calls: an index, an id, a name, or only
//! that complete arguments are followed by others.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::kept::EndpointFields;
use crate::domain::{ReplySource, ToolCall};
use crate::field::field;
use crate::names::FunctionNames;

/// The calls that have arrived so far, in the order of their first deltas.
#[derive(Debug, Default)]
pub(super) struct ChatCalls {
    calls: Vec<ChatCall>,
    /// The place in `calls` that a delta of this index continues.
    places: BTreeMap<u64, usize>,
}

/// A call, as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct ChatCall {
    pub index: u64,
    pub id: String,
    pub name: String,
    pub arguments: String,
    /// The last piece of the arguments, while each piece so far repeats those before it; `None` once one does not.
    grown: Option<String>,
    /// Fields of the call that the endpoint expects to get back.
    pub kept: EndpointFields,
    /// Whether the call came in the form before tools.
    pub is_old: bool,
}

/// The field of a message with a call in the form before tools: one call, without an id.
pub(super) const OLD: &str = "function_call";

/// The fields of the endpoint that tell a call in the form before tools from others.
pub(super) fn old_kind() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), OLD.into())])
}

/// Whether a call has the form before tools.
pub(crate) fn is_old(call: &ToolCall, source: Option<&ReplySource>) -> bool {
    let fields = source.and_then(|source| source.calls.get(&call.id));
    fields.and_then(|fields| fields.get("type")).is_some_and(|kind| kind == OLD)
}

/// The fields of one delta of a call.
struct Delta<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

impl<'a> Delta<'a> {
    fn of(delta: &'a Value) -> Self {
        let function = if delta["function"].is_object() { &delta["function"] } else { delta };
        let arguments = match &function["arguments"] {
            Value::String(more) => more.clone(),
            Value::Null => String::new(),
            whole @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                whole.to_string()
            }
        };
        let index = match &delta["index"] {
            Value::String(index) => index.trim().parse().ok(),
            index => index.as_u64(),
        };
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        Self { index, id: text(&delta["id"]), name: text(&function["name"]), arguments }
    }

    fn begins_object(&self) -> bool {
        self.arguments.trim_start().starts_with('{')
    }
}

impl ChatCalls {
    /// Reads the calls of a delta or of a message.
    pub fn read(&mut self, part: &Value, names: &FunctionNames) {
        let old;
        let mut is_old = false;
        let deltas = match (field(part, "tool_calls"), field(part, "function_call")) {
            (Value::Array(deltas), _) if !deltas.is_empty() => deltas.as_slice(),
            (delta @ Value::Object(_), _) => std::slice::from_ref(delta),
            (_, function @ Value::Object(_)) => {
                is_old = true;
                old = json!({"function": function});
                std::slice::from_ref(&old)
            }
            _ => &[],
        };
        let mut begun = Vec::new();
        for (position, value) in deltas.iter().enumerate() {
            let mut delta = Delta::of(value);
            // Some servers give several calls of one list the same id.
            if !delta.name.is_empty() && begun.contains(&delta.id) {
                delta.index = delta.index.or(Some(position as u64));
            }
            begun.push(delta.id);
            let at = self.place(&delta, position as u64, deltas.len() == 1, names);
            self.calls[at].add(&delta, names);
            self.calls[at].kept.add_call(value);
            self.calls[at].is_old |= is_old;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Bytes of all names and arguments.
    pub fn size(&self) -> usize {
        self.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum()
    }

    /// Bytes of the fields that endpoints want back.
    pub fn kept(&self) -> usize {
        self.calls.iter().map(|call| call.kept.size()).sum()
    }

    /// Whether the arguments of every call are complete, or missing.
    pub fn are_whole(&self) -> bool {
        self.calls.iter().all(|call| call.arguments.trim().is_empty() || call.object().is_some())
    }

    /// The calls by their index.
    pub fn in_order(mut self) -> Vec<ChatCall> {
        self.calls.sort_by_key(|call| call.index);
        for call in &mut self.calls {
            call.arguments = call.whole().to_owned();
        }
        self.calls
    }

    /// The place of the call that a delta belongs to; a new one, if it begins a call.
    fn place(
        &mut self,
        delta: &Delta<'_>,
        position: u64,
        is_alone: bool,
        names: &FunctionNames,
    ) -> usize {
        let last = self.calls.len().checked_sub(1);
        let by_id = self.calls.iter().rposition(|call| !delta.id.is_empty() && call.id == delta.id);
        let at_index = delta.index.and_then(|index| self.places.get(&index).copied());
        let is_at_index =
            at_index.is_some_and(|at| delta.id.is_empty() || self.calls[at].id == delta.id);
        let candidate = match delta.index {
            Some(_) if is_at_index => at_index,
            Some(_) if delta.name.is_empty() && by_id.is_some() => by_id,
            Some(_) => at_index.or_else(|| last.filter(|at| self.calls[*at].goes_on(delta))),
            None if is_alone => by_id.or(last),
            None => by_id.or_else(|| self.places.get(&position).copied()),
        };
        if let Some(at) = candidate.filter(|at| !self.calls[*at].is_other(delta, names)) {
            return at;
        }
        let at = self.calls.len();
        let of_last = self.calls.last().map(|call| call.index);
        let index = match delta.index {
            Some(index) => index,
            None if is_alone => of_last.unwrap_or(position),
            None => position.max(of_last.unwrap_or(position)),
        };
        let grown = Some(String::new());
        self.calls.push(ChatCall { index, grown, ..ChatCall::default() });
        self.places.insert(delta.index.unwrap_or(position), at);
        at
    }
}

impl ChatCall {
    /// The arguments, if they are complete.
    fn object(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.whole()).ok()
    }

    /// The arguments as far as they have arrived. Some servers repeat the whole text with every piece. An object in an
    /// object can begin like its outer one, so the pieces together are tried first.
    fn whole(&self) -> &str {
        let is_object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
        let grown = self.grown.as_deref().filter(|grown| is_object(grown));
        grown.filter(|_| !is_object(&self.arguments)).unwrap_or(&self.arguments)
    }

    /// Whether a delta with an index of its own still continues this call's arguments: some servers count deltas.
    fn goes_on(&self, delta: &Delta<'_>) -> bool {
        let has_begun = !self.arguments.trim().is_empty() && self.object().is_none();
        has_begun && delta.name.is_empty() && delta.id.is_empty() && !delta.begins_object()
    }

    /// Whether a delta belongs to another call. Some servers give every call the index 0 or none; some
    /// give every delta a new id.
    fn is_other(&self, delta: &Delta<'_>, names: &FunctionNames) -> bool {
        let has_name = !delta.name.is_empty();
        let is_new_id = !delta.id.is_empty() && !self.id.is_empty() && delta.id != self.id;
        let is_same_id = !delta.id.is_empty() && delta.id == self.id;
        let is_piece = !is_new_id && names.has(&format!("{}{}", self.name, delta.name));
        if names.has(&self.name) && names.has(delta.name) && self.name != delta.name && !is_piece {
            return true;
        }
        let Some(object) = self.object().filter(|_| !is_same_id) else { return false };
        let is_repeated =
            || serde_json::from_str(&delta.arguments).is_ok_and(|more: Map<_, _>| more == object);
        let is_placeholder = object.is_empty() && !has_name;
        is_new_id && has_name
            || delta.begins_object()
                && !is_placeholder
                && (delta.index.is_none() && has_name || !is_repeated())
    }

    fn add(&mut self, delta: &Delta<'_>, names: &FunctionNames) {
        if self.id.is_empty() {
            self.id = delta.id.to_owned();
        }
        self.add_name(delta.name, names);
        let object = self.object();
        if !delta.arguments.is_empty() {
            let more = delta.arguments.as_str();
            self.grown = self
                .grown
                .take()
                .filter(|so_far| more.starts_with(so_far))
                .map(|_| more.to_owned());
        }
        match object {
            // A server that repeats the whole call at its end, or that begins it with empty arguments.
            Some(object) if delta.begins_object() => {
                let more = serde_json::from_str::<Map<String, Value>>(&delta.arguments);
                let is_repeated = more.is_ok_and(|more| more == object);
                if object.is_empty() {
                    self.arguments.clone_from(&delta.arguments);
                } else if !is_repeated {
                    self.arguments.push_str(&delta.arguments);
                }
            }
            _ => self.arguments.push_str(&delta.arguments),
        }
    }

    /// Adds to a name. Most servers send it once, some with every delta, a few in pieces or grown by a piece.
    fn add_name(&mut self, name: &str, names: &FunctionNames) {
        let joined = format!("{}{name}", self.name);
        let is_piece = names.has(&joined) && !names.has(&self.name);
        if self.name == name && !is_piece {
            return;
        }
        let is_grown = name.starts_with(&self.name) && names.has(name) && !names.has(&joined);
        self.name = if is_grown { name.to_owned() } else { joined };
    }
}
