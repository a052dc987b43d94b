//! An item of an answer while it grows: from pieces of its texts, from the events that end them, or all at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::kinds::{self, ClientCallKind};
use crate::pieces::{Joiner, joined};

/// The most parts that an item may have. No model writes that many, but a broken server may.
const MOST_PARTS: usize = 1024;

/// A text that grows, or a part of a content that is not a text.
#[derive(Debug, Default)]
pub(super) struct Growing {
    pub text: String,
    /// Parts of characters at its end.
    open: Joiner,
    pub is_refusal: bool,
    /// The part itself, if it is not a text.
    pub other: Option<Value>,
}

impl Growing {
    /// Adds a piece, and returns the text that is complete with it.
    fn add(&mut self, piece: &str) -> String {
        let more = self.open.next(piece);
        self.text.push_str(&more);
        more
    }

    /// Takes all of the text, and returns the part that had not come before. An empty text counts as missing: some
    /// servers leave out at the end what they have sent in pieces.
    fn set(&mut self, whole: &str) -> String {
        if whole.is_empty() {
            return String::new();
        }
        let whole = joined(whole).into_owned();
        let more = whole.strip_prefix(self.text.as_str()).unwrap_or_default().to_owned();
        (self.text, self.open) = (whole, Joiner::default());
        more
    }

    /// Takes the rest, which no piece completed.
    fn close(&mut self) {
        self.text.push_str(&std::mem::take(&mut self.open).end());
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// A text of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemSlot {
    Text(u64),
    Refusal(u64),
    /// The thoughts themselves, which some servers send.
    Thought(u64),
    /// The endpoint's summary of the thoughts.
    Summary(u64),
    Input(ClientCallKind),
}

impl ItemSlot {
    /// The type of the items that have such a text.
    pub fn kind(self) -> &'static str {
        match self {
            ItemSlot::Text(_) | ItemSlot::Refusal(_) => "message",
            ItemSlot::Thought(_) | ItemSlot::Summary(_) => "reasoning",
            ItemSlot::Input(call) => call.kind(),
        }
    }
}

/// Text or reasoning that an item adds for a person to see.
#[derive(Debug, PartialEq)]
pub(super) enum More {
    Text(String),
    Reasoning(String),
}

/// An item so far.
#[derive(Debug, Default)]
pub(super) struct ResponsesItem {
    /// The place of the item in the answer.
    pub order: u64,
    /// The index and the id by which events name it.
    pub index: Option<u64>,
    pub id: String,
    pub kind: String,
    /// Whether an event has described the item, rather than only brought a piece of it.
    pub is_begun: bool,
    /// The fields of the item; for messages and calls, those without the texts.
    pub fields: Map<String, Value>,
    /// The approximate size of its fields and its other parts, in bytes.
    pub weight: usize,
    /// The parts of its content.
    pub contents: BTreeMap<u64, Growing>,
    pub summary: BTreeMap<u64, Growing>,
    pub input: Growing,
}

impl ResponsesItem {
    /// The bytes that the model has written in it.
    pub fn size(&self) -> usize {
        let texts = self.contents.values().chain(self.summary.values()).chain([&self.input]);
        texts.map(|it| it.text.len()).sum()
    }

    /// Whether it has more parts than any real answer.
    pub fn is_too_large(&self) -> bool {
        self.contents.len().max(self.summary.len()) > MOST_PARTS
    }

    /// Whether its input is complete, or missing.
    pub fn is_whole(&self) -> bool {
        let input = self.input.text.trim();
        ClientCallKind::of(&self.kind) != Some(ClientCallKind::Function)
            || input.is_empty()
            || serde_json::from_str::<Map<String, Value>>(input).is_ok()
    }

    /// Adds a piece of a text.
    pub fn add(&mut self, slot: ItemSlot, piece: &str) -> Option<More> {
        self.grow(slot, |growing| growing.add(piece))
    }

    /// Takes all of a text.
    pub fn set(&mut self, slot: ItemSlot, whole: &str) -> Option<More> {
        self.grow(slot, |growing| growing.set(whole))
    }

    fn grow(&mut self, slot: ItemSlot, grow: impl FnOnce(&mut Growing) -> String) -> Option<More> {
        let growing = match slot {
            ItemSlot::Text(at) | ItemSlot::Refusal(at) | ItemSlot::Thought(at) => {
                self.contents.entry(at).or_default()
            }
            ItemSlot::Summary(at) => self.summary.entry(at).or_default(),
            ItemSlot::Input(_) => &mut self.input,
        };
        let is_first = growing.is_empty();
        growing.is_refusal |= matches!(slot, ItemSlot::Refusal(_));
        let more = grow(growing);
        if more.is_empty() {
            return None;
        }
        match slot {
            ItemSlot::Text(_) => Some(More::Text(more)),
            ItemSlot::Refusal(_) | ItemSlot::Input(_) => None,
            // A person needs to read only one of the two.
            ItemSlot::Thought(_) if has_some(&self.summary) => None,
            ItemSlot::Thought(at) => Some(thought(more, is_first, &self.contents, at)),
            ItemSlot::Summary(at) => Some(thought(more, is_first, &self.summary, at)),
        }
    }

