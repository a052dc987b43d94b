//! An answer with other calls.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::calls::OLD;
use super::frames::{is_calling, is_end, is_finish};
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::object::{JsonObject, quoted};
use crate::plan::{AnswerEvent, CallFates, CallNumbers, Came, as_json, end, text};

/// The reasons for an end with calls, and without.
const REASONS: (&[&str], &[&str]) = (&["tool_calls", "function_call", "tool_use"], &["stop"]);

/// Gives the answer of these events these calls.
pub(crate) fn change(events: &mut [AnswerEvent<'_>], before: &str, calls: &[ToolCall]) {
    let objects = || events.iter().map(|event| event.object.as_ref().map(|it| &it.came));
    let choice = objects().flatten().find_map(calling).unwrap_or(0);
    let mut came = Vec::new();
    let chunks: Vec<Option<Chunk>> =
        objects().map(|chunk| Chunk::read(chunk?, choice, &mut came)).collect();
    let last_index = came.iter().filter_map(|call| call.index).max();
    let plan = CallFates::of(came, calls);
    // A message, and an event that has calls and the finish, have the further calls too.
    let takes_more =
        |chunk: &Chunk| chunk.is_message || chunk.has_finish && !chunk.calls.is_empty();
    let place = chunks.iter().position(|chunk| chunk.as_ref().is_some_and(takes_more));
    let is_message = chunks.iter().flatten().any(|chunk| chunk.is_message);
    let further = plan.further(last_index).into_iter();
    let more: Vec<Value> =
        further.map(|(index, call)| written(call, Some(index).filter(|_| !is_message))).collect();
    let mut changing = Changing { plan, named: HashSet::new() };
    for (at, (chunk, event)) in chunks.iter().zip(&mut *events).enumerate() {
        let more = if place == Some(at) { &more[..] } else { &[] };
        chunk.iter().for_each(|chunk| changing.change(chunk, more, event));
    }
    if place.is_none() {
        let end = end(events, is_end);
        let like = events[..=end].iter().rfind(|event| event.object.is_some());
        let like = like.map_or(before, |event| event.data);
        events[end].added = more.into_iter().map(|call| frame(like, choice, call)).collect();
    }
}

/// A further call, with its index in a stream.
fn written(call: &ToolCall, index: Option<u64>) -> Value {
    let function = json!({"name": call.tool, "arguments": text(&call.arguments)});
    let mut written = json!({"id": call.id, "type": "function", "function": function});
    index.iter().for_each(|index| written["index"] = (*index).into());
    written
}

/// The event of a further call, with the fields of another event.
fn frame(like: &str, choice: u64, call: Value) -> String {
    let mut chunk: Map<String, Value> = serde_json::from_str(like).unwrap_or_default();
    let delta = json!({"tool_calls": [call]});
    let choice = json!({"index": choice, "delta": delta, "finish_reason": null});
    chunk.insert("choices".into(), json!([choice]));
    chunk.shift_remove("usage");
    format!("data: {}\n\n", Value::from(chunk))
}

/// The index of the choice that has calls.
fn calling(chunk: &JsonFields<'_>) -> Option<u64> {
    choices(chunk).find(|(.., choice)| is_calling(choice)).map(|(_, index, _)| index)
}

/// The choices of a chunk, with their places and indices.
fn choices<'a>(chunk: &JsonFields<'a>) -> impl Iterator<Item = (usize, u64, JsonFields<'a>)> {
    chunk.items("choices").into_iter().enumerate().filter_map(|(place, choice)| {
        let choice = choice.fields()?;
        Some((place, choice.number("index").unwrap_or(place as u64), choice))
    })
}

/// The choice of one event whose calls change.
struct Chunk {
    /// The place of the choice in the event.
    place: usize,
    /// Whether the choice has a whole message rather than a delta.
    is_message: bool,
    calls: CallNumbers,
    has_finish: bool,
    /// Whether dropping the whole event loses nothing but calls.
    has_only_calls: bool,
}

