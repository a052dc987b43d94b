//! A JSON Schema in one short line, like a function signature: a menu of thirty whole schemas would
//! cost more tokens than everything else in the prompt.

use serde_json::Value;

use crate::domain::arguments::required;

/// Deepest nesting that is written out; below it appears only `object` or `array`.
const DEPTH: usize = 3;

/// `{"city": string (where), "days"?: integer, "unit": "C" | "F"}`. A question mark: optional.
pub(super) fn signature(schema: &Value) -> String {
    kind(schema, DEPTH)
}

fn kind(schema: &Value, depth: usize) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return join(values.iter().map(Value::to_string), " | ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(word).and_then(Value::as_array) {
            return join(choices.iter().map(|choice| kind(choice, depth)), " | ");
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => typed(name, schema, depth),
        Some(Value::Array(names)) => join(
            names.iter().filter_map(Value::as_str).map(|name| typed(name, schema, depth)),
            " | ",
        ),
        _ if schema.get("properties").is_some() => typed("object", schema, depth),
        _ => "any".into(),
    }
}

fn typed(name: &str, schema: &Value, depth: usize) -> String {
    match (name, depth.checked_sub(1)) {
        ("object", Some(depth)) => object(schema, depth),
        ("array", Some(depth)) => match schema.get("items") {
            Some(items) => format!("[{}, …]", kind(items, depth)),
            None => "array".into(),
        },
        _ => name.into(),
    }
}

fn object(schema: &Value, depth: usize) -> String {
    let Some(all) = schema.get("properties").and_then(Value::as_object) else {
        return "object".into();
    };
    let required = required(schema);
    let fields = all.iter().map(|(name, schema)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let note = match schema.get("description").and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => format!(" ({})", text.trim()),
            _ => String::new(),
        };
        format!("{}{mark}: {}{note}", Value::from(name.as_str()), kind(schema, depth))
    });
    format!("{{{}}}", join(fields, ", "))
}

fn join(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn says_names_kinds_choices_and_what_is_optional() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "where "},
                "days": {"type": ["integer", "null"]},
                "unit": {"enum": ["C", "F"]},
                "stops": {"type": "array", "items": {"type": "object",
                    "properties": {"at": {"anyOf": [{"type": "string"}, {"const": 0}]}}}},
                "else": {}
            },
            "required": ["city", "unit"]
        });
        let expected = r#"{"city": string (where), "days"?: integer | null, "unit": "C" | "F", "stops"?: [{"at"?: string | 0}, …], "else"?: any}"#;
        assert_eq!(signature(&schema), expected);
    }

    #[test]
    fn a_deep_schema_stays_short() {
        let mut schema = json!({"type": "string"});
        for _ in 0..60 {
            schema = json!({"type": "object", "properties": {"in": schema}, "required": ["in"]});
        }
        assert_eq!(signature(&schema), r#"{"in": {"in": {"in": object}}}"#);
    }
}
