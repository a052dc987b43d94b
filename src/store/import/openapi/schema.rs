//! JSON Schemas of arguments and results: references are written out, cycles and depths are cut, older versions are
//! converted to OpenAPI 3.1, and only content that TOML and a validator accept is kept.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::literal_texts::as_texts;
use super::merge::{also, merge};
use super::reference::{Root, reference_of};

/// The most levels of a schema.
const DEEPEST: usize = 12;
/// The most lines of the schema of an argument; a longer one does not suit models.
const LARGEST: usize = 1_000;
/// Keywords that are kept as they are, where their values are plain.
const KEPT: [&str; 18] = [
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
    "minContains",
    "maxContains",
    "required",
    "dependentRequired",
];

/// The direction of a value. Properties that only come back are not sent, and vice versa.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueDirection {
    /// In a path, a query, a header or a cookie, where null is nothing.
    Sent,
    /// In a body.
    Body,
    Returned,
}

/// The schemas of a document.
pub(super) struct Schemas<'d> {
    root: Root<'d>,
    /// Whether fields beside a reference are ignored, as before version 3.1.
    is_old: bool,
}

/// The state of a schema's expansion.
struct SchemaExpansion {
    way: ValueDirection,
    deepest: usize,
    /// Keywords that may still be written.
    left: Cell<usize>,
    is_cut: Cell<bool>,
    /// Whether each part is validated.
    validates: bool,
    is_wrong: Cell<bool>,
    /// Names of properties that go only the other way.
    removed: RefCell<HashSet<String>>,
}

impl SchemaExpansion {
    /// A schema of `lines` lines has fewer keywords than lines; a larger schema is never used.
    fn new(way: ValueDirection, deepest: usize, lines: usize, validates: bool) -> Self {
        let (is_cut, is_wrong) = (Cell::new(false), Cell::new(false));
        let (left, removed) = (Cell::new(lines), RefCell::default());
        Self { way, deepest, left, is_cut, validates, is_wrong, removed }
    }

    /// Takes room for keywords; false if there is none.
    fn takes(&self, keywords: usize) -> bool {
        let left = self.left.get().checked_sub(keywords);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Runs `write`. Returns its result, and whether the schema was cut meanwhile.
    fn cutting<T>(&self, write: impl FnOnce() -> T) -> (T, bool) {
        let before = self.is_cut.replace(false);
        let written = write();
        let is_cut = self.is_cut.get();
        self.is_cut.set(before || is_cut);
        (written, is_cut)
    }
}

/// A schema written out.
pub(super) struct ExpandedSchema {
    pub schema: Value,
    /// Whether parts are left out, since they are too deep or too large.
    pub is_cut: bool,
    /// Whether parts are left out, since they are not valid JSON Schema.
    pub is_wrong: bool,
}

impl<'d> Schemas<'d> {
    pub fn new(root: Root<'d>) -> Self {
        let is_old = root.value["openapi"].as_str().is_some_and(|it| it.starts_with("3.0"))
            || root.value["openapi"].as_f64() == Some(3.0);
        Self { root, is_old }
    }

    /// The schema without references. It is valid: invalid keywords are left out.
    pub fn write(&self, schema: &Value, way: ValueDirection) -> ExpandedSchema {
        self.write_in(schema, way, LARGEST)
    }

    /// The schema with as many levels as fit into this number of lines of JSON.
    pub fn write_in(&self, schema: &Value, way: ValueDirection, lines: usize) -> ExpandedSchema {
        let fits = |written: &ExpandedSchema| {
            serde_json::to_string_pretty(&written.schema)
                .is_ok_and(|text| text.lines().count() <= lines)
        };
        let mut best = ExpandedSchema { schema: json!({}), is_cut: true, is_wrong: false };
        let mut levels = 0;
        // Each level multiplies the size, so few levels fit; they are tried from the first.
        for deepest in 1..=DEEPEST {
            let written = self.write_to(schema, SchemaExpansion::new(way, deepest, lines, false));
            if !fits(&written) {
                break;
            }
            (best, levels) = (written, deepest);
            if !best.is_cut {
                break;
            }
        }
        // Each part is validated alone only if one of them is wrong, since that takes long.
        if jsonschema::meta::is_valid(&best.schema) {
            return best;
        }
        self.write_to(schema, SchemaExpansion::new(way, levels, lines, true))
    }

    fn write_to(&self, raw: &Value, work: SchemaExpansion) -> ExpandedSchema {
        let mut schema = self.part(raw, &work, &mut Vec::new(), 0);
        finish(&mut schema, &work.removed.borrow());
        ExpandedSchema { schema, is_cut: work.is_cut.get(), is_wrong: work.is_wrong.get() }
    }

