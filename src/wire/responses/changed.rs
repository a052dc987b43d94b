//! An answer with other calls.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::frames::Frames;
use super::kinds::ClientCallKind;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::plan::{CallFates, Came, Changes, Event, Fate, quoted, read, text};

/// Returns the changes to the events of an answer that give it these calls.
pub(crate) fn changes(data: &[&str], before: &str, calls: &[ToolCall]) -> Changes {
    let events = read(data);
    let mut all = Items::default();
    let parts: Vec<ResponsesEvent<'_>> = events
        .iter()
        .map(|event| event.as_ref().map_or(ResponsesEvent::Other, |it| all.read(it)))
        .collect();
    let plan = CallFates::of(&all.came, calls);
    let mut changes = Changes::none(data.len());
    let before = JsonNode::of(before).ok().and_then(|event| event.fields());
    let last = before.as_ref().and_then(|event| number(event, "output_index")).max(all.last);
    let mut changing = Changing {
        plan: &plan,
        items: &all,
        next: last.map_or(0, |last| last + 1).saturating_sub(plan.dropped_before(all.came.len())),
        has_items: last.is_some(),
        filled: HashSet::new(),
    };
    for (part, event) in parts.iter().zip(&mut changes.events) {
        changing.change(part, event);
    }
    if parts.iter().any(|part| matches!(part, ResponsesEvent::End { is_document: true, .. })) {
        return changes;
    }
    let is_end = |at: &usize| {
        matches!(parts[*at], ResponsesEvent::End { .. }) || data[*at].trim() == "[DONE]"
    };
    let end = (0..parts.len()).find(is_end).unwrap_or(parts.len());
    let sequence = before.and_then(|event| number(&event, "sequence_number"));
    number_events(&events, (end, changing.next, sequence), &plan, &mut changes);
    changes
}

/// A number of an event.
fn number(event: &JsonFields<'_>, name: &str) -> Option<u64> {
    event.get(name).and_then(|number| number.u64())
}

/// Adds the events of the further calls. From the first change on, events are renumbered.
fn number_events(
    events: &[Option<JsonFields<'_>>],
    (end, index, sequence): (usize, u64, Option<u64>),
    plan: &CallFates<'_>,
    changes: &mut Changes,
) {
    let (mut next, mut shift) = (sequence.map_or(0, |sequence| sequence + 1), 0);
    for at in 0..=events.len() {
        let own = events.get(at).and_then(Option::as_ref).and_then(|it| it.get("sequence_number"));
        let number = own.and_then(|own| own.u64());
        next = number.map_or(next, |number| number.saturating_add_signed(shift));
        if at == end && !plan.added.is_empty() {
            let mut frames = Frames { next, ..Frames::default() };
            for (index, call) in (index as usize..).zip(&plan.added) {
                frames.item(index, &item(call));
            }
            shift += (frames.next - next) as i64;
            changes.added.push((at, frames.text));
        }
        let Some(event) = changes.events.get_mut(at) else { continue };
        if event.is_dropped {
            shift -= 1;
        } else if let (Some(own), Some(number)) = (own, number) {
            let number = number.saturating_add_signed(shift);
            event.set(&own, number);
            next = number + 1;
        }
    }
}

/// A further call as an item.
fn item(call: &ToolCall) -> Value {
    json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
        "name": call.tool, "arguments": text(&call.arguments), "status": "completed"})
}

/// An event of an answer, with the parts of it that may change.
enum ResponsesEvent<'a> {
    /// An item that begins or ends: the number of its call, if it is a call, its place and the item.
    Item {
        call: Option<usize>,
        place: Option<JsonNode<'a>>,
        item: JsonNode<'a>,
        is_whole: bool,
    },
    /// A piece of the arguments of a call, or all of them, and its name.
    Input {
        call: usize,
        place: Option<JsonNode<'a>>,
        input: Option<JsonNode<'a>>,
        name: Option<JsonNode<'a>>,
        is_whole: bool,
    },
    /// Another event of an item.
    Of {
        call: Option<usize>,
        place: JsonNode<'a>,
    },
    /// The response at the end, with all of its items and the numbers of its calls.
    End {
        output: Option<JsonNode<'a>>,
        calls: Vec<Option<usize>>,
        is_document: bool,
    },
    Other,
}