impl Chunk {
    /// Reads a chunk, and adds the calls that begin in it.
    fn read(chunk: &JsonFields<'_>, choice: u64, came: &mut Vec<Came>) -> Option<Self> {
        let (place, _, choice) = choices(chunk).find(|(_, index, _)| *index == choice)?;
        let is_message = choice.get("message").is_some();
        let part = choice.fields(if is_message { "message" } else { "delta" });
        let list = part.as_ref().and_then(|part| part.get("tool_calls")?.items());
        let items = list.or_else(|| Some(vec![part.as_ref()?.get(OLD)?])).unwrap_or_default();
        let calls = (0..).zip(&items).map(|(at, item)| Some(add(at, &item.fields()?, came)));
        let has_finish = choice.get("finish_reason").is_some_and(|reason| is_finish(&reason));
        let is_nothing = |(name, field): (&str, JsonNode<'_>)| {
            name == "tool_calls" || name == OLD || field.is_null() || field.raw() == "\"\""
        };
        let has_nothing = part.as_ref().is_some_and(|part| part.iter().all(is_nothing));
        let is_bare = !is_message && !has_finish && chunk.get("usage").is_none();
        let has_only_calls = has_nothing && is_bare;
        Some(Self { place, is_message, calls: calls.collect(), has_finish, has_only_calls })
    }
}

/// Adds a part of a call to those that came; returns the number of the call.
fn add(at: u64, call: &JsonFields<'_>, all: &mut Vec<Came>) -> usize {
    let index = Some(call.number("index").unwrap_or(at));
    let id = call.string("id").unwrap_or_default();
    let known = all.iter().rposition(|known| known.index == index);
    // Some servers give every call the same index.
    let is_it = |at: &usize| id.is_empty() || all[*at].id.is_empty() || all[*at].id == id;
    let number = known.filter(is_it).unwrap_or(all.len());
    if number == all.len() {
        all.push(Came { index, ..Came::default() });
    }
    let came = &mut all[number];
    if came.id.is_empty() {
        came.id = id.into_owned();
    }
    // Some servers put the fields of the function into the call.
    let function = call.fields("function");
    let function = function.as_ref().unwrap_or(call);
    let name = function.string("name").unwrap_or_default();
    // Some servers repeat the name.
    if came.name != name {
        came.name += &name;
    }
    if let Some(more) = function.get("arguments") {
        came.in_pieces = true;
        came.arguments += &more.string().unwrap_or_else(|| more.raw().into());
    }
    number
}

/// Changes the calls that came.
struct Changing<'a> {
    plan: CallFates<'a>,
    /// The calls whose new name has been written.
    named: HashSet<usize>,
}

impl Changing<'_> {
    fn change(&mut self, chunk: &Chunk, more: &[Value], event: &mut AnswerEvent<'_>) {
        let Some(object) = &mut event.object else { return };
        let is_gone =
            !chunk.calls.is_empty() && !chunk.calls.iter().any(|call| self.plan.is_kept(*call));
        event.is_dropped = is_gone && chunk.has_only_calls;
        let change = |at: usize, choice: &mut JsonObject<'_>| {
            if at == chunk.place {
                let part = if chunk.is_message { "message" } else { "delta" };
                choice.change(part, |part| self.change_part(&chunk.calls, more, part));
                self.plan.change_reason(choice, "finish_reason", REASONS);
            }
            true
        };
        object.change_items("choices", change, &[]);
    }

    fn change_part(&mut self, calls: &CallNumbers, more: &[Value], part: &mut JsonObject<'_>) {
        let has_list = part.came.get("tool_calls").is_some_and(|list| list.items().is_some());
        if let (false, Some(Some(call))) = (has_list, calls.first().copied()) {
            match self.plan.is_kept(Some(call)) {
                true => part.change(OLD, |function| self.change_call(call, function)),
                false => part.set(OLD, "null"),
            }
        }
        let change = |at: usize, item: &mut JsonObject<'_>| {
            let call = calls.get(at).copied().flatten();
            call.iter().for_each(|call| self.change_call(*call, item));
            self.plan.is_kept(call)
        };
        part.change_items("tool_calls", change, more);
    }

    fn change_call(&mut self, call: usize, item: &mut JsonObject<'_>) {
        self.plan.lower(item, "index");
        match item.came.fields("function") {
            Some(_) => item.change("function", |function| self.change_function(call, function)),
            None => self.change_function(call, item),
        }
    }

    fn change_function(&mut self, call: usize, function: &mut JsonObject<'_>) {
        if let (Some(new), Some(old)) = (self.plan.name(call), function.came.string("name")) {
            let is_repeated = old == self.plan.came[call].name.as_str();
            let is_it = self.named.insert(call) || is_repeated;
            function.set("name", quoted(if is_it { new } else { "" }));
        }
        let old = function.came.get("arguments");
        if old.is_none() && self.plan.came[call].in_pieces {
            return;
        }
        let Some(new) = self.plan.piece(call) else { return };
        match old {
            Some(old) if !old.raw().starts_with('"') => function.set("arguments", as_json(new)),
            None if new.is_empty() => {}
            _ => function.set("arguments", quoted(new)),
        }
    }
}