    /// A schema within another one, at this depth. `within` are the references around it.
    fn part(
        &self,
        raw: &Value,
        work: &SchemaExpansion,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let Some(fields) = raw.as_object() else {
            return if *raw == false { json!({ "not": {} }) } else { json!({}) };
        };
        if let Some(path) = reference_of(raw) {
            return self.referred(path, fields, work, within, depth);
        }
        if depth > work.deepest || !work.takes(fields.len()) {
            work.is_cut.set(true);
            return described(fields);
        }
        let mut written = self.keywords(fields, work, within, depth);
        if work.validates && !is_valid(&written) {
            work.is_wrong.set(true);
            written.retain(|key, value| is_valid(&Map::from_iter([(key.clone(), value.clone())])));
        }
        written.into()
    }

    fn referred(
        &self,
        path: &str,
        fields: &Map<String, Value>,
        work: &SchemaExpansion,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let Ok(target) = self.root.at(path) else {
            work.is_cut.set(true);
            return described(fields);
        };
        if within.iter().any(|known| known == path) || depth > work.deepest || work.left.get() == 0
        {
            work.is_cut.set(true);
            let name = path.rsplit('/').next().unwrap_or(path);
            return json!({ "description": format!("{name}, as above") });
        }
        within.push(path.to_owned());
        let mut written = self.part(target, work, within, depth + 1);
        within.pop();
        let Some(object) = written.as_object_mut() else { return written };
        if !self.is_old && fields.len() > 1 {
            let own = fields.iter().filter(|(key, _)| *key != "$ref");
            let own = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            let beside = self.keywords(&own, work, within, depth);
            merge(object, beside);
        }
        // A description beside a reference is about this use of it.
        if let Some(text) = fields.get("description").and_then(Value::as_str) {
            object.insert("description".to_owned(), text.into());
        }
        written
    }

    fn keywords(
        &self,
        fields: &Map<String, Value>,
        work: &SchemaExpansion,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut written = Map::new();
        for (key, value) in fields {
            if let Some(kept) = self.keyword(key, value, work, within, depth) {
                written.insert(key.clone(), kept);
            }
        }
        modernise(fields, &mut written);
        if work.way != ValueDirection::Returned {
            open_alternatives(&mut written);
        }
        let parts = fields.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for part in parts {
            if let Value::Object(part) = self.part(part, work, within, depth) {
                merge(&mut written, part);
            }
        }
        let is_nullable = ["nullable", "x-nullable"]
            .iter()
            .any(|key| fields.get(*key) == Some(&Value::Bool(true)));
        if is_nullable && let Some(kind @ Value::String(_)) = written.get_mut("type") {
            *kind = json!([kind.take(), "null"]);
        }
        as_texts(&mut written);
        let has_null =
            |value: &Value| value.as_array().is_some_and(|all| all.contains(&Value::Null));
        if work.way == ValueDirection::Body && fields.get("enum").is_some_and(has_null) {
            allow_null(&mut written);
        }
        written
    }

