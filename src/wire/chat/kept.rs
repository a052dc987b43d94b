//! Fields in a reply that its endpoint wants back, assembled from the pieces of a stream.
//!
//! All unknown fields of a call are kept, since only an endpoint that needs a field adds it to calls. Of a message,
//! only the fields of thoughts are kept: endpoints add many others (`annotations`, `audio`, `refusal`, `padding`,
//! `provider_specific_fields`), need none of them, and some refuse their own field when it comes back.

use serde_json::{Map, Value};

use crate::domain::value_bytes;

/// Fields of a call that the protocol defines.
const OF_CALL: [&str; 4] = ["index", "id", "type", "function"];
/// Fields of a call's function that the protocol defines; some servers put the index here.
const OF_FUNCTION: [&str; 3] = ["index", "name", "arguments"];
/// Parts of the names of fields that belong to thoughts: `reasoning_content`, `thinking_blocks`, `thought_signature`.
const OF_THOUGHTS: [&str; 5] = ["reason", "think", "thought", "signature", "encrypted"];
/// Fields that name something. They arrive whole, and some servers repeat them with every piece.
const LABELS: [&str; 9] =
    ["type", "id", "format", "role", "name", "status", "model", "provider", "version"];
/// Parts of the names of fields that are written piece by piece, so that equal pieces may follow each other.
const WRITTEN: [&str; 6] = ["text", "content", "reason", "think", "thought", "summary"];

/// The fields so far.
#[derive(Debug, Default)]
pub(super) struct EndpointFields {
    fields: Map<String, Value>,
    bytes: usize,
}

impl EndpointFields {
    /// Adds the fields of a message, or of a piece of one.
    pub fn add_message(&mut self, part: &Value) {
        let fields = part.as_object().into_iter().flatten();
        for (name, value) in fields.filter(|(name, value)| is_of_thoughts(name, value)) {
            self.add(None, name, value);
        }
    }

    /// Adds the fields of a call, or of a piece of one.
    pub fn add_call(&mut self, delta: &Value) {
        let unknown = |known: &'static [&'static str]| {
            move |(name, value): &(&String, &Value)| {
                !known.contains(&name.as_str()) && !value.is_null()
            }
        };
        let fields = delta.as_object().into_iter().flatten();
        for (name, value) in fields.filter(unknown(&OF_CALL)) {
            self.add(None, name, value);
        }
        let fields = delta["function"].as_object().into_iter().flatten();
        for (name, value) in fields.filter(unknown(&OF_FUNCTION)) {
            self.add(Some("function"), name, value);
        }
    }

    fn add(&mut self, below: Option<&str>, name: &str, value: &Value) {
        self.bytes += name.len() + value_bytes(value);
        let fields = match below {
            None => &mut self.fields,
            Some(below) => {
                let below = self.fields.entry(below).or_insert_with(|| Map::new().into());
                let Some(fields) = below.as_object_mut() else { return };
                fields
            }
        };
        merge(fields.entry(name).or_insert(Value::Null), value, name);
    }

    /// The size of all fields so far, in bytes.
    pub fn size(&self) -> usize {
        self.bytes
    }

    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }
}

/// Whether a field of a message goes back. Empty ones do not: many servers send them with every reply.
pub(super) fn is_of_thoughts(name: &str, value: &Value) -> bool {
    let has_some = match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    has_some && (name == "extra_content" || has_part(name, &OF_THOUGHTS))
}

fn has_part(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}

/// Adds the next piece of a field of this name: texts grow, objects gain fields, lists gain items.
fn merge(into: &mut Value, more: &Value, name: &str) {
    match (&mut *into, more) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(more)) if LABELS.contains(&name) => {
            if !more.is_empty() {
                text.clone_from(more);
            }
        }
        (Value::String(text), Value::String(more)) => {
            // A signature comes whole, and may come again.
            let is_written = has_part(name, &WRITTEN) && !name.contains("signature");
            if is_written || text != more {
                text.push_str(more);
            }
        }
        (Value::Object(fields), Value::Object(more)) => {
            for (name, more) in more {
                merge(fields.entry(name).or_insert(Value::Null), more, name);
            }
        }
        (Value::Array(items), Value::Array(more)) => more.iter().for_each(|it| add(items, it)),
        (Value::Null, Value::Array(more)) => {
            let mut items = Vec::new();
            more.iter().for_each(|item| add(&mut items, item));
            *into = items.into();
        }
        (into, more) => *into = more.clone(),
    }
}

/// Adds an item of a list, or a piece of one: an item with the index of an earlier one continues that.
fn add(items: &mut Vec<Value>, item: &Value) {
    let known = match &item["index"] {
        Value::Null => items.last_mut().filter(|last| is_same(last, item) && is_open(last, item)),
        index => {
            items.iter_mut().rev().find(|known| known["index"] == *index && is_same(known, item))
        }
    };
    match known {
        Some(known) => merge(known, item, ""),
        None => items.push(item.clone()),
    }
}

