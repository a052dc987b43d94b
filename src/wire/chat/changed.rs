//! An answer with other calls.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::calls::OLD;
use super::frames::is_finish;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::plan::{CallFates, Came, Changes, Event, Fate, quoted, read, text};

/// Finish reasons that mean calls.
const CALLS: [&str; 3] = ["tool_calls", "function_call", "tool_use"];

/// The choice of one event whose calls change.
struct Chunk<'a> {
    /// The message or delta of the choice.
    part: Option<JsonNode<'a>>,
    is_message: bool,
    /// The list of the choice's calls, and each of them with its place among all calls.
    list: Option<JsonNode<'a>>,
    /// The call in the form before tools.
    old: Option<JsonNode<'a>>,
    calls: Vec<Option<(usize, JsonNode<'a>, JsonFields<'a>)>>,
    finish: Option<JsonNode<'a>>,
    has_usage: bool,
}

/// Returns the changes to the events of an answer that give it these calls.
pub(crate) fn changes(data: &[&str], before: &str, calls: &[ToolCall]) -> Changes {
    let fields = read(data);
    let choice = fields.iter().flatten().find_map(calling).unwrap_or(0);
    let mut all = ArrivedCalls::default();
    let chunks: Vec<Option<Chunk<'_>>> =
        fields.iter().map(|it| it.as_ref().map(|it| all.read(it, choice))).collect();
    let plan = CallFates::of(&all.came, calls);
    let mut changes = Changes::none(data.len());
    let mut changing =
        Changing { plan: &plan, calls: &all, named: HashSet::new(), filled: HashSet::new() };
    for (chunk, event) in chunks.iter().zip(&mut changes.events) {
        chunk.iter().for_each(|chunk| changing.change(chunk, event));
    }
    add((data, before), (choice, all.next(&plan)), &chunks, &plan, &mut changes);
    changes
}

/// The index of the choice that has calls.
fn calling(chunk: &JsonFields<'_>) -> Option<u64> {
    choices(chunk)
        .find(|(_, choice)| {
            let part = choice.fields("message").or_else(|| choice.fields("delta"));
            let has_some = |part: JsonFields<'_>| {
                !part.items("tool_calls").is_empty() || part.get(OLD).is_some()
            };
            part.is_some_and(has_some)
        })
        .map(|(index, _)| index)
}

/// The choices of a chunk, with their indices.
fn choices<'a>(chunk: &JsonFields<'a>) -> impl Iterator<Item = (u64, JsonFields<'a>)> {
    let choices = (0..).zip(chunk.items("choices"));
    choices.filter_map(|(at, choice)| {
        let choice = choice.fields()?;
        Some((choice.get("index").and_then(|index| index.u64()).unwrap_or(at), choice))
    })
}

/// The function of a call; some servers put its fields into the call.
fn function<'a>(item: &JsonNode<'a>, call: &JsonFields<'a>) -> JsonNode<'a> {
    call.get("function").filter(|function| function.fields().is_some()).unwrap_or(*item)
}

/// The calls that came.
#[derive(Default)]
struct ArrivedCalls {
    came: Vec<Came>,
    known: Vec<CallArrival>,
}

/// A call as it came.
struct CallArrival {
    index: u64,
    has_arguments: bool,
}

