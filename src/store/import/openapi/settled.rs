//! Brings a document into the form of OpenAPI 3.1, without the parts that are not read. A mistake in such a part, such
//! as a licence without an address, then stops nobody.

use serde_json::{Map, Value, json};

/// Keys whose objects map names of the author to values; these names are no keywords.
const NAMED: [&str; 11] = [
    "properties",
    "patternProperties",
    "schemas",
    "parameters",
    "responses",
    "requestBodies",
    "securitySchemes",
    "pathItems",
    "paths",
    "content",
    "variables",
];
/// Keywords that are not read.
const UNREAD: [&str; 14] = [
    "externalDocs",
    "callbacks",
    "links",
    "headers",
    "webhooks",
    "tags",
    "discriminator",
    "xml",
    "encoding",
    "termsOfService",
    "contact",
    "license",
    "contentEncoding",
    "contentMediaType",
];
/// Keywords whose values are data of the API, in any form.
const DATA: [&str; 5] = ["example", "examples", "default", "enum", "const"];

/// The document as OpenAPI 3.1 has it.
pub(super) fn settled(mut document: Value) -> Value {
    // YAML reads `openapi: 3.1` as a number.
    if let Some(version) = document.get_mut("openapi")
        && !version.is_string()
    {
        *version = Value::String(version.to_string());
    }
    if let Some(info) = document.get_mut("info").and_then(Value::as_object_mut) {
        info.entry("title").or_insert_with(|| "API".into());
        let version = info.entry("version").or_insert_with(|| "".into());
        if !version.is_string() {
            *version = Value::String(version.to_string());
        }
    } else if let Some(document) = document.as_object_mut() {
        document.insert("info".into(), json!({ "title": "API", "version": "" }));
    }
    follow_path_items(&mut document);
    settle(&mut document);
    document
}

/// Puts the path items that others refer to into their places. One reference is followed, not a chain.
fn follow_path_items(document: &mut Value) {
    let target = |item: &Value| {
        let place = item.get("$ref")?.as_str()?.strip_prefix('#')?;
        document.pointer(place).cloned()
    };
    let paths = document["paths"].as_object();
    let found: Vec<(String, Value)> = paths
        .into_iter()
        .flatten()
        .filter_map(|(path, item)| Some((path.clone(), target(item)?)))
        .collect();
    for (path, item) in found {
        document["paths"][path] = item;
    }
}

/// Settles an object of keywords, and what is in it.
fn settle(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !UNREAD.contains(&key.as_str()));
            keywords(fields);
            for (key, field) in fields.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
                match field {
                    Value::Object(named) if NAMED.contains(&key.as_str()) => {
                        named.values_mut().for_each(settle);
                    }
                    _ => settle(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn keywords(fields: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(Value::Bool(is_exclusive)) = fields.get(exclusive) {
            let is_exclusive = *is_exclusive;
            fields.shift_remove(exclusive);
            if is_exclusive && let Some(value) = fields.shift_remove(bound) {
                fields.insert(exclusive.to_owned(), value);
            }
        }
    }
    if let Some(Value::Bool(nullable)) = fields.get("nullable") {
        let nullable = *nullable;
        fields.shift_remove("nullable");
        if nullable && let Some(kind @ Value::String(_)) = fields.get_mut("type") {
            *kind = json!([kind.take(), "null"]);
        }
    }
    // In a schema `required` is a list; where it is a flag, somebody took a schema for a parameter.
    if fields.get("required").is_some_and(Value::is_boolean)
        && !fields.contains_key("in")
        && !fields.contains_key("content")
    {
        fields.shift_remove("required");
    }
    // An empty list means that no key is needed. The reader would take it for a missing one.
    if fields.contains_key("responses")
        && let Some(Value::Array(security)) = fields.get_mut("security")
        && security.is_empty()
    {
        security.push(json!({}));
    }
    // Their addresses may be relative, and are not read.
    if fields.get("type").is_some_and(|kind| kind == "oauth2") && fields.contains_key("flows") {
        fields.insert("flows".to_owned(), json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_of_version_3_0_become_those_of_3_1() {
        let document = json!({
            "openapi": 3.0,
            "info": { "title": "t", "version": 1, "license": { "url": "" } },
            "paths": { "/a": { "$ref": "#/components/pathItems/A" } },
            "components": {
                "pathItems": { "A": { "get": { "security": [], "responses": {}, "tags": 3 } } },
                "schemas": { "S": {
                    "type": "object",
                    "required": true,
                    "properties": {
                        "links": { "type": "integer", "minimum": 1, "exclusiveMinimum": true, "nullable": true },
                        "nullable": { "maximum": 9, "exclusiveMaximum": false, "xml": 1 },
                    },
                    "example": { "nullable": true },
                } },
            },
        });
        let settled = settled(document);
        assert_eq!(settled["openapi"], "3.0");
        assert_eq!(settled["info"], json!({ "title": "t", "version": "1" }));
        assert_eq!(settled["paths"]["/a"], json!({ "get": { "security": [{}], "responses": {} } }));
        assert_eq!(
            settled["components"]["schemas"]["S"],
            json!({
                "type": "object",
                "properties": {
                    "links": { "type": ["integer", "null"], "exclusiveMinimum": 1 },
                    "nullable": { "maximum": 9 },
                },
                "example": { "nullable": true },
            })
        );
    }
}
