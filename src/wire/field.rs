//! Fields of what servers send, however their names are written.

use serde_json::Value;

/// A field of this name, in the spelling of this wire or with capitals instead of underscores.
pub fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    match value.get(name) {
        Some(value) if !value.is_null() => value,
        _ => {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_owned();
            let camel = words.fold(first, |camel, word| {
                let (begin, rest) = word.split_at(word.len().min(1));
                camel + &begin.to_ascii_uppercase() + rest
            });
            &value[camel]
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_may_have_capitals_instead_of_underscores() {
        let value = json!({"finishReason": "stop", "tool_calls": null, "toolCalls": 1});
        assert_eq!(field(&value, "finish_reason"), "stop");
        assert_eq!(field(&value, "tool_calls"), 1);
        assert_eq!(field(&value, "usage"), &Value::Null);
        assert_eq!(field(&json!({"a_b": 1, "aB": 2}), "a_b"), 1);
        assert_eq!(field(&json!("text"), "a_b"), &Value::Null);
    }
}
