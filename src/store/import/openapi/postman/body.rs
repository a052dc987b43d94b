//! The body of a saved request: its example shows the fields and their types.

use serde_json::{Map, Value, json};

use super::{described, listed, text_of};

const FORM: &str = "application/x-www-form-urlencoded";

/// The request body of an operation, if the request has one.
pub(super) fn of(body: &Value, headers: &Value) -> Option<Value> {
    if body["disabled"] == true {
        return None;
    }
    let content = |kind: &str, schema: Value| {
        Some(json!({ "required": true, "content": { kind: { "schema": schema } } }))
    };
    match body["mode"].as_str()? {
        "raw" => {
            let text = body["raw"].as_str().unwrap_or_default();
            if text.trim().is_empty() {
                return None;
            }
            let said = listed(headers).find(|header| {
                header["key"].as_str().is_some_and(|key| key.eq_ignore_ascii_case("content-type"))
            });
            let said = said.and_then(|header| header["value"].as_str());
            let language = body["options"]["raw"]["language"].as_str();
            let example = example(text);
            let is_json = said.map_or(language == Some("json") || example.is_some(), |kind| {
                kind.contains("json")
            });
            match is_json {
                true => {
                    let schema = example.map_or_else(|| json!({}), |example| schema_of(&example));
                    content(said.unwrap_or("application/json"), schema)
                }
                false => {
                    let kind =
                        if language == Some("xml") { "application/xml" } else { "text/plain" };
                    content(said.unwrap_or(kind), json!({ "type": "string" }))
                }
            }
        }
        "urlencoded" => {
            let fields: Map<String, Value> = listed(&body["urlencoded"])
                .filter_map(|field| Some((field["key"].as_str()?.to_owned(), field)))
                .map(|(name, field)| {
                    let description = described(&text_of(&field["description"]), &field["value"]);
                    (name, json!({ "type": "string", "description": description }))
                })
                .collect();
            content(FORM, json!({ "type": "object", "properties": fields }))
        }
        "graphql" => {
            let query = json!({
                "type": "string",
                "description": described("A query of GraphQL.", &body["graphql"]["query"]),
            });
            let schema = json!({
                "type": "object",
                "required": ["query"],
                "properties": { "query": query, "variables": { "type": "object" } },
            });
            content("application/json", schema)
        }
        "formdata" => content("multipart/form-data", json!({ "type": "object" })),
        "file" => content("application/octet-stream", json!({})),
        _ => None,
    }
}

/// The text as JSON, with null for variables that are outside of texts.
fn example(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut plain = String::new();
    let (mut is_text, mut rest) = (false, text);
    while let Some(c) = rest.chars().next() {
        let variable = rest.strip_prefix("{{").filter(|_| !is_text);
        if let Some((_, after)) = variable.and_then(|variable| variable.split_once("}}")) {
            plain.push_str("null");
            rest = after;
            continue;
        }
        let is_escaped = is_text && c == '\\';
        let taken =
            if is_escaped { rest.chars().take(2).map(char::len_utf8).sum() } else { c.len_utf8() };
        plain.push_str(&rest[..taken]);
        is_text ^= c == '"';
        rest = &rest[taken..];
    }
    serde_json::from_str(&plain).ok()
}

/// The types that an example has. It may lack fields, so others are allowed.
fn schema_of(example: &Value) -> Value {
    let of = |kind: &str| match described("", example) {
        text if text.is_empty() => json!({ "type": kind }),
        text => json!({ "type": kind, "description": text }),
    };
    match example {
        Value::String(text) if text.contains("{{") => json!({}),
        Value::String(_) => of("string"),
        Value::Bool(_) => of("boolean"),
        // A price may be a whole number only in the example.
        Value::Number(_) => of("number"),
        Value::Array(items) => match items.first() {
            Some(first) => json!({ "type": "array", "items": schema_of(first) }),
            None => json!({ "type": "array" }),
        },
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.iter().map(|(name, field)| (name.clone(), schema_of(field))).collect();
            json!({ "type": "object", "properties": fields, "additionalProperties": true })
        }
        Value::Null => json!({}),
    }
}
