//! Texts that look like numbers or flags, such as the value `1.10` of an `enum` of texts. Readers of JSON and YAML know
//! only the number, so the text is read again where a schema of texts has one.

use std::slice;

use serde_json::{Map, Value};

use super::lines::{Level, walk};

/// Restores texts as the document writes them. `read` reads a scalar like the document.
pub(super) fn restore(root: &mut Value, text: &str, read: impl Fn(&str) -> Option<Value>) {
    if !has_unquoted(root) {
        return;
    }
    walk(text, |levels, scalar, _| {
        let schema = match levels {
            [schema @ .., Level::Object { key: Some(key) }, Level::List { .. }]
                if key == "enum" =>
            {
                schema
            }
            [schema @ .., Level::Object { key: Some(key) }] if is_single(key) => schema,
            _ => return true,
        };
        let is_of_texts = at(root, schema).and_then(|it| it.as_object()).is_some_and(is_of_texts);
        if let Some(scalar) = scalar
            && is_of_texts
            && let Some(value) = at(root, levels).filter(|value| is_unquoted(value))
            // A repeated key may have led to another value.
            && read(scalar).as_ref() == Some(value)
        {
            *value = scalar.into();
        }
        true
    });
}

/// Turns numbers and flags into texts if the schema is one of texts, however they were written.
pub(super) fn as_texts(schema: &mut Map<String, Value>) {
    if is_of_texts(schema) {
        for value in values(schema).filter(|value| is_unquoted(value)) {
            *value = value.to_string().into();
        }
    }
}

fn at<'v>(root: &'v mut Value, levels: &[Level]) -> Option<&'v mut Value> {
    levels.iter().try_fold(root, |value, level| match level {
        Level::Object { key } => value.get_mut(key.as_deref()?),
        Level::List { at } => value.get_mut(at),
    })
}

fn has_unquoted(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            is_of_texts(fields) && values(fields).any(|value| is_unquoted(value))
                || fields.values_mut().any(has_unquoted)
        }
        Value::Array(items) => items.iter_mut().any(has_unquoted),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether the schema allows only texts, and perhaps null.
fn is_of_texts(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => {
            types.iter().any(|it| it == "string")
                && types.iter().all(|it| it == "string" || it == "null")
        }
        kind => kind.is_some_and(|kind| kind == "string"),
    }
}

/// The values that a schema names.
fn values(schema: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    schema.iter_mut().flat_map(|(key, value)| match key.as_str() {
        "enum" => value.as_array_mut().map(Vec::as_mut_slice).unwrap_or_default(),
        key if is_single(key) => slice::from_mut(value),
        _ => &mut [],
    })
}

/// Whether a schema names one value by this keyword.
fn is_single(key: &str) -> bool {
    matches!(key, "const" | "default")
}

fn is_unquoted(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_restored_where_a_schema_has_only_texts() {
        let text = "{\"s\": {\"type\": \"string\", \"enum\": [1, 2.0, 1.10, true, \"1.10\", null], \"default\": 1.10},\n\
             \"list\": [{\"items\": {\"type\": [\"string\", \"null\"], \"enum\": [1e3, -0.50]}}],\n\
             \"mixed\": {\"type\": [\"string\", \"number\"], \"enum\": [1.10]}, \"none\": {\"enum\": [1.10]},\n\
             \"twice\": {\"type\": \"string\", \"enum\": [1.0]}, \"twice\": {\"type\": \"string\", \"enum\": [2.0]}}";
        let mut root: Value = serde_json::from_str(text).unwrap();
        restore(&mut root, text, |scalar| serde_json::from_str(scalar).ok());
        assert_eq!(
            root,
            json!({
                "s": { "type": "string", "enum": ["1", "2.0", "1.10", "true", "1.10", null], "default": "1.10" },
                "list": [{ "items": { "type": ["string", "null"], "enum": ["1e3", "-0.50"] } }],
                "mixed": { "type": ["string", "number"], "enum": [1.1] }, "none": { "enum": [1.1] },
                "twice": { "type": "string", "enum": ["2.0"] },
            })
        );
    }

    #[test]
    fn a_text_that_is_not_known_any_more_is_the_nearest() {
        let of = |schema: Value| {
            let Value::Object(mut schema) = schema else { panic!("no object") };
            as_texts(&mut schema);
            Value::from(schema)
        };
        let texts = of(json!({ "type": "string", "enum": [1.0, 16, true, "x"], "const": false }));
        let expected =
            json!({ "type": "string", "enum": ["1.0", "16", "true", "x"], "const": "false" });
        assert_eq!(texts, expected);
        let numbers = json!({ "type": "number", "enum": [1.0], "default": 1 });
        assert_eq!(of(numbers.clone()), numbers);
    }
}
