//! JSON Schemas of arguments and results: references are written out, cycles and depths are cut, and only what TOML
//! and a validator take is kept.

use std::cell::Cell;

use oas3::Map as Named;
use oas3::spec::Schema;
use serde_json::{Map, Value, json};

use super::reference;

/// Levels of a schema.
const DEEPEST: usize = 12;
/// Lines of the schema of an argument; more is not for models.
const LARGEST: usize = 1_000;
/// Keywords that are kept as they are, where their values are plain.
const KEPT: [&str; 15] = [
    "type",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "required",
];

/// Which way a value goes: properties that only come back are not sent, and the other way round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Sent,
    Returned,
}

/// The schemas of a document.
pub(super) struct Schemas<'d> {
    named: &'d Named<String, Schema>,
}

/// One schema that is being written out.
struct Work {
    way: Way,
    deepest: usize,
    /// Keywords that may still be written.
    left: Cell<usize>,
    is_cut: Cell<bool>,
    /// Whether each part is validated.
    validates: bool,
}

impl Work {
    /// A schema of `lines` lines has fewer keywords than that; what has more is never used.
    fn new(way: Way, deepest: usize, lines: usize, validates: bool) -> Self {
        Self { way, deepest, left: Cell::new(lines), is_cut: Cell::new(false), validates }
    }

