//! The blocks of an answer as they grow.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::blocks::type_of;
use crate::arguments;
use crate::pieces::{Joiner, joined};
use crate::reading::AnswerPiece;

/// Memory of a block besides its content, in bytes. A broken server may send blocks without content for ever.
const OVERHEAD: usize = 64;

/// The blocks so far, and the text and reasoning that a person reads.
#[derive(Debug, Default)]
pub(super) struct Growing {
    blocks: Vec<Grown>,
    /// The place in `blocks` of the block with this index.
    places: HashMap<u64, usize>,
    pub text: String,
    pub reasoning: String,
    /// Parts of a character at the end of text and reasoning.
    open_text: Joiner,
    open_reasoning: Joiner,
    /// The block that added text or reasoning last.
    speaker: Option<usize>,
    thinker: Option<usize>,
    pub calls: usize,
    /// Bytes that the model has written.
    pub written: usize,
    /// Bytes that are held besides those.
    pub held: usize,
}

/// A block.
#[derive(Debug)]
pub(super) enum Grown {
    /// The next `bytes` bytes of the text.
    Text {
        bytes: usize,
        citations: Vec<Value>,
    },
    Call(MessagesCall),
    /// Another block. A call of the endpoint itself has an input that comes in pieces.
    Kept {
        raw: Value,
        input: String,
    },
}

/// A call, as far as it has arrived.
#[derive(Debug)]
pub(super) struct MessagesCall {
    pub id: String,
    pub name: String,
    /// The input at the start of the block, which is a placeholder unless the server sends it at once.
    input: Value,
    /// The pieces of the input.
    pieces: String,
    /// Fields of the block that a call does not have.
    pub beside: Map<String, Value>,
}

impl Growing {
    /// Begins a block. Content that it already has counts as written.
    pub fn start(&mut self, index: Option<u64>, block: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        if block.is_null() {
            return;
        }
        let place = self.begin(index, block, seen);
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match type_of(block) {
            _ if block.is_string() => self.say(place, block.as_str().unwrap_or_default(), seen),
            "text" => self.say(place, text("text"), seen),
            "thinking" => self.think(place, text("thinking"), seen),
            _ => {}
        }
    }

