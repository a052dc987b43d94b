//! The possible types of a schema's values, as far as the schema states them.

use serde_json::Value;

const PARTS: [&str; 2] = ["array", "object"];
const SCALARS: [&str; 4] = ["string", "number", "integer", "boolean"];

/// Whether a value of this type fits the schema. A schema without types accepts any.
pub(super) fn may_be(schema: &Value, kind: &str) -> bool {
    let says = |found: &Value| match found {
        Value::Array(kinds) => kinds.iter().any(|known| known == kind),
        known => known == kind,
    };
    let is_of = |value: &Value| match value {
        Value::String(_) => kind == "string",
        Value::Bool(_) => kind == "boolean",
        Value::Number(_) => kind == "number" || kind == "integer",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Null => kind == "null",
    };
    if let Some(found) = schema.get("type") {
        return says(found);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().any(is_of);
    }
    if let Some(value) = schema.get("const") {
        return is_of(value);
    }
    let parts = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(all) = parts("allOf") {
        return all.iter().all(|part| may_be(part, kind));
    }
    if let Some(any) = parts("anyOf").or_else(|| parts("oneOf")) {
        return any.iter().any(|part| may_be(part, kind));
    }
    match (schema.get("properties"), schema.get("items")) {
        (Some(_), None) => kind == "object",
        (None, Some(_)) => kind == "array",
        _ => true,
    }
}

/// Whether values may be lists or objects.
pub(super) fn has_parts(schema: &Value) -> bool {
    PARTS.iter().any(|kind| may_be(schema, kind))
}

/// Whether values are lists of scalars and nothing else that has parts.
pub(super) fn is_flat_list(schema: &Value) -> bool {
    let items = schema.get("items");
    may_be(schema, "array")
        && !may_be(schema, "object")
        && items.is_some_and(|items| !has_parts(items))
}

/// Whether values are lists whose parts are lists or objects, always.
pub(super) fn is_nested_list(schema: &Value) -> bool {
    let is_list = |kind: &str| may_be(schema, kind);
    let is_only_list = is_list("array") && !SCALARS.iter().any(|kind| is_list(kind));
    let items = schema.get("items");
    is_only_list
        && items.is_some_and(|items| {
            has_parts(items) && !SCALARS.iter().any(|kind| may_be(items, kind))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_says_what_values_can_be() {
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let nested = json!({ "type": ["array", "null"], "items": { "properties": {} } });
        let range = json!({ "anyOf": [{ "properties": { "gte": {} } }, { "type": "integer" }] });
        assert!(is_flat_list(&list) && !is_nested_list(&list) && has_parts(&list));
        assert!(!is_flat_list(&nested) && is_nested_list(&nested));
        assert!(has_parts(&range) && may_be(&range, "integer") && !may_be(&range, "array"));
        assert!(!has_parts(&json!({ "enum": ["a", 1] })) && !has_parts(&json!({ "const": 1 })));
        assert!(has_parts(&json!({})) && may_be(&json!({}), "string"));
    }
}
