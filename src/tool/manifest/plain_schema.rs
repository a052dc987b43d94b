//! Schemas of the usual kind, which need not be checked against the schema of schemas: to compile that one takes longer
//! than to read a hundred manifests.

use std::collections::HashSet;

use serde_json::Value;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Whether a schema has nothing but usual words with values of the right type: then it is a JSON Schema. A schema for
/// which this is false may be one as well.
pub(super) fn is_plain(schema: &Value) -> bool {
    let Value::Object(words) = schema else { return schema.is_boolean() };
    words.iter().all(|(word, value)| match word.as_str() {
        "type" => value.as_str().is_some_and(|kind| TYPES.contains(&kind)),
        "title" | "description" => value.is_string(),
        "default" | "const" => true,
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "properties" => value.as_object().is_some_and(|all| all.values().all(is_plain)),
        "items" | "additionalProperties" => is_plain(value),
        "required" => value.as_array().is_some_and(|names| is_set_of_texts(names)),
        "enum" => value.as_array().is_some_and(|all| !all.is_empty() && is_set_of_texts(all)),
        _ => false,
    })
}

fn is_set_of_texts(values: &[Value]) -> bool {
    let mut seen = HashSet::new();
    values.iter().all(|value| value.as_str().is_some_and(|text| seen.insert(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Schemas, most of them with a wrong word or two.
    fn schemas() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(json!("object")),
            Just(json!("text")),
            Just(json!(3)),
            Just(json!(-1)),
            Just(json!(1.5)),
            Just(json!(true)),
            Just(json!(null)),
            Just(json!(["a", "b"])),
            Just(json!(["a", "a"])),
            Just(json!(["a", 1])),
            Just(json!([])),
        ];
        plain.prop_recursive(4, 24, 4, |inner| {
            let word = prop::sample::select(vec![
                "type",
                "title",
                "description",
                "default",
                "const",
                "minimum",
                "minLength",
                "maxItems",
                "properties",
                "items",
                "additionalProperties",
                "required",
                "enum",
                "pattern",
            ]);
            prop::collection::btree_map(word, inner, 0..4).prop_map(|words| {
                words.into_iter().map(|(word, value)| (word.to_owned(), value)).collect()
            })
        })
    }

    proptest! {
        #[test]
        fn a_plain_schema_is_a_schema(schema in schemas()) {
            prop_assert!(!is_plain(&schema) || jsonschema::meta::is_valid(&schema), "{}", schema);
        }
    }

    #[test]
    fn usual_schemas_are_plain() {
        let usual = json!({"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
            "city": {"type": "string", "description": "A city.", "enum": ["Oslo", "Rome"]},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 1}, "default": []}}});
        assert!(is_plain(&usual));
        for other in [
            json!({"type": ["string", "null"]}),
            json!({"$ref": "#/x"}),
            json!({"enum": []}),
            json!(3),
        ] {
            assert!(!is_plain(&other), "{other}");
        }
    }
}
