//! The calls of an answer: which events have some, and an answer with others.

use serde_json::{Value, json};

use super::parts::SIGNATURE;
use super::spelling::either;
use crate::domain::ToolCall;
use crate::learned::NO_SIGNATURE;
use crate::node::{JsonFields, JsonNode};
use crate::object::{JsonObject, quoted};
use crate::plan::{AnswerEvent, CallFates, CallNumbers, Came, as_json, end, last_with, read};

/// The spellings of a field with a call, and of one with a reason.
const CALLS: [&str; 2] = ["functionCall", "function_call"];

/// Whether an event, or a whole answer, has a call.
pub(super) fn has_call(data: &str) -> bool {
    let event = JsonNode::of(data).ok().and_then(|data| data.fields());
    let parts = event.map(|event| parts(&event)).unwrap_or_default();
    parts.iter().filter_map(JsonNode::fields).any(|part| call(&part).is_some())
}

/// Whether an event has the reason of the end.
pub(super) fn is_end(data: &str) -> bool {
    let Some(event) = JsonNode::of(data).ok().and_then(|data| data.fields()) else { return false };
    let has_text = |fields: JsonFields<'_>, name: &str| {
        either(&fields, name).and_then(|it| it.string()).is_some_and(|text| !text.is_empty())
    };
    let blocked = either(&event, "promptFeedback").and_then(|it| it.fields());
    blocked.is_some_and(|it| has_text(it, "blockReason"))
        || first(&event).is_some_and(|it| has_text(it, "finishReason"))
}

/// Gives the answer of these events these calls. Further ones go into the event with the end, or into the last
/// one where that has not come.
pub(super) fn change(events: &mut [AnswerEvent<'_>], _: &str, calls: &[ToolCall]) {
    let (mut came, mut is_signed) = (Vec::new(), false);
    let numbers = read(events, |event| of_event(event, &mut came, &mut is_signed));
    let plan = CallFates::of(came, calls);
    let further: Vec<Value> = plan.added.iter().map(|call| written(call, is_signed)).collect();
    // The end may still come.
    let is_there = |at: &usize| *at + 1 < events.len();
    let last = Some(end(events, is_end)).filter(is_there);
    let last = last.or_else(|| last_with(events, "candidates"));
    for (at, (event, numbers)) in events.iter_mut().zip(&numbers).enumerate() {
        let Some(object) = &mut event.object else { continue };
        let more = if Some(at) == last { &further[..] } else { &[] };
        let change = |place: usize, candidate: &mut JsonObject<'_>| {
            if place == 0 {
                change_candidate(&plan, numbers, candidate, more);
            }
            true
        };
        object.change_items("candidates", change, &[]);
    }
}

fn change_candidate(
    plan: &CallFates<'_>,
    numbers: &CallNumbers,
    candidate: &mut JsonObject<'_>,
    more: &[Value],
) {
    if candidate.came.fields("content").is_none() {
        if !more.is_empty() {
            candidate.set("content", json!({"parts": more, "role": "model"}));
        }
        return;
    }
    let change = |at: usize, part: &mut JsonObject<'_>| {
        let number = numbers.get(at).copied().flatten();
        if let Some(number) = number {
            for name in CALLS {
                part.change(name, |function| {
                    plan.name(number).iter().for_each(|name| function.set("name", quoted(name)));
                    let arguments = plan.arguments(number).map(as_json);
                    arguments.iter().for_each(|arguments| function.set("args", arguments));
                });
            }
        }
        plan.is_kept(number)
    };
    candidate.change("content", |content| content.change_items("parts", change, more));
}

/// The numbers of an event's calls, by their parts.
fn of_event(event: &JsonFields<'_>, came: &mut Vec<Came>, is_signed: &mut bool) -> CallNumbers {
    let number = |part: &JsonNode<'_>| {
        let part = part.fields()?;
        *is_signed |= either(&part, SIGNATURE).is_some();
        let call = call(&part)?;
        came.push(Came {
            id: call.id("id"),
            name: call.string("name").unwrap_or_default().into_owned(),
            arguments: call.get("args").map_or("", |args| args.raw()).to_owned(),
            ..Came::default()
        });
        Some(came.len() - 1)
    };
    parts(event).iter().map(number).collect()
}

/// A further call. An endpoint that signs its thoughts wants a signature, and names this one for calls of others.
fn written(call: &ToolCall, is_signed: bool) -> Value {
    let function = json!({"id": call.id, "name": call.tool, "args": call.arguments});
    let mut part = json!({ "functionCall": function });
    if is_signed {
        part[SIGNATURE] = NO_SIGNATURE.into();
    }
    part
}

fn call<'a>(part: &JsonFields<'a>) -> Option<JsonFields<'a>> {
    either(part, CALLS[0])?.fields()
}

/// The first candidate of an event.
fn first<'a>(event: &JsonFields<'a>) -> Option<JsonFields<'a>> {
    event.items("candidates").first()?.fields()
}

/// The parts of the first candidate.
fn parts<'a>(event: &JsonFields<'a>) -> Vec<JsonNode<'a>> {
    let content = first(event).and_then(|candidate| candidate.fields("content"));
    content.map(|content| content.items("parts")).unwrap_or_default()
}
