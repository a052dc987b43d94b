//! JSON Schemas of arguments as servers write them: nearly right, or without an object at their root. Validators and
//! endpoints refuse such a schema whole, though one word of it is wrong.

use indexmap::IndexMap;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::schema_words::{LISTS, NAMED, change_inside};

/// The types of JSON Schema, and what other languages call them. An unknown type stands for any value.
const KINDS: [(&str, &[&str]); 7] = [
    ("string", &["str", "text", "date", "datetime", "uuid", "url"]),
    ("integer", &["int", "int32", "int64", "long"]),
    ("number", &["float", "double", "decimal"]),
    ("boolean", &["bool"]),
    ("object", &["dict", "map", "record"]),
    ("array", &["list", "tuple", "set"]),
    ("null", &["none", "nil"]),
];
/// The beginnings of keywords whose values are numbers.
const BOUNDS: [&str; 4] = ["min", "max", "exclusiveM", "multipleOf"];
const TEXTS: [&str; 5] = ["title", "description", "pattern", "format", "$ref"];
/// The most remarks about one schema.
const REMARKS: usize = 16;
/// The most parts of a root that are joined. References can make any number of a few.
const PARTS: usize = 256;

/// The schema with all words as JSON Schema has them, for a validator, and remarks about the words that were not.
pub fn mended(schema: &Value) -> (Value, Vec<String>) {
    let mut mender = Mender { root: schema, is_sent: false, remarks: Vec::new() };
    (mender.whole(), mender.remarks)
}

/// The schema as endpoints take it: an object with properties, and no choice at its root. `None` if no object fits.
pub fn sendable(schema: &Value) -> Option<Value> {
    let root = Mender { root: schema, is_sent: true, remarks: Vec::new() }.whole();
    let mut left = PARTS;
    let mut object = joined(&root, &root, &mut left)?;
    object.insert("type".into(), "object".into());
    let required = names(&object);
    let properties = object.entry("properties").or_insert_with(|| json!({})).as_object_mut()?;
    for name in required {
        properties.entry(name).or_insert_with(|| json!({}));
    }
    Some(object.into())
}

struct Mender<'a> {
    root: &'a Value,
    /// Whether a model reads the schema: endpoints are stricter than validators.
    is_sent: bool,
    remarks: Vec<String>,
}

