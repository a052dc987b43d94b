//! An answer with other calls.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::calls::{is_call, is_end};
use super::reply::frame;
use crate::domain::ToolCall;
use crate::node::JsonFields;
use crate::object::{JsonObject, quoted};
use crate::plan::{AnswerEvent, CallFates, CallNumbers, Came, as_json, end, read, text};

/// The reasons for an end with calls, and without.
const REASONS: (&[&str], &[&str]) = (&["tool_use"], &["end_turn", "stop_sequence"]);

/// Gives the answer of these events these calls.
pub(crate) fn change(events: &mut [AnswerEvent<'_>], before: &str, calls: &[ToolCall]) {
    let last = JsonObject::of(before).and_then(|event| event.came.number("index"));
    let mut all = Blocks { last, ..Blocks::default() };
    let numbers = read(events, |event| all.read(event));
    let mut plan = CallFates::of(all.came, calls);
    for (at, numbers) in numbers.iter().enumerate() {
        change_event(&mut plan, numbers, &mut events[at]);
        let piece = events[at].object.as_ref().and_then(|event| late_piece(&plan, numbers, event));
        piece.into_iter().for_each(|piece| events[at + 1].added = piece);
    }
    if !all.is_whole {
        let further = plan.further(all.last).into_iter();
        let added = further.map(|(index, call)| frames(index, call));
        events[end(events, is_end)].added.extend(added);
    }
}

/// The calls that came.
#[derive(Default)]
struct Blocks {
    came: Vec<Came>,
    /// The call at an index.
    at: HashMap<u64, usize>,
    /// The last index of all blocks.
    last: Option<u64>,
    /// Whether the answer is a message with all of its blocks.
    is_whole: bool,
}

impl Blocks {
    fn read(&mut self, event: &JsonFields<'_>) -> CallNumbers {
        if is_whole(event) {
            self.is_whole = true;
            let blocks = event.items("content");
            let calls = (0..).zip(&blocks).map(|(at, block)| self.begin(at, &block.fields()?));
            return calls.collect();
        }
        let index = event.number("index");
        self.last = self.last.max(index);
        let kind = event.string("type").unwrap_or_default();
        let Some(step) = kind.strip_prefix("content_block_") else { return Vec::new() };
        let index = index.unwrap_or(0);
        if let ("start", Some(block)) = (step, event.fields("content_block")) {
            return vec![self.begin(index, &block)];
        }
        let call = self.at.get(&index).copied();
        let piece = event.fields("delta").and_then(|delta| delta.get("partial_json"));
        if let (Some(call), Some(piece)) = (call, piece) {
            let call = &mut self.came[call];
            // If a call has both, the pieces count.
            if !std::mem::replace(&mut call.in_pieces, true) {
                call.arguments.clear();
            }
            call.arguments += &piece.string().unwrap_or_default();
        }
        vec![call]
    }

    /// Begins a block; returns the number of its call, if the block is a call.
    fn begin(&mut self, index: u64, block: &JsonFields<'_>) -> Option<usize> {
        self.at.remove(&index);
        if !is_call(block) {
            return None;
        }
        let text = |name: &str| block.string(name).unwrap_or_default().into_owned();
        let arguments = block.get("input").map_or("", |input| input.raw()).to_owned();
        let (id, name) = (text("id"), text("name"));
        self.came.push(Came { id, name, arguments, index: Some(index), ..Came::default() });
        self.at.insert(index, self.came.len() - 1);
        Some(self.came.len() - 1)
    }
}

/// Whether this is a message with all of its blocks.
fn is_whole(event: &JsonFields<'_>) -> bool {
    let is_message = event.string("type").is_none_or(|kind| kind == "message");
    is_message && event.get("content").is_some_and(|content| content.items().is_some())
}

fn change_event(plan: &mut CallFates<'_>, numbers: &[Option<usize>], event: &mut AnswerEvent<'_>) {
    let Some(object) = &mut event.object else { return };
    if is_whole(&object.came) {
        let more: Vec<Value> = plan.added.iter().map(|call| block(call)).collect();
        let change = |at: usize, block: &mut JsonObject<'_>| {
            let call = numbers.get(at).copied().flatten();
            call.iter().for_each(|call| change_block(plan, *call, true, block));
            plan.is_kept(call)
        };
        object.change_items("content", change, &more);
        return plan.change_reason(object, "stop_reason", REASONS);
    }
    let call = numbers.first().copied().flatten();
    event.is_dropped = !plan.is_kept(call);
    plan.lower(object, "index");
    object.change("content_block", |block| {
        call.iter().for_each(|call| change_block(plan, *call, false, block));
    });
    object.change("delta", |delta| {
        plan.change_reason(delta, "stop_reason", REASONS);
        call.iter().for_each(|call| plan.change_piece(*call, delta, "partial_json"));
    });
}

/// Changes the block of a call, whose arguments may follow in pieces.
fn change_block(plan: &CallFates<'_>, call: usize, is_whole: bool, block: &mut JsonObject<'_>) {
    plan.name(call).iter().for_each(|name| block.set("name", quoted(name)));
    let came = &plan.came[call];
    if let Some(arguments) = plan.arguments(call)
        && (is_whole || !came.in_pieces && came.arguments.trim() != "{}")
    {
        block.set("input", as_json(arguments));
    }
}

/// A piece for the arguments of a call that began without any, if none follows that could change.
fn late_piece(
    plan: &CallFates<'_>,
    numbers: &[Option<usize>],
    event: &JsonObject<'_>,
) -> Option<String> {
    event.came.get("content_block")?;
    let call = (*numbers.first()?)?;
    let came = plan.came.get(call).filter(|it| !it.in_pieces && it.arguments.trim() == "{}")?;
    Some(piece(plan.index(came.index?), plan.arguments(call)?))
}

fn block(call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments})
}

fn piece(index: u64, arguments: &str) -> String {
    let delta = json!({"type": "input_json_delta", "partial_json": arguments});
    frame(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

/// The events of a further call.
fn frames(index: u64, call: &ToolCall) -> String {
    let mut begun = block(call);
    begun["input"] = json!({});
    let start = json!({"type": "content_block_start", "index": index, "content_block": begun});
    let stop = json!({"type": "content_block_stop", "index": index});
    frame(&start) + &piece(index, &text(&call.arguments)) + &frame(&stop)
}
