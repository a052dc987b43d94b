//! The arguments of calls, as texts of JSON.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::domain::lenient;

/// Arguments as JSON; the raw text if they are not valid JSON.
pub fn read(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(raw) {
        // Some models encode their object as a string.
        Ok(Value::String(inner)) => match serde_json::from_str::<Map<String, Value>>(&inner) {
            Ok(object) => Value::Object(object),
            Err(_) => Value::String(inner),
        },
        Ok(value) => value,
        Err(_) => {
            let whole = lenient::without_halves(raw);
            let whole = whole.and_then(|whole| serde_json::from_str(&whole).ok());
            whole.unwrap_or_else(|| Value::String(raw.to_owned()))
        }
    }
}

/// The text of an object.
pub fn written(arguments: &Value) -> String {
    object(arguments).to_string()
}

/// An object. Servers use past arguments when they fill the model's template, and fail on anything else.
pub fn object(arguments: &Value) -> Cow<'_, Value> {
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        Value::Null => Cow::Owned(Value::Object(Map::new())),
        Value::String(raw) => Cow::Owned(json!({"not_valid_json": raw})),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Cow::Owned(json!({"not_an_object": arguments}))
        }
    }
}
