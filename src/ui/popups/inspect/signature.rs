//! A tool's parameters in one line, as people write them: `search(query: string, limit?: integer)`.

use serde_json::Value;

/// `name(argument: type, …)`; a `?` marks optional arguments.
pub(super) fn signature(name: &str, parameters: &Value) -> String {
    let required = parameters["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let arguments = arguments(parameters).map(|(name, schema)| {
        let mark = if is_required(name) { "" } else { "?" };
        format!("{name}{mark}: {}", kind(schema, 0))
    });
    format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
}

/// The arguments and their schemas.
pub(super) fn arguments(parameters: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = parameters["properties"].as_object();
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// A type in a word or a few: `string`, `"a" | "b"`, `integer[]`.
fn kind(schema: &Value, depth: u8) -> String {
    // A foreign schema may have any depth.
    if depth > 3 {
        return "…".to_owned();
    }
    let one_of = |all: &[Value], of: &dyn Fn(&Value) -> String| {
        all.iter().map(of).collect::<Vec<_>>().join(" | ")
    };
    let nested = |schema: &Value| kind(schema, depth + 1);
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return one_of(values, &Value::to_string);
    }
    if let Some(schemas) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return one_of(schemas, &nested);
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => {
            let of = nested(&schema["items"]);
            if of.contains(' ') { format!("({of})[]") } else { of + "[]" }
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => one_of(names, &|name| name.as_str().unwrap_or("any").to_owned()),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_one_line() {
        let parameters = json!({
            "type": "object",
            "required": ["query", "order"],
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": ["integer", "null"]},
                "order": {"enum": ["up", "down"]},
                "sites": {"type": "array", "items": {"anyOf": [{"type": "string"}, {}]}},
                "exact": {"const": true},
            },
        });
        assert_eq!(
            signature("search", &parameters),
            r#"search(query: string, limit?: integer | null, order: "up" | "down", "#.to_owned()
                + "sites?: (string | any)[], exact?: true)"
        );
        assert_eq!(signature("now", &json!({"type": "object"})), "now()");
        assert_eq!(signature("odd", &json!(true)), "odd()");
    }
}
