//! An answer with other calls.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::reply::frame;
use crate::domain::ToolCall;
use crate::node::{JsonFields, JsonNode};
use crate::plan::{CallFates, Came, Changes, Event, Fate, quoted, read, text};

/// Returns the changes to the events of an answer that give it these calls.
pub(crate) fn changes(data: &[&str], before: &str, calls: &[ToolCall]) -> Changes {
    let events = read(data);
    let mut all = Blocks::default();
    let kinds: Vec<MessagesEvent<'_>> = events
        .iter()
        .map(|event| event.as_ref().map_or(MessagesEvent::Other, |it| all.read(it)))
        .collect();
    let plan = CallFates::of(&all.came, calls);
    let mut changes = Changes::none(data.len());
    let mut changing = Changing { plan: &plan, blocks: &all, filled: HashSet::new() };
    for (at, kind) in kinds.iter().enumerate() {
        let mut event = std::mem::take(&mut changes.events[at]);
        changing.change((at, kind), &mut event, &mut changes);
        changes.events[at] = event;
    }
    if !kinds.iter().any(|kind| matches!(kind, MessagesEvent::Whole { .. })) {
        let next = JsonNode::of(before).ok().and_then(|event| index(&event.fields()?));
        let next = next.max(all.last).map_or(0, |last| last + 1);
        let first = next.saturating_sub(plan.dropped_before(all.came.len()));
        let is_end = |kind: &MessagesEvent<'_>| matches!(kind, MessagesEvent::End(_));
        let at = kinds.iter().position(is_end).unwrap_or(data.len());
        let added = (first..).zip(&plan.added).map(|(index, call)| (at, frames(index, call)));
        changes.added.extend(added);
    }
    changes
}

/// An event of an answer, with the parts of it that may change.
enum MessagesEvent<'a> {
    /// The beginning of a call: its number, its index and its block.
    Begin(usize, Option<JsonNode<'a>>, JsonNode<'a>),
    /// A piece of the arguments of a call.
    Piece(usize, Option<JsonNode<'a>>, JsonNode<'a>),
    /// Another event of a block: the number of its call, if the block is a call, and the index.
    Part(Option<usize>, JsonNode<'a>),
    /// A message with all of its blocks: its content, the numbers of its calls, and its reason.
    Whole {
        content: JsonNode<'a>,
        calls: Vec<Option<usize>>,
        reason: Option<JsonNode<'a>>,
    },
    /// The end, and its reason.
    End(Option<JsonNode<'a>>),
    Other,
}

/// The calls that came.
#[derive(Default)]
struct Blocks {
    came: Vec<Came>,
    /// The index of each call, and whether its arguments came in pieces.
    indices: Vec<u64>,
    in_pieces: HashSet<usize>,
    /// The call at an index.
    at: HashMap<u64, usize>,
    /// The last index of all blocks.
    last: Option<u64>,
}

impl Blocks {
    fn read<'a>(&mut self, event: &JsonFields<'a>) -> MessagesEvent<'a> {
        let place = event.get("index");
        let index = index(event);
        self.last = self.last.max(index);
        match event.string("type").as_deref() {
            Some("content_block_start") => match event.get("content_block") {
                Some(block) => match self.begin(index.unwrap_or(0), &block) {
                    Some(call) => MessagesEvent::Begin(call, place, block),
                    None => self.part(index, place),
                },
                None => MessagesEvent::Other,
            },
            Some("content_block_delta") => {
                let piece = event.fields("delta").and_then(|delta| delta.get("partial_json"));
                let call = self.at.get(&index.unwrap_or(0)).copied();
                match (call, piece) {
                    (Some(call), Some(piece)) => {
                        // If a call has both, the pieces count.
                        if self.in_pieces.insert(call) {
                            self.came[call].arguments.clear();
                        }
                        self.came[call].arguments += &piece.string().unwrap_or_default();
                        MessagesEvent::Piece(call, place, piece)
                    }
                    _ => self.part(index, place),
                }
            }
            Some("message_delta") => {
                MessagesEvent::End(event.fields("delta").and_then(|delta| delta.get("stop_reason")))
            }
            Some("message_stop") => MessagesEvent::End(None),
            Some("message") | None => {
                match event.get("content").filter(|it| it.items().is_some()) {
                    Some(content) => {
                        let blocks = content.items().unwrap_or_default();
                        let calls = (0..).zip(&blocks).map(|(at, block)| self.begin(at, block));
                        MessagesEvent::Whole {
                            calls: calls.collect(),
                            content,
                            reason: event.get("stop_reason"),
                        }
                    }
                    None => MessagesEvent::Other,
                }
            }
            Some(_) => self.part(index, place),
        }
    }

    fn part<'a>(&self, index: Option<u64>, place: Option<JsonNode<'a>>) -> MessagesEvent<'a> {
        let call = index.and_then(|index| self.at.get(&index).copied());
        place.map_or(MessagesEvent::Other, |place| MessagesEvent::Part(call, place))
    }

    /// Begins a block; returns the number of its call, if the block is a call.
    fn begin(&mut self, index: u64, block: &JsonNode<'_>) -> Option<usize> {
        let fields = block.fields()?;
        self.at.remove(&index);
        fields.string("type").filter(|kind| kind == "tool_use")?;
        let text = |name: &str| fields.string(name).unwrap_or_default().into_owned();
        let input = fields.get("input").map_or("", |input| input.raw()).to_owned();
        let (id, name) = (text("id"), text("name"));
        self.came.push(Came { id, name, arguments: input, ..Came::default() });
        self.indices.push(index);
        self.at.insert(index, self.came.len() - 1);
        Some(self.came.len() - 1)
    }
}