impl ArrivedCalls {
    fn read<'a>(&mut self, chunk: &JsonFields<'a>, choice: u64) -> Chunk<'a> {
        let has_usage = chunk.get("usage").is_some();
        let choice = choices(chunk).find(|(index, _)| *index == choice).map(|(_, choice)| choice);
        let message = choice.as_ref().and_then(|it| it.get("message"));
        let is_message = message.is_some();
        let part = message.or_else(|| choice.as_ref()?.get("delta"));
        let list = part.and_then(|it| it.fields()?.get("tool_calls"));
        let old = part.and_then(|it| it.fields()?.get(OLD));
        let items = list.and_then(|list| list.items()).or(old.map(|old| vec![old]));
        let items = items.unwrap_or_default();
        let calls = (0..).zip(items).map(|(at, item)| {
            let call = item.fields()?;
            Some((self.add(at, &item, &call), item, call))
        });
        let calls = calls.collect();
        let finish = choice.and_then(|choice| choice.get("finish_reason"));
        let finish = finish.filter(is_finish);
        Chunk { part, is_message, list, old, calls, finish, has_usage }
    }

    /// Adds a part of a call; returns the place of the call.
    fn add(&mut self, at: u64, item: &JsonNode<'_>, call: &JsonFields<'_>) -> usize {
        let index = call.get("index").and_then(|index| index.u64()).unwrap_or(at);
        let id = call.string("id").unwrap_or_default();
        let known = self.known.iter().rposition(|known| known.index == index);
        // Some servers give every call the same index.
        let is_it =
            |at: &usize| id.is_empty() || self.came[*at].id.is_empty() || self.came[*at].id == id;
        let place = known.filter(is_it).unwrap_or_else(|| {
            self.came.push(Came::default());
            self.known.push(CallArrival { index, has_arguments: false });
            self.came.len() - 1
        });
        let (came, known) = (&mut self.came[place], &mut self.known[place]);
        if came.id.is_empty() {
            came.id = id.into_owned();
        }
        let Some(function) = function(item, call).fields() else { return place };
        let name = function.string("name").unwrap_or_default();
        // Some servers repeat the name.
        if came.name != name {
            came.name += &name;
        }
        if let Some(more) = function.get("arguments") {
            known.has_arguments = true;
            came.arguments += &more.string().unwrap_or_else(|| more.raw().into());
        }
        place
    }

    /// The index of a further call.
    fn next(&self, plan: &CallFates<'_>) -> u64 {
        let next = self.known.iter().map(|known| known.index + 1).max().unwrap_or(0);
        next.saturating_sub(plan.dropped_before(self.came.len()))
    }
}

/// Changes the calls that came.
struct Changing<'a> {
    plan: &'a CallFates<'a>,
    calls: &'a ArrivedCalls,
    /// The calls whose new name, and those whose new arguments have been written.
    named: HashSet<usize>,
    filled: HashSet<usize>,
}

impl Changing<'_> {
    fn change(&mut self, chunk: &Chunk<'_>, event: &mut Event) {
        for (at, item, call) in chunk.calls.iter().flatten() {
            self.change_call(*at, item, call, event);
        }
        let is_kept = |at: usize| chunk.call_at(at).is_none_or(|call| self.plan.is_kept(call));
        let is_gone = !chunk.calls.is_empty() && !(0..chunk.calls.len()).any(is_kept);
        event.is_dropped = is_gone && chunk.has_only_calls();
        if let Some(list) = &chunk.list {
            event.list(list, is_kept);
        } else if let Some(old) = chunk.old.filter(|_| is_gone) {
            event.set(&old, "null");
        }
        let Some(reason) = &chunk.finish else { return };
        let word = reason.string().unwrap_or_default().to_ascii_lowercase();
        match self.plan.ends() {
            (true, _) if CALLS.contains(&word.as_str()) => event.set(reason, quoted("stop")),
            (_, true) if word == "stop" => event.set(reason, quoted("tool_calls")),
            _ => {}
        }
    }

    fn change_call(
        &mut self,
        at: usize,
        item: &JsonNode<'_>,
        call: &JsonFields<'_>,
        event: &mut Event,
    ) {
        let Fate::Kept { name, arguments } = self.plan.fate(at) else { return };
        let (dropped, known) = (self.plan.dropped_before(at), &self.calls.known[at]);
        if let Some(index) = call.get("index").filter(|_| dropped > 0) {
            event.set(&index, known.index.saturating_sub(dropped));
        }
        let node = function(item, call);
        let old = |name: &str| node.fields().and_then(|function| function.get(name));
        if let (Some(name), Some(old)) = (name, old("name")) {
            let is_repeated = old.string().is_some_and(|old| old == self.calls.came[at].name);
            let is_it = self.named.insert(at) || is_repeated;
            event.set(&old, quoted(if is_it { name } else { "" }));
        }
        let Some(arguments) = arguments else { return };
        match old("arguments") {
            Some(old) => {
                let new = if self.filled.insert(at) { arguments.as_str() } else { "" };
                let is_json = !old.raw().starts_with('"') && JsonNode::of(new).is_ok();
                event.set(&old, if is_json { new.to_owned() } else { quoted(new) });
            }
            None if !known.has_arguments && self.filled.insert(at) => {
                event.put(&node, "arguments", &quoted(arguments));
            }
            None => {}
        }
    }
}

