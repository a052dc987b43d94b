//! Keywords of JSON Schema, and the places of schemas inside schemas.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keywords whose value is a schema, a list of schemas, or an object of schemas.
const ONE: [&str; 11] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED: [&str; 5] =
    ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
/// The schemas inside the value of a keyword.
pub fn inside<'v>(word: &str, value: &'v Value) -> Box<dyn Iterator<Item = &'v Value> + 'v> {
    match value {
        Value::Object(named) if NAMED.contains(&word) => Box::new(named.values()),
        Value::Array(list) if LISTS.contains(&word) || word == "items" => Box::new(list.iter()),
        value if ONE.contains(&word) => Box::new(std::iter::once(value)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Removes these keywords from the parameters of all tools.
pub fn leave_out(body: &mut Map<String, Value>, words: &BTreeSet<String>) {
    if words.is_empty() {
        return;
    }
    let tools = body.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten() {
        let places = ["/function/parameters", "/parameters", "/input_schema"];
        let schema = places.into_iter().find(|place| tool.pointer(place).is_some());
        if let Some(schema) = schema.and_then(|place| tool.pointer_mut(place)) {
            strip(schema, words);
        }
    }
}

fn strip(schema: &mut Value, words: &BTreeSet<String>) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.retain(|word, _| !words.contains(word));
    for (word, value) in schema {
        match value {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                named.values_mut().for_each(|schema| strip(schema, words));
            }
            Value::Array(list) if LISTS.contains(&word.as_str()) || word == "items" => {
                list.iter_mut().for_each(|schema| strip(schema, words));
            }
            value if ONE.contains(&word.as_str()) => strip(value, words),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_left_out_wherever_they_are_words() {
        let schema = json!({"$schema": "s", "properties": {"const": {"const": 1}, "not": {"format": "date"},
            "all": {"type": "array", "items": {"oneOf": [{"exclusiveMinimum": 0}, {"enum": ["if"]}]}}}});
        let tools = [
            json!({"function": {"parameters": schema}}),
            json!({"parameters": schema}),
            json!({"input_schema": schema}),
        ];
        let mut body = json!({"tools": tools});
        let words = ["const", "not", "exclusiveMinimum", "$schema"].map(str::to_owned);
        leave_out(body.as_object_mut().unwrap(), &words.into());
        let expected = json!({"properties": {"const": {}, "not": {"format": "date"},
            "all": {"type": "array", "items": {"oneOf": [{}, {"enum": ["if"]}]}}}});
        for place in
            ["/tools/0/function/parameters", "/tools/1/parameters", "/tools/2/input_schema"]
        {
            assert_eq!(body.pointer(place), Some(&expected), "{place}");
        }
    }
}
