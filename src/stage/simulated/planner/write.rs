//! The planner's notation of calls.

use serde_json::{Map, Value, json};

use super::super::blank::plain;
use super::super::guess::fitting;
use crate::domain::arguments;

/// The text of a planner that overlooks that it needs a result.
pub(super) fn made_up(name: &str, value: &Value, task: &str) -> Value {
    let schema = match value {
        Value::Number(_) => json!({"type": "number"}),
        Value::Array(_) => json!({"type": "array", "items": {"type": "number"}}),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => Value::Null,
    };
    fitting(name, &schema, task)
}

/// The notation of a call's arguments: bare if a tool takes one text and the notation is unambiguous, else JSON.
pub(super) fn input(arguments: &Value, schema: &Value) -> String {
    let empty = Map::new();
    let mut texts = arguments.as_object().unwrap_or(&empty).values().map(plain);
    if let (Some(text), None) = (texts.next(), texts.next()) {
        let is_plain = |c: char| c.is_alphanumeric() || " ,.:;+-*/^%()?!&#".contains(c);
        if text.chars().all(is_plain) && arguments::read(&text, schema) == *arguments {
            return text;
        }
    }
    arguments.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_bare_where_that_can_be_read_back() {
        let one = json!({"properties": {"query": {}}, "required": ["query"]});
        let two = json!({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]});
        for (arguments, schema, right) in [
            (json!({"query": "height of Hrimtind"}), &one, "height of Hrimtind"),
            (json!({"query": "#E3"}), &one, "#E3"),
            (json!({"query": "list[0] of it"}), &one, r#"{"query":"list[0] of it"}"#),
            (json!({"query": 7}), &one, r#"{"query":7}"#),
            (json!({"query": "query: x"}), &one, r#"{"query":"query: x"}"#),
            (json!({"a": 1, "b": "#E2"}), &two, r##"{"a":1,"b":"#E2"}"##),
            (json!({}), &one, "{}"),
        ] {
            assert_eq!(input(&arguments, schema), right, "{arguments}");
        }
    }
}