impl Mender<'_> {
    fn whole(&mut self) -> Value {
        let mut schema = self.root.clone();
        self.schema(&mut schema, "");
        // The words are those of the newest draft now.
        if schema != *self.root
            && let Some(words) = schema.as_object_mut()
        {
            words.shift_remove("$schema");
        }
        schema
    }

    fn remark(&mut self, path: &str, what: &str) {
        if self.remarks.len() < REMARKS {
            let path = if path.is_empty() { "its root" } else { path };
            self.remarks.push(format!("{path} has {what}"));
        }
    }

    fn schema(&mut self, schema: &mut Value, path: &str) {
        let Some(words) = schema.as_object_mut() else {
            if !schema.is_boolean() {
                self.remark(path, "no schema");
                let kind = schema.as_str().and_then(kind);
                *schema = kind.map_or_else(|| json!({}), |kind| json!({"type": kind}));
            }
            return;
        };
        self.types(words, path);
        self.choices(words, path);
        self.required(words, path);
        self.others(words, path);
        for (word, value) in words {
            change_inside(word, value, |place, schema| {
                let parts = [path, word, place].into_iter().filter(|part| !part.is_empty());
                self.schema(schema, &parts.collect::<Vec<_>>().join("."));
            });
        }
    }

    fn types(&mut self, words: &mut Map<String, Value>, path: &str) {
        let Some(own) = words.get("type") else { return };
        let kinds: Option<Vec<&str>> = listed(own).iter().map(|it| kind(it.as_str()?)).collect();
        let is_list = kinds.as_ref().is_some_and(|kinds| kinds.contains(&"array"));
        let right = kinds.filter(|kinds| !kinds.is_empty()).map(|kinds| match kinds[..] {
            [one] if !own.is_array() => json!(one),
            _ => json!(kinds),
        });
        if right.as_ref() != Some(own) {
            let what = format!("the type {own}");
            self.remark(path, &what);
            put(words, "type", right);
        }
        if self.is_sent && is_list {
            words.entry("items").or_insert_with(|| json!({}));
        }
    }

    /// Mends an `enum` that has no value, or values of another type.
    fn choices(&mut self, words: &mut Map<String, Value>, path: &str) {
        let Some(own) = words.get("enum") else { return };
        let values = own.as_array().map_or(&[][..], Vec::as_slice);
        if values.is_empty() {
            self.remark(path, "an enum without values");
            return put(words, "enum", None);
        }
        let Some(types) = words.get("type") else { return };
        let types: Vec<&str> = listed(types).iter().filter_map(Value::as_str).collect();
        let fits = |value: &&Value| types.iter().any(|kind| is_of(value, kind));
        let mut right: Vec<Value> = values.iter().filter(fits).cloned().collect();
        if right.len() == values.len() {
            return;
        }
        let what = format!("the type {} and an enum of other values", types.join(" or "));
        let mut keeps_type = true;
        if right.is_empty() {
            let read = |value: &Value| types.iter().find_map(|kind| read_as(value, kind));
            right = values.iter().filter_map(read).collect();
            keeps_type = self.is_sent && !right.is_empty();
            if !keeps_type {
                right.extend_from_slice(values);
            }
        }
        self.remark(path, &what);
        put(words, "enum", Some(right.into()));
        if !keeps_type {
            put(words, "type", None);
        }
    }

    /// Mends `required`, which was a switch of each property in draft 3.
    fn required(&mut self, words: &mut Map<String, Value>, path: &str) {
        let mut required = names(words);
        let is_whole = |own: &Value| own.as_array().is_some_and(|own| own.len() == required.len());
        let mut is_right = words.get("required").is_none_or(is_whole);
        let properties = words.get_mut("properties").and_then(Value::as_object_mut);
        for (name, schema) in properties.into_iter().flatten() {
            let Some(schema) = schema.as_object_mut() else { continue };
            let Some(switch) = schema.get("required").filter(|it| !it.is_array()) else { continue };
            if (*switch == true || *switch == "true") && !required.contains(name) {
                required.push(name.clone());
            }
            put(schema, "required", None);
            is_right = false;
        }
        if !is_right {
            self.remark(path, "a wrong required");
            put(words, "required", some_names(required));
        }
    }

    /// Mends words of older drafts, and removes words whose values are none of theirs.
    fn others(&mut self, words: &mut Map<String, Value>, path: &str) {
        for (switch, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if words.get(switch) == Some(&Value::Bool(true)) {
                let bound = words.shift_remove(bound);
                put(words, switch, bound);
            }
        }
        if words.get("items").is_some_and(Value::is_array) {
            let items = words.shift_remove("items");
            put(words, "prefixItems", items);
        }
        let is_wrong = |word: &str, value: &Value| match word {
            word if NAMED.contains(&word) => !value.is_object(),
            word if LISTS.contains(&word) => value.as_array().is_none_or(Vec::is_empty),
            word if BOUNDS.iter().any(|bound| word.starts_with(bound)) => !value.is_number(),
            "$ref" if !path.is_empty() && is_lost(self.root, value) => true,
            word => TEXTS.contains(&word) && !value.is_string(),
        };
        let wrong = words.iter().filter(|(word, value)| is_wrong(word, value));
        for word in wrong.map(|(word, _)| word.clone()).collect::<Vec<_>>() {
            put(words, &word, None);
            self.remark(path, &format!("a wrong {word}"));
        }
    }
}

/// The items of a list, or a single value.
fn listed(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Sets a word, or removes it.
fn put(words: &mut Map<String, Value>, word: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(words.insert(word.to_owned(), value)),
        None => drop(words.shift_remove(word)),
    }
}