impl Chunk<'_> {
    /// The call to which an item of the list belongs.
    fn call_at(&self, at: usize) -> Option<usize> {
        self.calls.get(at)?.as_ref().map(|(call, ..)| *call)
    }

    /// Whether dropping the whole event loses nothing but calls.
    fn has_only_calls(&self) -> bool {
        let fields = self.part.and_then(|part| part.fields());
        let is_nothing = |(name, node): (&str, JsonNode<'_>)| {
            name == "tool_calls" || name == OLD || node.is_null() || node.raw() == "\"\""
        };
        let has_nothing = fields.is_some_and(|fields| fields.iter().all(is_nothing));
        has_nothing && !self.is_message && self.finish.is_none() && !self.has_usage
    }
}

/// Adds the further calls: to a message and to an event that has calls and the finish, else as events of their own.
fn add(
    (data, before): (&[&str], &str),
    (choice, index): (u64, u64),
    chunks: &[Option<Chunk<'_>>],
    plan: &CallFates<'_>,
    changes: &mut Changes,
) {
    if plan.added.is_empty() {
        return;
    }
    let is_end = |chunk: &Option<Chunk<'_>>| {
        chunk.as_ref().is_some_and(|it| it.finish.is_some() || it.is_message)
    };
    let end = chunks.iter().position(is_end);
    let chunk = end.and_then(|at| chunks[at].as_ref());
    let calls = (index..).zip(&plan.added).map(|(index, call)| {
        let function = json!({"name": call.tool, "arguments": text(&call.arguments)});
        let mut written = json!({"id": call.id, "type": "function", "function": function});
        if !chunk.is_some_and(|chunk| chunk.is_message) {
            written["index"] = index.into();
        }
        written
    });
    if let (Some(at), Some(chunk)) = (end, chunk)
        && (chunk.is_message || !chunk.calls.is_empty())
    {
        let calls: Vec<String> = calls.map(|call| call.to_string()).collect();
        let event = &mut changes.events[at];
        let is_kept = |at: usize| chunk.call_at(at).is_none_or(|call| plan.is_kept(call));
        match (&chunk.list, &chunk.part) {
            (Some(list), _) => event.more(list, is_kept, &calls),
            (None, Some(part)) => event.put(part, "tool_calls", &format!("[{}]", calls.join(","))),
            (None, None) => {}
        }
        return;
    }
    let is_done = |data: &&str| data.trim() == "[DONE]";
    let at = end.or_else(|| data.iter().position(is_done)).unwrap_or(data.len());
    let like = end.or_else(|| chunks.iter().rposition(Option::is_some));
    let like = like.map_or(before, |at| data[at]);
    for call in calls {
        let mut chunk: Map<String, Value> = serde_json::from_str(like).unwrap_or_default();
        let choice =
            json!({"index": choice, "delta": {"tool_calls": [call]}, "finish_reason": null});
        chunk.insert("choices".into(), json!([choice]));
        chunk.shift_remove("usage");
        let chunk = Value::from(chunk);
        changes.added.push((at, format!("data: {chunk}\n\n")));
    }
}