    fn begin(
        &mut self,
        index: Option<u64>,
        block: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> usize {
        self.flush(seen);
        let place = self.blocks.len();
        let index = index.unwrap_or(place as u64);
        self.places.insert(index, place);
        self.held += block.to_string().len() + OVERHEAD;
        self.blocks.push(match type_of(block) {
            "text" => {
                let citations = block["citations"].as_array().cloned().unwrap_or_default();
                Grown::Text { bytes: 0, citations }
            }
            _ if block.is_string() => Grown::Text { bytes: 0, citations: Vec::new() },
            "tool_use" => {
                self.calls += 1;
                let call = MessagesCall::of(block);
                self.written += call.size();
                Grown::Call(call)
            }
            "thinking" => {
                let mut raw = block.clone();
                raw["thinking"] = "".into();
                Grown::Kept { raw, input: String::new() }
            }
            _ => Grown::Kept { raw: block.clone(), input: String::new() },
        });
        place
    }

    /// Adds a delta to a block. A block that was never started begins with it, if the delta shows its type.
    pub fn delta(&mut self, index: Option<u64>, delta: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let last = self.blocks.len().checked_sub(1);
        let known = index.map_or(last, |index| self.places.get(&index).copied());
        let kind = type_of(delta);
        let Some(place) = known.or_else(|| Some(self.begin(index, &begun_by(kind)?, seen))) else {
            return;
        };
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match (&mut self.blocks[place], kind) {
            (Grown::Text { .. }, "text_delta") => self.say(place, text("text"), seen),
            (Grown::Text { citations, .. }, "citations_delta") => {
                self.held += delta.to_string().len();
                citations.push(delta["citation"].clone());
            }
            (Grown::Call(MessagesCall { pieces, .. }), "input_json_delta")
            | (Grown::Kept { input: pieces, .. }, "input_json_delta") => {
                let piece = text("partial_json");
                self.written += piece.len();
                pieces.push_str(piece);
            }
            (Grown::Kept { .. }, "thinking_delta") => self.think(place, text("thinking"), seen),
            (Grown::Kept { raw, .. }, "signature_delta") => {
                self.held += text("signature").len();
                if raw.is_object() {
                    raw["signature"] = text("signature").into();
                }
            }
            (Grown::Kept { raw, .. }, _) => {
                self.held += delta.to_string().len();
                merge(raw, delta);
            }
            (Grown::Text { .. } | Grown::Call(_), _) => {}
        }
    }

    /// Ends text and reasoning: an incomplete character at their end becomes a replacement character.
    pub fn flush(&mut self, seen: &mut dyn FnMut(AnswerPiece)) {
        let text = std::mem::take(&mut self.open_text).end();
        if let Some(place) = self.speaker {
            self.add_text(place, text, seen);
        }
        let reasoning = std::mem::take(&mut self.open_reasoning).end();
        if let Some(place) = self.thinker {
            self.add_reasoning(place, reasoning, seen);
        }
    }

    /// Whether the arguments of every call are complete, or missing.
    pub fn are_calls_whole(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Grown::Call(call) => {
                let pieces = call.pieces.trim();
                pieces.is_empty() || serde_json::from_str::<Value>(pieces).is_ok()
            }
            Grown::Text { .. } | Grown::Kept { .. } => true,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub fn into_blocks(self) -> Vec<Grown> {
        self.blocks
    }

    fn say(&mut self, place: usize, text: &str, seen: &mut dyn FnMut(AnswerPiece)) {
        self.speaker = Some(place);
        let text = self.open_text.next(text);
        self.add_text(place, text, seen);
    }

    fn add_text(&mut self, place: usize, text: String, seen: &mut dyn FnMut(AnswerPiece)) {
        if text.is_empty() {
            return;
        }
        self.written += text.len();
        // Blocks usually come one after the other.
        let later: usize = self.blocks[place + 1..].iter().map(Grown::bytes).sum();
        let Some(Grown::Text { bytes, .. }) = self.blocks.get_mut(place) else { return };
        *bytes += text.len();
        self.text.insert_str(self.text.len() - later, &text);
        seen(AnswerPiece::Text(text));
    }

    fn think(&mut self, place: usize, text: &str, seen: &mut dyn FnMut(AnswerPiece)) {
        let is_other = self.thinker.is_some_and(|last| last != place);
        if is_other && !text.is_empty() && !self.reasoning.is_empty() {
            self.reasoning.push_str("\n\n");
            seen(AnswerPiece::Reasoning("\n\n".into()));
        }
        if !text.is_empty() {
            self.thinker = Some(place);
        }
        let text = self.open_reasoning.next(text);
        self.add_reasoning(place, text, seen);
    }

    fn add_reasoning(&mut self, place: usize, text: String, seen: &mut dyn FnMut(AnswerPiece)) {
        if text.is_empty() {
            return;
        }
        self.written += text.len();
        // The block holds the text too.
        self.held += text.len();
        if let Some(Grown::Kept { raw, .. }) = self.blocks.get_mut(place) {
            grow(raw, "thinking", &text);
        }
        self.reasoning.push_str(&text);
        seen(AnswerPiece::Reasoning(text));
    }
}

impl Grown {
    /// The length of the block's part of the text, in bytes.
    fn bytes(&self) -> usize {
        if let Grown::Text { bytes, .. } = self { *bytes } else { 0 }
    }
}

impl MessagesCall {
    fn of(block: &Value) -> Self {
        let text = |name: &str| block[name].as_str().map(|text| joined(text).into_owned());
        let known = |name: &str| matches!(name, "type" | "id" | "name" | "input");
        let beside = block.as_object().into_iter().flatten();
        let beside = beside.filter(|(name, value)| !known(name) && !value.is_null());
        Self {
            id: text("id").unwrap_or_default(),
            name: text("name").unwrap_or_default(),
            input: block["input"].clone(),
            pieces: String::new(),
            beside: beside.map(|(name, value)| (name.clone(), value.clone())).collect(),
        }
    }

    /// Bytes of the call that the model has written so far.
    fn size(&self) -> usize {
        self.name.len() + if self.has_input() { self.input.to_string().len() } else { 0 }
    }

    /// Whether the server sent the input at the start of the block.
    fn has_input(&self) -> bool {
        match &self.input {
            Value::Null => false,
            Value::Object(fields) => !fields.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => true,
        }
    }

    /// Whether there is nothing to call.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.pieces.trim().is_empty() && !self.has_input()
    }

    pub fn arguments(&self) -> Value {
        match &self.input {
            _ if !self.pieces.trim().is_empty() => arguments::read(&joined(&self.pieces)),
            Value::String(raw) => arguments::read(raw),
            Value::Null => Value::Object(Map::new()),
            input => input.clone(),
        }
    }
}

/// A block that was kept, with its input.
pub(super) fn completed(mut raw: Value, input: &str) -> Value {
    if let Some(fields) = raw.as_object_mut().filter(|_| !input.trim().is_empty()) {
        fields.insert("input".into(), arguments::read(&joined(input)));
    }
    raw
}

/// A block to which a delta of this type belongs.
fn begun_by(kind: &str) -> Option<Value> {
    match kind {
        "text_delta" | "citations_delta" => Some(json!({"type": "text", "text": ""})),
        "input_json_delta" => Some(json!({"type": "tool_use"})),
        "thinking_delta" | "signature_delta" => Some(json!({"type": "thinking", "thinking": ""})),
        _ => None,
    }
}

/// Adds a delta of an unknown type: texts grow, and everything else is replaced.
fn merge(raw: &mut Value, delta: &Value) {
    let fields = delta.as_object().into_iter().flatten();
    for (name, value) in fields.filter(|(name, value)| *name != "type" && !value.is_null()) {
        match value {
            Value::String(text) => grow(raw, name, text),
            value => {
                if let Some(fields) = raw.as_object_mut() {
                    fields.insert(name.clone(), value.clone());
                }
            }
        }
    }
}

/// Adds to a field that is a text.
fn grow(raw: &mut Value, name: &str, more: &str) {
    match raw.get_mut(name) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            if let Some(fields) = raw.as_object_mut() {
                fields.insert(name.to_owned(), more.into());
            }
        }
    }
}