    /// Takes room for keywords; false if there is none.
    fn takes(&self, keywords: usize) -> bool {
        let left = self.left.get().checked_sub(keywords);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A schema written out, and whether something was left out of it.
pub(super) struct Written {
    pub schema: Value,
    pub is_cut: bool,
}

impl<'d> Schemas<'d> {
    pub fn new(named: &'d Named<String, Schema>) -> Self {
        Self { named }
    }

    /// The schema without references. It is valid: a part that is not becomes one that allows everything.
    pub fn write(&self, schema: &Schema, way: Way) -> Written {
        self.write_in(schema, way, LARGEST)
    }

    /// The schema with as many levels as fit into this number of lines of JSON.
    pub fn write_in(&self, schema: &Schema, way: Way, lines: usize) -> Written {
        let raw = serde_json::to_value(schema).unwrap_or_default();
        let fits = |written: &Written| {
            serde_json::to_string_pretty(&written.schema)
                .is_ok_and(|text| text.lines().count() <= lines)
        };
        let mut best = Written { schema: json!({}), is_cut: true };
        let mut levels = 0;
        // A level more multiplies the size, so the few that fit are tried from the first.
        for deepest in 1..=DEEPEST {
            let written = self.write_to(&raw, Work::new(way, deepest, lines, false));
            if !fits(&written) {
                break;
            }
            (best, levels) = (written, deepest);
            if !best.is_cut {
                break;
            }
        }
        // Each part is looked at alone only where one of them is wrong: that takes long.
        if jsonschema::meta::is_valid(&best.schema) {
            return best;
        }
        self.write_to(&raw, Work::new(way, levels, lines, true))
    }

    fn write_to(&self, raw: &Value, work: Work) -> Written {
        let schema = self.part(raw, &work, &mut Vec::new(), 0);
        Written { schema, is_cut: work.is_cut.get() }
    }

    /// A schema within another one, at this depth. `within` are the names of the references around it.
    fn part(&self, raw: &Value, work: &Work, within: &mut Vec<String>, depth: usize) -> Value {
        let Some(fields) = raw.as_object() else { return json!({}) };
        if let Some(path) = fields.get("$ref").and_then(Value::as_str) {
            return self.referred(path, fields, work, within, depth);
        }
        if depth > work.deepest || !work.takes(fields.len()) {
            work.is_cut.set(true);
            return described(fields);
        }
        let written = self.keywords(fields, work, within, depth);
        match work.validates && !jsonschema::meta::is_valid(&written) {
            true => described(fields),
            false => written,
        }
    }

    fn referred(
        &self,
        path: &str,
        fields: &Map<String, Value>,
        work: &Work,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let name = reference::name(path, "schemas");
        let target = name.as_ref().and_then(|name| self.named.get(name));
        let (Some(name), Some(target)) = (name, target) else {
            work.is_cut.set(true);
            return described(fields);
        };
        if within.contains(&name) || depth > work.deepest || work.left.get() == 0 {
            work.is_cut.set(true);
            return json!({ "description": format!("{name}, as above") });
        }
        let target = serde_json::to_value(target).unwrap_or_default();
        within.push(name);
        let mut written = self.part(&target, work, within, depth + 1);
        within.pop();
        // What stands beside a reference is about this use of it.
        if let (Some(text), Some(object)) = (fields.get("description"), written.as_object_mut()) {
            object.insert("description".to_owned(), text.clone());
        }
        written
    }

    fn keywords(
        &self,
        fields: &Map<String, Value>,
        work: &Work,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let mut written = Map::new();
        for (key, value) in fields {
            let kept = match key.as_str() {
                "description" => value.as_str().map(|text| Value::from(text.trim())),
                "enum" => values(value),
                "default" | "const" => plain(value),
                "properties" => Some(self.properties(value, work, within, depth)),
                "items" | "additionalProperties" if value.is_object() => {
                    Some(self.part(value, work, within, depth + 1))
                }
                "additionalProperties" => Some(value.clone()),
                "oneOf" | "anyOf" | "prefixItems" => {
                    let parts = value.as_array().into_iter().flatten();
                    Some(parts.map(|part| self.part(part, work, within, depth + 1)).collect())
                }
                "pattern" => value.as_str().filter(|text| is_pattern(text)).map(Value::from),
                key if KEPT.contains(&key) => plain(value),
                _ => None,
            };
            if let Some(kept) = kept {
                written.insert(key.clone(), kept);
            }
        }
        let parts = fields.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for part in parts {
            let part = self.part(part, work, within, depth);
            merge(&mut written, part);
        }
        keep_declared(&mut written);
        Value::Object(written)
    }

    fn properties(
        &self,
        properties: &Value,
        work: &Work,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let other = match work.way {
            Way::Sent => "readOnly",
            Way::Returned => "writeOnly",
        };
        let all = properties.as_object().into_iter().flatten();
        let own = all.filter(|(_, property)| property.get(other) != Some(&Value::Bool(true)));
        own.map(|(name, property)| (name.clone(), self.part(property, work, within, depth + 1)))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// A schema that allows everything, with the description of another one.
fn described(fields: &Map<String, Value>) -> Value {
    match fields.get("description").and_then(Value::as_str) {
        Some(text) => json!({ "description": text.trim() }),
        None => json!({}),
    }
}

/// Adds what a part of `allOf` says: properties and required names of all parts together, else what is said first.
fn merge(written: &mut Map<String, Value>, part: Value) {
    let Value::Object(part) = part else { return };
    for (key, value) in part {
        match (written.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                for (name, property) in more {
                    known.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                known.extend(more);
            }
            (Some(_), _) => {}
            (None, value) => {
                written.insert(key, value);
            }
        }
    }
}

/// Leaves names out of `required` that are repeated, or whose properties are not sent.
fn keep_declared(written: &mut Map<String, Value>) {
    let declared: Option<Vec<String>> = written
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect());
    if let Some(Value::Array(required)) = written.get_mut("required") {
        let mut seen: Vec<Value> = Vec::new();
        required.retain(|name| {
            let is_declared = declared.as_ref().is_none_or(|declared| {
                declared.iter().any(|known| name.as_str() == Some(known.as_str()))
            });
            let is_new = is_declared && !seen.contains(name);
            if is_new {
                seen.push(name.clone());
            }
            is_new
        });
    }
}

/// Whether a validator takes this pattern; documents have them in the dialects of many languages.
fn is_pattern(text: &str) -> bool {
    jsonschema::validator_for(&json!({ "pattern": text })).is_ok()
}

/// Whether values of this schema may be lists or objects.
pub(super) fn has_parts(schema: &Value) -> bool {
    ["array", "object"].iter().any(|kind| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|known| known == kind),
        known => known == kind,
    })
}

/// The values of an `enum` but for null, which TOML does not have; `None` if nothing is left.
fn values(value: &Value) -> Option<Value> {
    let values: Vec<Value> = value.as_array()?.iter().filter_map(plain).collect();
    (!values.is_empty()).then_some(Value::Array(values))
}

/// A value as TOML has it: without nulls, and with integers of 64 bits.
pub(super) fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.is_u64() && number.as_i64().is_none() => {
            number.as_f64().map(Value::from)
        }
        Value::Array(items) => Some(items.iter().filter_map(plain).collect()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Some((name.clone(), plain(value)?));
            Some(Value::Object(fields.iter().filter_map(field).collect()))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.clone()),
    }
}
