//! The calls of an answer: which objects have some, and an answer with others.

use serde_json::{Value, json};

use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::object::{JsonObject, quoted};
use crate::plan::{AnswerEvent, CallFates, CallNumbers, Came, as_json, last_with, read};

/// Whether an object has a call.
pub(super) fn has_call(data: &str) -> bool {
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    let message = fields.and_then(|fields| fields.fields("message"));
    message.is_some_and(|it| it.items("tool_calls").iter().any(|call| call.fields().is_some()))
}

/// Whether this is the last object of an answer.
pub(super) fn is_end(data: &str) -> bool {
    let fields = JsonNode::of(data).ok().and_then(|data| data.fields());
    fields.and_then(|fields| fields.get("done")?.bool()).unwrap_or(false)
}

/// Gives the answer of these objects these calls.
pub(super) fn change(events: &mut [AnswerEvent<'_>], _: &str, calls: &[ToolCall]) {
    let mut came = Vec::new();
    let numbers = read(events, |event| of_event(event, &mut came));
    let plan = CallFates::of(came, calls);
    let further: Vec<Value> = plan.added.iter().map(|call| written(call)).collect();
    // Some clients take calls of two objects for one, so further calls join those that stay, or stand in the last object.
    let is_calling = |event: &AnswerEvent<'_>| has_call(event.data);
    let last = events.iter().rposition(is_calling).or_else(|| last_with(events, "message"));
    for (at, (event, numbers)) in events.iter_mut().zip(&numbers).enumerate() {
        let Some(object) = &mut event.object else { continue };
        let more = if Some(at) == last { &further[..] } else { &[] };
        object.change("message", |message| {
            let change = |at: usize, call: &mut JsonObject<'_>| {
                change_call(&plan, numbers.get(at).copied().flatten(), call)
            };
            message.change_items("tool_calls", change, more);
        });
    }
}

/// Changes a call of an object; returns whether it stays.
fn change_call(plan: &CallFates<'_>, number: Option<usize>, call: &mut JsonObject<'_>) -> bool {
    number.iter().for_each(|number| {
        call.change("function", |function| {
            plan.name(*number).iter().for_each(|name| function.set("name", quoted(name)));
            let arguments = plan.arguments(*number).map(as_json);
            arguments.iter().for_each(|arguments| function.set("arguments", arguments));
        });
    });
    plan.is_kept(number)
}

/// The numbers of an object's calls.
fn of_event(event: &JsonFields<'_>, came: &mut Vec<Came>) -> CallNumbers {
    let calls = event.fields("message").map(|it| it.items("tool_calls")).unwrap_or_default();
    let number = |call: &JsonNode<'_>| {
        let fields = call.fields()?;
        let function = fields.fields("function")?;
        let given = function.get("arguments");
        let text = given.as_ref().and_then(|it| it.string()).map(|text| text.into_owned());
        came.push(Came {
            id: fields.id("id"),
            name: function.string("name").unwrap_or_default().into_owned(),
            arguments: text.unwrap_or_else(|| given.map_or("", |it| it.raw()).to_owned()),
            ..Came::default()
        });
        Some(came.len() - 1)
    };
    calls.iter().map(number).collect()
}

fn written(call: &ToolCall) -> Value {
    json!({"id": call.id, "function": {"name": call.tool, "arguments": call.arguments}})
}