/// The calls that came.
#[derive(Default)]
struct Items {
    came: Vec<Came>,
    kinds: Vec<ClientCallKind>,
    /// The index and the id of the item of each call.
    places: Vec<(Option<u64>, String)>,
    /// The calls whose arguments came in pieces.
    in_pieces: HashSet<usize>,
    /// The last index of all items.
    last: Option<u64>,
}

impl Items {
    fn read<'a>(&mut self, event: &JsonFields<'a>) -> ResponsesEvent<'a> {
        let kind = event.string("type").unwrap_or_default();
        let Some(kind) = kind.strip_prefix("response.") else {
            return if event.get("output").is_some() {
                self.end(event, true)
            } else {
                ResponsesEvent::Other
            };
        };
        let (place, index) = (event.get("output_index"), number(event, "output_index"));
        self.last = self.last.max(index);
        if ["completed", "done", "incomplete"].contains(&kind) {
            let response = event.fields("response");
            return self.end(response.as_ref().unwrap_or(event), false);
        }
        let (stem, step) = kind.rsplit_once('.').unwrap_or_default();
        let id = event.string("item_id").unwrap_or_default();
        if let ("output_item", Some(item)) = (stem, event.get("item")) {
            let fields = item.fields();
            let call = fields.and_then(|fields| self.item(index, &fields, step == "added"));
            return ResponsesEvent::Item { call, place, item, is_whole: step == "done" };
        }
        let input = match stem {
            "function_call_arguments" => "arguments",
            "custom_tool_call_input" => "input",
            _ => "",
        };
        match (self.known(index, &id), place) {
            (Some(call), place) if !input.is_empty() => {
                let is_whole = step == "done";
                let input = event.get(if is_whole { input } else { "delta" });
                let text = input.and_then(|input| input.string()).unwrap_or_default();
                let came = &mut self.came[call];
                if is_whole {
                    came.arguments = text.into_owned();
                } else {
                    self.in_pieces.insert(call);
                    came.arguments += &text;
                }
                ResponsesEvent::Input { call, place, input, name: event.get("name"), is_whole }
            }
            (call, Some(place)) => ResponsesEvent::Of { call, place },
            _ => ResponsesEvent::Other,
        }
    }

    /// The number of the call to which an event belongs.
    fn known(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let by_id = self.places.iter().rposition(|(_, known)| !id.is_empty() && known == id);
        let is_at = |(known, _): &(Option<u64>, String)| index.is_some() && *known == index;
        by_id.or_else(|| self.places.iter().rposition(is_at))
    }

    /// Reads an item; returns the number of its call, if it is a call.
    fn item(&mut self, index: Option<u64>, item: &JsonFields<'_>, begins: bool) -> Option<usize> {
        let kind = ClientCallKind::of_fields(item)?;
        let text = |name: &str| item.string(name).unwrap_or_default();
        let input = item.get(kind.input(|name| item.get(name).is_some()));
        let input = input.map(|it| it.string().unwrap_or_else(|| it.raw().into()));
        let (id, call_id) = (text("id"), text("call_id"));
        let by_id = self.came.iter().position(|it| !call_id.is_empty() && it.id == call_id);
        let known = by_id.or_else(|| if begins { None } else { self.known(index, &id) });
        let call = known.unwrap_or_else(|| {
            let (is_text, is_fixed) = (kind == ClientCallKind::Custom, kind.tool().is_some());
            self.came.push(Came { is_text, is_fixed, ..Came::default() });
            self.kinds.push(kind);
            self.places.push((index, id.into_owned()));
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

    fn end<'a>(&mut self, response: &JsonFields<'a>, is_document: bool) -> ResponsesEvent<'a> {
        let output = response.get("output");
        let items = response.items("output");
        let calls = (0..).zip(&items).map(|(at, item)| self.item(Some(at), &item.fields()?, false));
        ResponsesEvent::End { calls: calls.collect(), output, is_document }
    }
}

/// Changes the calls that came.
struct Changing<'a> {
    plan: &'a CallFates<'a>,
    items: &'a Items,
    /// The index of the first further call.
    next: u64,
    /// Whether an item came before the response at the end.
    has_items: bool,
    /// The calls whose new arguments have been written.
    filled: HashSet<usize>,
}

