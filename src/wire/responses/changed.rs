//! An answer with other calls.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::calls::is_end;
use super::frames::Frames;
use super::kinds::ClientCallKind;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::object::{JsonObject, quoted};
use crate::plan::{AnswerEvent, CallFates, CallNumbers, Came, end, read, text};

/// Gives the answer of these events these calls.
pub(crate) fn change(events: &mut [AnswerEvent<'_>], before: &str, calls: &[ToolCall]) {
    let before = JsonObject::of(before);
    let number = |name: &str| before.as_ref().and_then(|event| event.came.number(name));
    let mut all = Items { last: number("output_index"), ..Items::default() };
    let numbers = read(events, |event| all.read(event));
    let mut plan = CallFates::of(all.came, calls);
    for (event, numbers) in events.iter_mut().zip(&numbers) {
        change_event(&mut plan, numbers, all.last.is_some(), event);
    }
    if !all.is_document {
        let (end, further) = (end(events, is_end), plan.further(all.last));
        number_events(events, number("sequence_number"), end, &further);
    }
}

/// Adds the events of the further calls. From the first change on, events are renumbered.
fn number_events(
    events: &mut [AnswerEvent<'_>],
    sequence: Option<u64>,
    end: usize,
    further: &[(u64, &ToolCall)],
) {
    let (mut next, mut shift) = (sequence.map_or(0, |sequence| sequence.saturating_add(1)), 0);
    for (at, event) in events.iter_mut().enumerate() {
        let own = event.object.as_ref().and_then(|event| event.came.number("sequence_number"));
        next = own.map_or(next, |own| own.saturating_add_signed(shift));
        if at == end {
            let mut frames = Frames { next, ..Frames::default() };
            for (index, call) in further {
                frames.item(*index, &item(call));
            }
            shift += (frames.next - next) as i64;
            event.added = frames.text;
        }
        if event.is_dropped {
            shift -= 1;
        } else if let (Some(object), Some(own)) = (&mut event.object, own) {
            let own = own.saturating_add_signed(shift);
            object.set("sequence_number", own);
            next = own.saturating_add(1);
        }
    }
}

/// A further call as an item.
fn item(call: &ToolCall) -> Value {
    json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
        "name": call.tool, "arguments": text(&call.arguments), "status": "completed"})
}

/// The part of an answer that an event has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartForm {
    /// An item that begins, or that is whole.
    Item {
        is_whole: bool,
    },
    /// A piece of the arguments of a call, or all of them, in this field.
    Input {
        field: &'static str,
        is_whole: bool,
    },
    /// The response at the end, with all of its items.
    End,
    /// A response that is the whole answer.
    Document,
    Other,
}

impl PartForm {
    fn of(event: &JsonFields<'_>) -> Self {
        let kind = event.string("type").unwrap_or_default();
        let Some(kind) = kind.strip_prefix("response.") else {
            return if event.get("output").is_some() { Self::Document } else { Self::Other };
        };
        match kind.rsplit_once('.').unwrap_or(("", kind)) {
            ("", "completed" | "done" | "incomplete") => Self::End,
            ("output_item", step) => Self::Item { is_whole: step != "added" },
            ("function_call_arguments", "done") => {
                Self::Input { field: "arguments", is_whole: true }
            }
            ("custom_tool_call_input", "done") => Self::Input { field: "input", is_whole: true },
            ("function_call_arguments" | "custom_tool_call_input", _) => {
                Self::Input { field: "delta", is_whole: false }
            }
            _ => Self::Other,
        }
    }
}

/// The calls that came.
#[derive(Default)]
struct Items {
    came: Vec<Came>,
    /// The id of the item of each call.
    ids: Vec<String>,
    /// The last index of all items.
    last: Option<u64>,
    /// Whether the answer is one document.
    is_document: bool,
}

impl Items {
    fn read(&mut self, event: &JsonFields<'_>) -> CallNumbers {
        let index = event.number("output_index");
        self.last = self.last.max(index);
        match (PartForm::of(event), event.fields("item")) {
            (PartForm::Document, _) => {
                self.is_document = true;
                self.output(event)
            }
            (PartForm::End, _) => self.output(event.fields("response").as_ref().unwrap_or(event)),
            (PartForm::Item { is_whole }, Some(item)) => vec![self.item(index, &item, is_whole)],
            (form, _) => {
                let number = self.known(index, &event.string("item_id").unwrap_or_default());
                if let (PartForm::Input { field, is_whole }, Some(number)) = (form, number) {
                    let call = &mut self.came[number];
                    if is_whole {
                        call.arguments.clear();
                    }
                    call.in_pieces |= !is_whole;
                    call.arguments += &event.string(field).unwrap_or_default();
                }
                vec![number]
            }
        }
    }

    /// The number of the call to which an event belongs.
    fn known(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let by_id = self.ids.iter().rposition(|known| !id.is_empty() && known == id);
        let is_at = |call: &Came| index.is_some() && call.index == index;
        by_id.or_else(|| self.came.iter().rposition(is_at))
    }

