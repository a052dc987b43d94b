//! Equality and similarity of arguments.

use serde_json::Value;

use crate::domain::{chance::canonical, words::clipped};

/// Canonical text in which whole numbers look the same regardless of their notation.
pub fn key(arguments: &Value) -> String {
    fn whole(value: &Value) -> Value {
        match value {
            Value::Number(number) => match number.as_f64() {
                // Above 2^53 a float cannot distinguish whole numbers.
                Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                    Value::from(float as i64)
                }
                Some(_) | None => value.clone(),
            },
            Value::Array(items) => items.iter().map(whole).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.clone(), whole(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }
    canonical(&whole(arguments))
}

/// The similarity of two arguments: the share of fields that agree, with partial credit for texts.
pub fn likeness(asked: &Value, recorded: &Value) -> f64 {
    match (asked, recorded) {
        (Value::Object(asked), Value::Object(recorded)) => {
            let shared: f64 = asked
                .iter()
                .filter_map(|(key, value)| Some(likeness(value, recorded.get(key)?)))
                .sum();
            shared / asked.len().max(recorded.len()).max(1) as f64
        }
        (Value::String(asked), Value::String(recorded)) => {
            // The time is quadratic in the length, so only the beginnings are compared.
            strsim::normalized_levenshtein(&clipped(asked, 60), &clipped(recorded, 60))
        }
        _ => f64::from(u8::from(key(asked) == key(recorded))),
    }
}

/// The first field, in the order of the call, in which the two differ.
pub fn difference(path: &str, asked: &Value, recorded: &Value) -> Option<String> {
    if key(asked) == key(recorded) {
        return None;
    }
    if let (Value::Object(asked), Value::Object(recorded)) = (asked, recorded) {
        for (name, value) in asked {
            let path = format!("{path}.{name}");
            let Some(other) = recorded.get(name) else {
                return Some(format!("{path} is not recorded"));
            };
            if let Some(found) = difference(&path, value, other) {
                return Some(found);
            }
        }
        let missing = recorded.keys().find(|name| !asked.contains_key(name.as_str()))?;
        return Some(format!("{path}.{missing} is missing"));
    }
    let [asked, recorded] = [asked, recorded].map(|value| clipped(&value.to_string(), 80));
    Some(format!("{path}: asked {asked}, recorded {recorded}"))
}
