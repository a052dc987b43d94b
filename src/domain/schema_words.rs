//! The places of schemas inside schemas.

use serde_json::Value;

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
pub(crate) const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
pub(crate) const NAMED: [&str; 5] =
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

/// Changes the schemas inside the value of a keyword. The first argument is the place below the keyword, if it has one.
pub fn change_inside(word: &str, value: &mut Value, mut change: impl FnMut(&str, &mut Value)) {
    match value {
        Value::Object(named) if NAMED.contains(&word) => {
            named.iter_mut().for_each(|(name, schema)| change(name, schema));
        }
        Value::Array(list) if LISTS.contains(&word) || word == "items" => {
            let places = list.iter_mut().enumerate();
            places.for_each(|(at, schema)| change(&at.to_string(), schema));
        }
        value if ONE.contains(&word) => change("", value),
        _ => {}
    }
}