/// The type that a word means.
fn kind(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    let found = KINDS.iter().find(|(kind, others)| *kind == word || others.contains(&&*word));
    found.map(|(kind, _)| *kind)
}

fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            kind == "number" || kind == "integer" && is_whole
        }
    }
}

/// A value as one of this type: a text as what it says, or what a text would say of it.
fn read_as(value: &Value, kind: &str) -> Option<Value> {
    let read = match value {
        Value::String(text) => serde_json::from_str(text).ok()?,
        value => Value::String(value.to_string()),
    };
    is_of(&read, kind).then_some(read)
}

/// The different names that a schema requires.
fn names(words: &Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    let required = words.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn some_names(names: Vec<String>) -> Option<Value> {
    (!names.is_empty()).then(|| names.into())
}

/// The part of a schema that a reference names.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    root.pointer(&pointer)
}

/// Whether a reference names a place of its own schema that does not exist.
fn is_lost(root: &Value, reference: &Value) -> bool {
    let pointer = reference.as_str().filter(|it| it.starts_with("#/"));
    pointer.is_some_and(|it| target(root, it).is_none())
}

/// The words of a schema of objects, with those of its references and choices. `None` if no object fits. `left`: how
/// many more parts are read.
fn joined(schema: &Value, root: &Value, left: &mut usize) -> Option<Map<String, Value>> {
    *left = left.checked_sub(1)?;
    let Value::Object(words) = schema else { return (*schema == true).then(Map::new) };
    if words.get("type").is_some_and(|own| listed(own).iter().all(|kind| kind != "object")) {
        return None;
    }
    let mut all = words.clone();
    ["enum", "const", "not"].into_iter().for_each(|word| put(&mut all, word, None));
    if let Some(reference) = all.shift_remove("$ref") {
        let part = target(root, reference.as_str()?)?;
        join(&mut all, joined(part, root, left)?);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(parts)) = all.shift_remove(word) else { continue };
        let parts = parts.iter().map(|part| joined(part, root, left));
        if word == "allOf" {
            parts.collect::<Option<Vec<_>>>()?.into_iter().for_each(|part| join(&mut all, part));
        } else {
            join(&mut all, either(&parts.flatten().collect::<Vec<_>>())?);
        }
    }
    Some(all)
}

/// Adds the words of another schema that holds as well.
fn join(all: &mut Map<String, Value>, part: Map<String, Value>) {
    let mut required = names(all);
    required.extend(names(&part).into_iter().filter(|name| !names(all).contains(name)));
    for (word, value) in part {
        match (all.get_mut(&word), value) {
            (Some(Value::Object(own)), Value::Object(more)) => {
                for (name, value) in more {
                    own.entry(name).or_insert(value);
                }
            }
            (Some(_), _) => {}
            (None, value) => drop(all.insert(word, value)),
        }
    }
    put(all, "required", some_names(required));
}

/// The properties of several schemas, of which one holds. `None` without any.
fn either(parts: &[Map<String, Value>]) -> Option<Map<String, Value>> {
    let mut required = names(parts.first()?);
    required.retain(|name| parts.iter().all(|part| names(part).contains(name)));
    let mut choices: IndexMap<&String, Vec<&Value>> = IndexMap::new();
    for (name, schema) in
        parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten()
    {
        let choices = choices.entry(name).or_default();
        if !choices.contains(&schema) {
            choices.push(schema);
        }
    }
    let properties = choices.into_iter().map(|(name, choices)| match choices[..] {
        [one] => (name.clone(), one.clone()),
        _ => (name.clone(), json!({"anyOf": choices})),
    });
    let properties: Map<String, Value> = properties.collect();
    let words = [("properties", Some(properties.into())), ("required", some_names(required))];
    Some(words.into_iter().filter_map(|(word, value)| Some((word.to_owned(), value?))).collect())
}

#[cfg(test)]
mod tests;