/// Whether two pieces may belong to one item: an index can have a text and its encrypted form.
fn is_same(known: &Value, item: &Value) -> bool {
    let agree = |name: &str| {
        let (known, item) = (&known[name], &item[name]);
        known.is_null() || item.is_null() || known == item
    };
    known.is_object() && item.is_object() && agree("type") && agree("id")
}

/// Whether a piece without an index continues the last item: a text, until it is signed.
fn is_open(last: &Value, item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    let is_text = !kind.starts_with("redacted") && has_part(kind, &["text", "thinking"]);
    is_text && last["signature"].is_null()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(pieces: &[Value]) -> Value {
        let mut kept = EndpointFields::default();
        pieces.iter().for_each(|piece| kept.add_message(piece));
        kept.into_fields().into()
    }

    fn call(pieces: &[Value]) -> Value {
        let mut kept = EndpointFields::default();
        pieces.iter().for_each(|piece| kept.add_call(piece));
        kept.into_fields().into()
    }

    #[test]
    fn reasoning_grows_by_its_pieces_even_by_equal_ones() {
        let pieces = ["Ha", "ha", "ha", ""].map(|text| json!({"reasoning_content": text}));
        assert_eq!(message(&pieces), json!({"reasoning_content": "Hahaha"}));
    }

    #[test]
    fn only_thoughts_of_a_message_are_kept() {
        let whole = json!({"role": "assistant", "content": "Hi", "refusal": null, "tool_calls": [],
            "annotations": [{"type": "url"}], "audio": {"id": "a"}, "padding": "xx",
            "function_call": null, "provider_specific_fields": {"a": 1},
            "reasoning": "", "reasoning_details": [], "thinking": null});
        assert_eq!(message(&[whole]), json!({}));
        let google = json!({"google": {"thought_signature": "c2ln"}});
        let whole = json!({"content": "Hi", "extra_content": google, "reasoning": "Hm."});
        assert_eq!(message(&[whole]), json!({"extra_content": google, "reasoning": "Hm."}));
    }

    #[test]
    fn details_grow_by_their_index_and_type() {
        let text =
            |text: &str| json!({"type": "reasoning.text", "text": text, "format": "f", "index": 0});
        let signed =
            json!({"type": "reasoning.text", "signature": "c2ln", "format": "f", "index": 0});
        let locked = json!({"type": "reasoning.encrypted", "data": "x", "id": "r1", "index": 0});
        let other = json!({"type": "reasoning.summary", "summary": "s", "index": 1});
        let pieces = [text("I "), text("I "), text("am."), signed, locked.clone(), other.clone()];
        let pieces = pieces.map(|detail| json!({"reasoning_details": [detail]}));
        let first = json!({"type": "reasoning.text", "text": "I I am.", "format": "f", "index": 0,
            "signature": "c2ln"});
        assert_eq!(message(&pieces), json!({"reasoning_details": [first, locked, other]}));
    }

    #[test]
    fn blocks_without_an_index_go_on_until_they_are_signed() {
        let block = |text: &str| json!({"type": "thinking", "thinking": text});
        let end = json!({"type": "thinking", "thinking": "", "signature": "c2ln"});
        let pieces = [block("a"), block("b"), end, block("c")];
        let pieces = pieces.map(|block| json!({"thinking_blocks": [block]}));
        let first = json!({"type": "thinking", "thinking": "ab", "signature": "c2ln"});
        assert_eq!(message(&pieces), json!({"thinking_blocks": [first, block("c")]}));
    }

    #[test]
    fn a_call_keeps_what_is_unknown_in_its_place() {
        let extra = json!({"google": {"thought_signature": "c2ln"}});
        let pieces = [
            json!({"index": 0, "id": "c1", "type": "function", "extra_content": extra,
                "function": {"name": "weather", "arguments": "{", "thought_signature": "abc"}}),
            json!({"index": 0, "extra_content": extra, "more": null,
                "function": {"arguments": "}", "thought_signature": "abc"}}),
        ];
        let kept = json!({"extra_content": extra, "function": {"thought_signature": "abc"}});
        assert_eq!(call(&pieces), kept);
        assert_eq!(call(&[json!({"index": 0, "id": "c1", "function": {"name": "a"}})]), json!({}));
    }

    #[test]
    fn a_field_that_changes_its_form_is_the_last_one() {
        let pieces = [json!({"thinking": "a"}), json!({"thinking": {"text": "b"}})];
        assert_eq!(message(&pieces), json!({"thinking": {"text": "b"}}));
    }
}
