//! The JSON Schema of a tool's arguments, from its declaration and its recorded calls.
//!
//! The two differ: API-Bank passes every argument as text, omits declared ones and passes others.
//! Only the recorded calls have answers, so the schema follows them if they disagree.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::data::tool_declarations::Parameter;

/// The schema that all `calls` satisfy, as close to the declaration as possible.
pub(super) fn parameters(
    declared: &IndexMap<String, Parameter>,
    calls: &[&Map<String, Value>],
) -> Value {
    let mut names: Vec<&str> = declared.keys().map(String::as_str).collect();
    for name in calls.iter().flat_map(|call| call.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let properties: Map<String, Value> = names
        .iter()
        .map(|&name| {
            let passed: Vec<&Value> = calls.iter().filter_map(|call| call.get(name)).collect();
            (name.to_owned(), property(declared.get(name), &passed))
        })
        .collect();
    let required: Vec<&str> = names
        .into_iter()
        .filter(|&name| calls.iter().all(|call| call.contains_key(name)))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn property(declared: Option<&Parameter>, passed: &[&Value]) -> Value {
    let schema = declared.map_or_else(|| json!({}), |parameter| schema_of(&parameter.kind));
    let fits = declared.is_some() && passed.iter().all(|value| fits(&schema, value));
    let types = types(passed);
    let mut schema = if fits { schema } else { json!({ "type": types }) };
    if let Some(Parameter { kind, description }) = declared {
        let description = description.trim();
        let text = if fits {
            description.to_owned()
        } else {
            format!("{description} (declared as {kind}, recorded as {})", types_in_words(&types))
        };
        schema["description"] = Value::String(text);
    }
    schema
}

/// The schema for one of API-Bank's type names; an unknown one allows everything.
fn schema_of(kind: &str) -> Value {
    let kind = kind.trim();
    if let Some(item) = kind.strip_prefix("list(").and_then(|rest| rest.strip_suffix(')')) {
        return json!({ "type": "array", "items": schema_of(item) });
    }
    match kind {
        "str" => json!({ "type": "string" }),
        "int" => json!({ "type": "integer" }),
        "float" => json!({ "type": "number" }),
        "bool" => json!({ "type": "boolean" }),
        "list" => json!({ "type": "array" }),
        "dict" | "json" => json!({ "type": "object" }),
        _ => json!({}),
    }
}

/// Whether a value satisfies a schema made by [`schema_of`].
fn fits(schema: &Value, value: &Value) -> bool {
    let right_type = match schema["type"].as_str() {
        None => true,
        Some("number") => value.is_number(),
        Some(kind) => kind == type_of(value),
    };
    right_type
        && match (schema.get("items"), value) {
            (Some(items), Value::Array(list)) => list.iter().all(|item| fits(items, item)),
            _ => true,
        }
}

/// The types of the values: one name, or a list of them.
fn types(values: &[&Value]) -> Value {
    let mut types: Vec<&str> = values.iter().map(|value| type_of(value)).collect();
    types.sort_unstable();
    types.dedup();
    match types[..] {
        [one] => json!(one),
        _ => json!(types),
    }
}

fn types_in_words(types: &Value) -> String {
    match types {
        Value::Array(list) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(list: &[(&str, &str)]) -> IndexMap<String, Parameter> {
        list.iter()
            .map(|&(name, kind)| {
                (name.into(), Parameter { kind: kind.into(), description: "What.".into() })
            })
            .collect()
    }

    #[test]
    fn what_is_declared_holds_where_the_calls_agree() {
        let call = json!({ "n": 3, "names": ["a"], "x": 2 });
        let schema = parameters(
            &declared(&[("n", "int"), ("names", "list(str)"), ("x", "float"), ("left_out", "str")]),
            &[call.as_object().unwrap()],
        );
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "n": { "type": "integer", "description": "What." },
                    "names": {
                        "type": "array", "items": { "type": "string" }, "description": "What."
                    },
                    "x": { "type": "number", "description": "What." },
                    "left_out": { "type": "string", "description": "What." },
                },
                "required": ["n", "names", "x"],
            })
        );
    }

    #[test]
    fn the_calls_hold_where_they_disagree() {
        let calls = [json!({ "n": "3", "extra": true }), json!({ "n": 3.5 })];
        let calls: Vec<_> = calls.iter().filter_map(Value::as_object).collect();
        let schema = parameters(&declared(&[("n", "int")]), &calls);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "n": {
                        "type": ["number", "string"],
                        "description": "What. (declared as int, recorded as number or string)",
                    },
                    "extra": { "type": "boolean" },
                },
                "required": ["n"],
            })
        );
    }
}