    /// Takes the whole item, or the fields known at its beginning.
    pub fn take(&mut self, item: &Value, seen: &mut dyn FnMut(More)) {
        let Some(fields) = item.as_object() else { return };
        let text = |name: &str| item[name].as_str().filter(|text| !text.is_empty());
        if let Some(kind) = text("type") {
            self.kind = kind.to_owned();
        }
        if let Some(id) = text("id") {
            self.id = id.to_owned();
        }
        let mut fields = fields.clone();
        match (self.kind.as_str(), ClientCallKind::of_value(&self.kind, &fields)) {
            ("message", _) => {
                fields.shift_remove("content");
                self.parts("content", &item["content"], seen);
            }
            (_, Some(call)) => {
                let input = fields.shift_remove(call.input(|name| fields.contains_key(name)));
                let input = input.unwrap_or_default();
                let whole = match call.takes_object() && input.is_object() {
                    true => input.to_string().into(),
                    false => text_of(&input),
                };
                self.set(ItemSlot::Input(call), &whole);
                // Some servers name a call only where it begins.
                for (name, value) in std::mem::take(&mut self.fields) {
                    fields.entry(name).or_insert(value);
                }
            }
            ("reasoning", _) => {
                self.parts("summary", &item["summary"], seen);
                self.parts("content", &item["content"], seen);
            }
            _ => {}
        }
        let others = self.contents.values().filter_map(|it| it.other.as_ref()).map(weight);
        let named = fields.iter().map(|(name, value)| name.len() + weight(value));
        self.weight = named.chain(others).sum();
        self.fields = fields;
    }

    fn parts(&mut self, list: &str, parts: &Value, seen: &mut dyn FnMut(More)) {
        match parts {
            Value::Array(parts) => {
                // The whole list decides, unless it is empty.
                let texts = if list == "summary" { &mut self.summary } else { &mut self.contents };
                if !parts.is_empty() {
                    texts.split_off(&(parts.len() as u64));
                }
                for (at, part) in parts.iter().enumerate() {
                    self.part(list, at as u64, part).into_iter().for_each(&mut *seen);
                }
            }
            Value::String(_) => self.part(list, 0, parts).into_iter().for_each(seen),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    /// Takes a part of a content or of a summary.
    pub fn part(&mut self, list: &str, at: u64, part: &Value) -> Option<More> {
        let field = kinds::text_field(part["type"].as_str().unwrap_or("text"));
        let text = match (part, field) {
            (Value::String(text), _) => Some(text.as_str()),
            (part, Some(field)) => part[field].as_str(),
            (_, None) => None,
        };
        let slot = match (self.kind.as_str(), list) {
            (_, "summary") => ItemSlot::Summary(at),
            ("reasoning", _) => ItemSlot::Thought(at),
            _ if field == Some("refusal") => ItemSlot::Refusal(at),
            _ => ItemSlot::Text(at),
        };
        match text {
            Some(text) => self.set(slot, text),
            None => {
                self.contents.entry(at).or_default().other = Some(part.clone());
                self.weight += weight(part);
                None
            }
        }
    }

    /// Ends the item: no piece follows.
    pub fn close(&mut self) {
        let texts = self.contents.values_mut().chain(self.summary.values_mut());
        texts.chain([&mut self.input]).for_each(Growing::close);
    }

    /// The item as its endpoint sent it; assembled from pieces if it did not come whole.
    pub fn into_raw(self) -> Value {
        let mut raw = self.fields;
        if self.kind == "reasoning" {
            let texts = |kind: &str, texts: BTreeMap<u64, Growing>| -> Vec<Value> {
                let text = |it: Growing| json!({"type": kind, "text": it.text});
                texts.into_values().map(text).collect()
            };
            raw.entry("type").or_insert_with(|| "reasoning".into());
            let lacks = |raw: &Map<String, Value>, name: &str| {
                raw.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty)
            };
            if lacks(&raw, "summary") {
                raw.insert("summary".into(), texts("summary_text", self.summary).into());
            }
            if lacks(&raw, "content") && has_some(&self.contents) {
                raw.insert("content".into(), texts("reasoning_text", self.contents).into());
            }
        }
        raw.into()
    }
}

fn has_some(texts: &BTreeMap<u64, Growing>) -> bool {
    texts.values().any(|growing| !growing.is_empty())
}

/// More of a thought. A part after another one is a paragraph of its own.
fn thought(more: String, is_first: bool, texts: &BTreeMap<u64, Growing>, at: u64) -> More {
    let follows = is_first && texts.range(..at).any(|(_, before)| !before.is_empty());
    More::Reasoning(if follows { format!("\n\n{more}") } else { more })
}

/// A text, even if a server sends another kind of value.
pub(super) fn text_of(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null => "".into(),
        Value::Object(fields) if fields.get("text").is_some_and(Value::is_string) => {
            text_of(&value["text"]).into_owned().into()
        }
        whole => whole.to_string().into(),
    }
}

/// The approximate size of a value, in bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 8,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>() + 8
        }
    }
}