    /// Reads an item; returns the number of its call, if it is a call.
    fn item(&mut self, index: Option<u64>, item: &JsonFields<'_>, is_whole: bool) -> Option<usize> {
        let kind = ClientCallKind::of_fields(item)?;
        let text = |name: &str| item.string(name).unwrap_or_default();
        let input = item.get(kind.input(|name| item.get(name).is_some()));
        let input = input.map(|it| it.string().unwrap_or_else(|| it.raw().into()));
        let (id, call_id) = (text("id"), text("call_id"));
        let by_id = self.came.iter().position(|it| !call_id.is_empty() && it.id == call_id);
        let known = by_id.or_else(|| if is_whole { self.known(index, &id) } else { None });
        let call = known.unwrap_or_else(|| {
            let (is_text, is_fixed) = (kind == ClientCallKind::Custom, kind.takes_object());
            self.came.push(Came { index, is_text, is_fixed, ..Came::default() });
            self.ids.push(id.into_owned());
            self.came.len() - 1
        });
        let came = &mut self.came[call];
        // The values at the end count, unless they are empty.
        for (known, new) in [
            (&mut came.id, call_id),
            (&mut came.name, kind.tool().map_or_else(|| text("name"), Cow::from)),
            (&mut came.arguments, input.unwrap_or_default()),
        ] {
            if !new.is_empty() {
                *known = new.into_owned();
            }
        }
        Some(call)
    }

    fn output(&mut self, response: &JsonFields<'_>) -> CallNumbers {
        let items = response.items("output");
        (0..).zip(&items).map(|(at, item)| self.item(Some(at), &item.fields()?, true)).collect()
    }
}

/// Changes an event. `has_items`: an item came before the response at the end.
fn change_event(
    plan: &mut CallFates<'_>,
    numbers: &[Option<usize>],
    has_items: bool,
    event: &mut AnswerEvent<'_>,
) {
    let Some(object) = &mut event.object else { return };
    let form = PartForm::of(&object.came);
    if form == PartForm::End && object.came.fields("response").is_some() {
        let change = |response: &mut _| change_output(plan, numbers, has_items, response);
        return object.change("response", change);
    }
    if matches!(form, PartForm::End | PartForm::Document) {
        return change_output(plan, numbers, has_items, object);
    }
    plan.lower(object, "output_index");
    let Some(Some(call)) = numbers.first().copied() else { return };
    // Pieces of other commands than those of the item would contradict it.
    let is_stale =
        form == PartForm::Other && plan.came[call].is_fixed && plan.arguments(call).is_some();
    event.is_dropped = is_stale || !plan.is_kept(Some(call));
    match form {
        PartForm::Item { is_whole } => {
            object.change("item", |item| change_item(plan, call, is_whole, item));
        }
        PartForm::Input { field, is_whole } => {
            plan.name(call).iter().for_each(|name| object.replace("name", quoted(name)));
            match plan.arguments(call).filter(|_| is_whole) {
                Some(arguments) => object.replace(field, quoted(arguments)),
                None => plan.change_piece(call, object, field),
            }
        }
        PartForm::End | PartForm::Document | PartForm::Other => {}
    }
}

/// Changes an item that begins, or that is whole.
fn change_item(plan: &CallFates<'_>, call: usize, is_whole: bool, item: &mut JsonObject<'_>) {
    plan.name(call).iter().for_each(|name| item.set("name", quoted(name)));
    let kind = ClientCallKind::of_fields(&item.came);
    let (Some(arguments), Some(kind)) = (plan.arguments(call), kind) else { return };
    let field = kind.input(|name| item.came.get(name).is_some());
    let is_some = |it: JsonNode<'_>| it.string().is_none_or(|text| !text.is_empty());
    if kind.takes_object() && JsonNode::of(arguments).is_ok() {
        item.set(field, arguments);
    } else if is_whole {
        item.set(field, quoted(arguments));
    } else if item.came.get(field).is_some_and(is_some) {
        let is_here = !plan.came[call].in_pieces;
        item.set(field, quoted(if is_here { arguments } else { "" }));
    }
}

fn change_output(
    plan: &CallFates<'_>,
    numbers: &[Option<usize>],
    has_items: bool,
    response: &mut JsonObject<'_>,
) {
    // A server that leaves the list empty has sent its items before.
    let takes_more = response.came.get("output").is_some() && !(numbers.is_empty() && has_items);
    let added = plan.added.iter().filter(|_| takes_more);
    let more: Vec<Value> = added.map(|call| item(call)).collect();
    let change = |at: usize, item: &mut JsonObject<'_>| {
        let call = numbers.get(at).copied().flatten();
        call.iter().for_each(|call| change_item(plan, *call, true, item));
        plan.is_kept(call)
    };
    response.change_items("output", change, &more);
}
