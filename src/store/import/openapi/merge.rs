//! Merges schemas that must all hold into one: `allOf` written out.

use serde_json::{Map, Value, json};

/// Adds another schema, so that a value of the result fits both.
pub(super) fn merge(known: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        let Some(said) = known.get_mut(&key) else {
            known.insert(key, value);
            continue;
        };
        if *said == value {
            continue;
        }
        match key.as_str() {
            "properties" => merge_fields(said, value),
            "required" => extend(said, value),
            "items" => *said = both(said.take(), value),
            "type" => narrow_types(said, &value),
            "enum" => narrow_values(said, &value),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                bound(said, value, |said, other| other > said);
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                bound(said, value, |said, other| other < said);
            }
            "uniqueItems" => *said = json!(*said == true || value == true),
            // The texts of the first are kept; a closed part of `allOf` would refuse the fields of all others.
            "description" | "title" | "default" | "format" | "additionalProperties" => {}
            "allOf" => extend(said, value),
            _ => also(known, Map::from_iter([(key, value)])),
        }
    }
}

/// Adds a schema that must also hold and cannot be merged into the others.
pub(super) fn also(known: &mut Map<String, Value>, schema: Map<String, Value>) {
    match known.get_mut("allOf") {
        Some(Value::Array(all)) => all.push(schema.into()),
        _ => drop(known.insert("allOf".to_owned(), json!([schema]))),
    }
}

fn both(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            merge(&mut one, other);
            one.into()
        }
        (one, _) => one,
    }
}

fn merge_fields(said: &mut Value, more: Value) {
    let (Some(said), Value::Object(more)) = (said.as_object_mut(), more) else { return };
    for (name, field) in more {
        match said.get_mut(&name) {
            Some(known) => *known = both(known.take(), field),
            None => drop(said.insert(name, field)),
        }
    }
}

fn extend(said: &mut Value, more: Value) {
    if let (Value::Array(said), Value::Array(more)) = (said, more) {
        let new: Vec<Value> = more.into_iter().filter(|item| !said.contains(item)).collect();
        said.extend(new);
    }
}

fn listed(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}

/// Keeps the types that both allow, where an integer is also a number. If they contradict each other, the first stays.
fn narrow_types(said: &mut Value, other: &Value) {
    let (one, other) = (listed(said), listed(other));
    let mut types: Vec<Value> = Vec::new();
    for kind in one.iter().chain(&other) {
        let is_of = |kinds: &[Value]| {
            kinds.contains(kind)
                || (kind == "integer" && kinds.iter().any(|known| known == "number"))
        };
        if is_of(&one) && is_of(&other) && !types.contains(kind) {
            types.push(kind.clone());
        }
    }
    match types.as_slice() {
        [] => {}
        [kind] => *said = kind.clone(),
        _ => *said = types.into(),
    }
}

fn narrow_values(said: &mut Value, other: &Value) {
    let other = listed(other);
    let values: Vec<Value> =
        listed(said).into_iter().filter(|value| other.contains(value)).collect();
    if !values.is_empty() {
        *said = values.into();
    }
}

fn bound(said: &mut Value, other: Value, is_narrower: fn(f64, f64) -> bool) {
    if let (Some(one), Some(two)) = (said.as_f64(), other.as_f64())
        && is_narrower(one, two)
    {
        *said = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(parts: &[Value]) -> Value {
        let mut all = Map::new();
        parts.iter().for_each(|part| merge(&mut all, part.as_object().unwrap().clone()));
        all.into()
    }

    #[test]
    fn a_part_narrows_what_another_one_says() {
        let parts = [
            json!({ "properties": { "n": { "type": "integer", "minimum": 1 }, "m": {} }, "required": ["n"] }),
            json!({ "properties": { "n": { "maximum": 5, "minimum": 0 } }, "required": ["n", "m"] }),
            json!({ "properties": { "n": { "type": "number" }, "k": { "enum": ["a", "b"] } } }),
            json!({ "properties": { "k": { "enum": ["b", "c"] } } }),
        ];
        assert_eq!(
            merged(&parts),
            json!({
                "properties": {
                    "n": { "type": "integer", "minimum": 1, "maximum": 5 }, "m": {}, "k": { "enum": ["b"] },
                },
                "required": ["n", "m"],
            })
        );
        assert_eq!(
            merged(&[
                json!({ "pattern": "a" }),
                json!({ "pattern": "b" }),
                json!({ "pattern": "c" })
            ]),
            json!({ "pattern": "a", "allOf": [{ "pattern": "b" }, { "pattern": "c" }] })
        );
    }
}
