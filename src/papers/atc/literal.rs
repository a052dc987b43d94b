//! JSON values as Python writes them.

use serde_json::Value;

/// A JSON value as Python writes it.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        // Each escape of a JSON text is also one of Python.
        Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