/// Changes the calls that came.
struct Changing<'a> {
    plan: &'a CallFates<'a>,
    blocks: &'a Blocks,
    /// The calls whose new arguments have been written.
    filled: HashSet<usize>,
}

impl Changing<'_> {
    fn change(
        &mut self,
        (at, kind): (usize, &MessagesEvent<'_>),
        event: &mut Event,
        all: &mut Changes,
    ) {
        let (call, place) = match kind {
            MessagesEvent::Begin(call, place, _) | MessagesEvent::Piece(call, place, _) => {
                (Some(*call), *place)
            }
            MessagesEvent::Part(call, place) => (*call, Some(*place)),
            MessagesEvent::Whole { .. } | MessagesEvent::End(_) | MessagesEvent::Other => {
                (None, None)
            }
        };
        event.is_dropped = call.is_some_and(|call| !self.plan.is_kept(call));
        if let Some(place) = place.filter(|_| !event.is_dropped) {
            self.renumber(&place, event);
        }
        match kind {
            MessagesEvent::Begin(call, _, block) if !event.is_dropped => {
                let has_pieces = self.blocks.in_pieces.contains(call);
                self.change_block(*call, block, has_pieces, event);
                if let Fate::Kept { arguments: Some(arguments), .. } = self.plan.fate(*call)
                    && !has_pieces
                    && self.blocks.came[*call].arguments.trim() == "{}"
                {
                    let index = self.blocks.indices[*call];
                    let index = index.saturating_sub(self.dropped_below(index));
                    all.added.push((at + 1, piece(index, arguments)));
                }
            }
            MessagesEvent::Piece(call, _, piece) => {
                if let Fate::Kept { arguments: Some(arguments), .. } = self.plan.fate(*call) {
                    let is_first = self.filled.insert(*call);
                    event.set(piece, quoted(if is_first { arguments } else { "" }));
                }
            }
            MessagesEvent::Whole { content, calls, reason } => {
                self.change_whole(content, calls, event);
                self.end(reason.as_ref(), event);
            }
            MessagesEvent::End(reason) => self.end(reason.as_ref(), event),
            MessagesEvent::Begin(..) | MessagesEvent::Part(..) | MessagesEvent::Other => {}
        }
    }

    fn dropped_below(&self, index: u64) -> u64 {
        let all = self.blocks.indices.iter().enumerate();
        let gone = all.filter(|(at, it)| **it < index && !self.plan.is_kept(*at));
        gone.count() as u64
    }

    fn renumber(&self, place: &JsonNode<'_>, event: &mut Event) {
        if let Some(index) = place.u64() {
            let dropped = self.dropped_below(index);
            if dropped > 0 {
                event.set(place, index.saturating_sub(dropped));
            }
        }
    }

    /// Changes the block of a call, whose arguments may follow in pieces.
    fn change_block(&self, call: usize, block: &JsonNode<'_>, has_pieces: bool, event: &mut Event) {
        let Fate::Kept { name, arguments } = self.plan.fate(call) else { return };
        if let Some(name) = name {
            event.put(block, "name", &quoted(name));
        }
        let came = &self.blocks.came[call];
        if let Some(arguments) = arguments
            && !has_pieces
            && came.arguments.trim() != "{}"
        {
            event.put(block, "input", &input(arguments));
        }
    }

    fn change_whole(&self, content: &JsonNode<'_>, calls: &[Option<usize>], event: &mut Event) {
        let blocks = content.items().unwrap_or_default();
        for (call, block) in calls.iter().zip(&blocks) {
            let Some(Fate::Kept { name, arguments }) = call.map(|call| self.plan.fate(call)) else {
                continue;
            };
            name.iter().for_each(|name| event.put(block, "name", &quoted(name)));
            arguments.iter().for_each(|it| event.put(block, "input", &input(it)));
        }
        let is_kept =
            |at: usize| calls.get(at).copied().flatten().is_none_or(|call| self.plan.is_kept(call));
        event.list(content, is_kept);
        let more: Vec<String> = self.plan.added.iter().map(|it| block(it).to_string()).collect();
        if !more.is_empty() {
            event.more(content, is_kept, &more);
        }
    }

    fn end(&self, reason: Option<&JsonNode<'_>>, event: &mut Event) {
        let Some(reason) = reason else { return };
        let word = reason.string().unwrap_or_default();
        match self.plan.ends() {
            (true, _) if word == "tool_use" => event.set(reason, quoted("end_turn")),
            (_, true) if word == "end_turn" || word == "stop_sequence" => {
                event.set(reason, quoted("tool_use"));
            }
            _ => {}
        }
    }
}

fn index(event: &JsonFields<'_>) -> Option<u64> {
    event.get("index").and_then(|index| index.u64())
}

/// Arguments as the input of a whole block.
fn input(arguments: &str) -> String {
    if JsonNode::of(arguments).is_ok() { arguments.to_owned() } else { quoted(arguments) }
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