impl Changing<'_> {
    fn change(&mut self, part: &ResponsesEvent<'_>, event: &mut Event) {
        let (call, place) = match part {
            ResponsesEvent::Item { call, place, .. } => (*call, *place),
            ResponsesEvent::Input { call, place, .. } => (Some(*call), *place),
            ResponsesEvent::Of { call, place } => (*call, Some(*place)),
            ResponsesEvent::End { .. } | ResponsesEvent::Other => (None, None),
        };
        // Pieces of other commands than those of the item would contradict it.
        let is_stale = |call: usize| {
            matches!(part, ResponsesEvent::Of { .. })
                && self.items.kinds[call].takes_object()
                && matches!(self.plan.fate(call), Fate::Kept { arguments: Some(_), .. })
        };
        event.is_dropped = call.is_some_and(|call| !self.plan.is_kept(call) || is_stale(call));
        if event.is_dropped {
            return;
        }
        if let (Some(place), Some(index)) = (place, place.and_then(|place| place.u64())) {
            let all = self.items.places.iter().enumerate();
            let is_gone = |(at, (known, _)): &(usize, &(Option<u64>, String))| {
                known.is_some_and(|known| known < index) && !self.plan.is_kept(*at)
            };
            event.set(&place, index.saturating_sub(all.filter(is_gone).count() as u64));
        }
        match part {
            ResponsesEvent::Item { call: Some(call), item, is_whole, .. } => {
                self.change_item(*call, item, *is_whole, event);
            }
            ResponsesEvent::Input { call, input, name, is_whole, .. } => {
                let Fate::Kept { name: new_name, arguments } = self.plan.fate(*call) else {
                    return;
                };
                if let (Some(name), Some(new)) = (name, new_name) {
                    event.set(name, quoted(new));
                }
                if let (Some(input), Some(new)) = (input, arguments) {
                    let is_it = *is_whole || self.filled.insert(*call);
                    event.set(input, quoted(if is_it { new } else { "" }));
                }
            }
            ResponsesEvent::End { output: Some(output), calls, .. } => {
                self.end(output, calls, event)
            }
            ResponsesEvent::Item { .. }
            | ResponsesEvent::Of { .. }
            | ResponsesEvent::End { .. }
            | ResponsesEvent::Other => {}
        }
    }

    /// Changes an item that begins, or that is whole.
    fn change_item(&self, call: usize, item: &JsonNode<'_>, is_whole: bool, event: &mut Event) {
        let Fate::Kept { name, arguments } = self.plan.fate(call) else { return };
        name.iter().for_each(|name| event.put(item, "name", &quoted(name)));
        let Some(arguments) = arguments else { return };
        let (kind, fields) = (self.items.kinds[call], item.fields());
        let field = kind.input(|name| fields.as_ref().is_some_and(|it| it.get(name).is_some()));
        let is_some = |it: &JsonNode<'_>| it.string().is_none_or(|text| !text.is_empty());
        let has_some = fields.and_then(|it| it.get(field)).is_some_and(|it| is_some(&it));
        if kind.takes_object() && JsonNode::of(arguments).is_ok() {
            event.put(item, field, arguments);
        } else if is_whole {
            event.put(item, field, &quoted(arguments));
        } else if has_some {
            let is_here = !self.items.in_pieces.contains(&call);
            event.put(item, field, &quoted(if is_here { arguments } else { "" }));
        }
    }

    fn end(&self, output: &JsonNode<'_>, calls: &[Option<usize>], event: &mut Event) {
        let items = output.items().unwrap_or_default();
        for (call, item) in calls.iter().zip(&items) {
            call.iter().for_each(|call| self.change_item(*call, item, true, event));
        }
        let is_kept =
            |at: usize| calls.get(at).copied().flatten().is_none_or(|call| self.plan.is_kept(call));
        event.list(output, is_kept);
        // A server that leaves the list empty has sent its items before.
        if !self.plan.added.is_empty() && (!items.is_empty() || !self.has_items) {
            let more: Vec<String> = self.plan.added.iter().map(|it| item(it).to_string()).collect();
            event.more(output, is_kept, &more);
        }
    }
}