    fn keyword(
        &self,
        key: &str,
        value: &Value,
        work: &SchemaExpansion,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Option<Value> {
        let list = value.as_array();
        match key {
            "description" => value.as_str().map(|text| Value::from(text.trim())),
            "enum" => values(value),
            "default" | "const" => plain(value),
            "properties" => Some(self.properties(value, work, within, depth)),
            "patternProperties" | "dependentSchemas" => {
                let all = value.as_object()?.iter();
                let all = all.filter(|(name, _)| key != "patternProperties" || is_pattern(name));
                Some(
                    all.map(|(name, part)| {
                        (name.clone(), self.part(part, work, within, depth + 1))
                    })
                    .collect::<Map<_, _>>()
                    .into(),
                )
            }
            "items" if list.is_some() => None,
            "items" | "additionalProperties" | "propertyNames" | "contains" => match value {
                Value::Bool(_) => Some(value.clone()),
                _ => Some(self.part(value, work, within, depth + 1)),
            },
            // A cut part allows anything: it would fit besides other parts of `oneOf`, or let nothing pass under `not`.
            "oneOf" | "not" | "if" | "then" | "else" => {
                let (part, is_cut) = work.cutting(|| match list {
                    Some(parts) => {
                        parts.iter().map(|part| self.part(part, work, within, depth + 1)).collect()
                    }
                    None => self.part(value, work, within, depth + 1),
                });
                (!is_cut).then_some(part)
            }
            "anyOf" | "prefixItems" => {
                Some(list?.iter().map(|part| self.part(part, work, within, depth + 1)).collect())
            }
            "pattern" => value.as_str().filter(|text| is_pattern(text)).map(Value::from),
            key if KEPT.contains(&key) => plain(value),
            _ => None,
        }
    }

    fn properties(
        &self,
        properties: &Value,
        work: &SchemaExpansion,
        within: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let other = match work.way {
            ValueDirection::Sent | ValueDirection::Body => "readOnly",
            ValueDirection::Returned => "writeOnly",
        };
        let is_other = |property: &Value| {
            let target = self.root.follow(property).unwrap_or(property);
            [property, target].iter().any(|it| it.get(other) == Some(&Value::Bool(true)))
        };
        // Bundlers refer to the properties of another schema as a whole.
        let properties = self.root.follow(properties).unwrap_or(properties);
        let mut written = Map::new();
        for (name, property) in properties.as_object().into_iter().flatten() {
            match is_other(property) {
                true => drop(work.removed.borrow_mut().insert(name.clone())),
                false => {
                    let part = self.part(property, work, within, depth + 1);
                    written.insert(name.clone(), part);
                }
            }
        }
        written.into()
    }
}

/// Converts keywords that OpenAPI 3.0 and Swagger write as flags.
fn modernise(fields: &Map<String, Value>, written: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(Value::Bool(is_exclusive)) = fields.get(exclusive) {
            written.shift_remove(exclusive);
            if *is_exclusive && let Some(value) = written.shift_remove(bound) {
                written.insert(exclusive.to_owned(), value);
            }
        }
    }
    // In a schema `required` is a list; if it is a flag, the author mistook a schema for a parameter.
    if fields.get("required").is_some_and(|required| !required.is_array()) {
        written.shift_remove("required");
    }
    if fields.get("const") == Some(&Value::Null) {
        written.insert("type".to_owned(), "null".into());
    }
}

/// Turns `oneOf` into `anyOf` where one object may fit several of its parts, since `oneOf` would refuse that object.
fn open_alternatives(written: &mut Map<String, Value>) {
    let is_open = |part: &&Value| {
        part["type"] == "object"
            && part.get("required").is_none()
            && part["additionalProperties"] != false
    };
    let parts = written.get("oneOf").and_then(Value::as_array);
    let open = parts.map_or(0, |parts| parts.iter().filter(is_open).count());
    if open > 1
        && !written.contains_key("anyOf")
        && let Some(parts) = written.shift_remove("oneOf")
    {
        written.insert("anyOf".to_owned(), parts);
    }
}

/// Lets null be one of the values of an `enum`, which TOML cannot write.
fn allow_null(written: &mut Map<String, Value>) {
    let Some(values) = written.shift_remove("enum") else {
        written.insert("type".to_owned(), "null".into());
        return;
    };
    written.shift_remove("type");
    let either = json!([{ "enum": values }, { "type": "null" }]);
    match written.contains_key("anyOf") {
        true => also(written, Map::from_iter([("anyOf".to_owned(), either)])),
        false => drop(written.insert("anyOf".to_owned(), either)),
    }
}

/// A schema that allows everything, with the description of another one.
fn described(fields: &Map<String, Value>) -> Value {
    match fields.get("description").and_then(Value::as_str) {
        Some(text) => json!({ "description": text.trim() }),
        None => json!({}),
    }
}

/// Leaves names out of `required` that are repeated, or whose properties go only the other way.
fn finish(schema: &mut Value, removed: &HashSet<String>) {
    match schema {
        Value::Object(fields) => {
            let declared: Option<Vec<String>> = fields
                .get("properties")
                .and_then(Value::as_object)
                .map(|properties| properties.keys().cloned().collect());
            if let Some(Value::Array(required)) = fields.get_mut("required") {
                let mut seen: Vec<Value> = Vec::new();
                required.retain(|name| {
                    let text = name.as_str().unwrap_or_default();
                    let is_declared =
                        declared.as_ref().is_none_or(|all| all.iter().any(|known| known == text));
                    let is_kept = (is_declared || !removed.contains(text)) && !seen.contains(name);
                    if is_kept {
                        seen.push(name.clone());
                    }
                    is_kept
                });
            }
            fields.values_mut().for_each(|field| finish(field, removed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| finish(item, removed)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_valid(schema: &Map<String, Value>) -> bool {
    jsonschema::meta::is_valid(&Value::Object(schema.clone()))
}

/// Whether a validator takes this pattern; documents have them in the dialects of many languages.
fn is_pattern(text: &str) -> bool {
    jsonschema::validator_for(&json!({ "pattern": text })).is_ok()
}

/// The values of an `enum` except null, which TOML does not have; `None` if nothing is left.
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
