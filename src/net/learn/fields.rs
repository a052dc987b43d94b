//! The keys in the fields of a JSON object, such as the body of a request.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{from_str, value::RawValue};

use super::{addresses, ordinary};
use crate::client::names_a_key;
use crate::known::{add, is_random};

/// Fields with texts of people and models, or with schemas, whose names are no names of keys.
const TEXTS: &str = " messages input instructions system prompt contents content text function functions parameters \
                     input_schema output_schema json_schema schema properties arguments description examples \
                     input_examples response_format ";
/// The field by which endpoints find what they have in their cache.
const NO_KEY: &str = "prompt_cache_key";
/// Fields with headers for a server, which are keys unless they plainly are not.
const HEADERS: [&str; 2] = ["headers", "extra_headers"];
/// The most levels of fields that are searched.
const DEEPEST: usize = 16;

/// Hides the keys in a body. The messages at this range are not searched, nor are texts and schemas.
pub fn body(text: &[u8], messages: &Range<usize>) {
    let around = text.get(..messages.start).zip(text.get(messages.end..));
    let (before, after) = around.unwrap_or((text, &[]));
    learn(&String::from_utf8_lossy(&[before, after].concat()), true);
}

/// Hides the keys in a text that is an object or a list. `is_passing`: of each field only the newest values.
pub(super) fn learn(text: &str, is_passing: bool) {
    Field { name: "", outer: "", is_passing, depth: 0 }.read(text);
}

/// A field that is about to be read.
struct Field<'n> {
    name: &'n str,
    /// The nearest field around it whose name says that keys are in it.
    outer: &'n str,
    is_passing: bool,
    depth: usize,
}

impl Field<'_> {
    fn read(&self, json: &str) {
        match json.trim_start().as_bytes().first() {
            Some(b'"') => from_str(json).into_iter().for_each(|text: String| self.see(&text)),
            _ if self.depth == DEEPEST => {}
            Some(b'[') => {
                let items: Vec<&RawValue> = from_str(json).unwrap_or_default();
                let item = Field { depth: self.depth + 1, ..*self };
                items.into_iter().for_each(|value| item.read(value.get()));
            }
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = from_str(json).unwrap_or_default();
                let is_around = HEADERS.contains(&self.name) || names_a_key(self.name);
                let outer = if is_around { self.name } else { self.outer };
                let is_text = |name: &str| TEXTS.split(' ').any(|text| text == name);
                for (name, value) in fields.iter().filter(|(name, _)| !is_text(name)) {
                    Field { name, outer, depth: self.depth + 1, ..*self }.read(value.get());
                }
            }
            Some(_) | None => {}
        }
    }

    fn see(&self, text: &str) {
        let header = self.is_passing.then_some(self.name);
        let is_key = match HEADERS.contains(&self.outer) {
            true => !ordinary::is_ordinary(self.name, text),
            false if names_a_key(self.name) => self.name != NO_KEY,
            false => names_a_key(self.outer) && is_random(text),
        };
        // Templates of local models name tokens of theirs, such as `<|begin_of_text|>`.
        let is_text = text.split_whitespace().count() > 2 || text.starts_with('<');
        if is_key && !is_text {
            add(header, text);
        }
        addresses::learn(text, header);
    }
}
