//! The keywords of a JSON Schema in a manifest. A validator ignores unknown ones, so a misspelt one would show only
//! when a model sends a wrong argument.

use serde_json::{Map, Value};

use crate::domain::words::nearest;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Keywords whose values are one schema.
const SCHEMA: [&str; 12] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords whose values are lists of schemas; `items` could be one in older versions, too.
const SCHEMAS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose values have a schema for each name.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"];
/// Keywords whose values are not schemas, including those that only people and other programs read.
const PLAIN: [&str; 46] = [
    "type",
    "enum",
    "const",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "discriminator",
    "externalDocs",
    "xml",
    "$schema",
    "$id",
    "id",
    "$ref",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "strict",
];

/// A field of a schema, such as `properties.city.type`, and its fault.
pub(super) type SchemaFault = (String, String);

/// Faults in the keywords of a schema.
#[derive(Default)]
pub(super) struct SchemaFaults {
    /// Values of `type` that are not types.
    pub wrong: Vec<SchemaFault>,
    /// Keywords that mean nothing to a validator.
    pub unknown: Vec<SchemaFault>,
}

/// The faults of a schema, whose field is `path`.
pub(super) fn faults(schema: &Value, path: &str) -> SchemaFaults {
    let mut faults = SchemaFaults::default();
    read(schema, path, &mut faults);
    faults
}

fn read(schema: &Value, path: &str, faults: &mut SchemaFaults) {
    let Some(fields) = schema.as_object() else { return };
    for (word, value) in fields {
        let own = format!("{path}.{word}");
        match value {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                each(named, |name, part| read(part, &format!("{own}.{name}"), faults));
            }
            Value::Array(parts) if SCHEMAS.contains(&word.as_str()) => {
                for (at, part) in parts.iter().enumerate() {
                    read(part, &format!("{own}[{at}]"), faults);
                }
            }
            _ if word == "type" => types(value, &own, faults),
            _ if SCHEMA.contains(&word.as_str()) => read(value, &own, faults),
            _ if is_known(word) => {}
            _ => {
                let says = match value.get("type") {
                    Some(_) if nearest(word, known()).is_none() => format!(
                        "unknown word in a JSON Schema, so it checks nothing; write a parameter as {path}.properties.{word}"
                    ),
                    _ => unknown(word),
                };
                faults.unknown.push((own, says));
            }
        }
    }
}

fn each(named: &Map<String, Value>, mut read: impl FnMut(&str, &Value)) {
    named.iter().for_each(|(name, part)| read(name, part));
}

fn types(value: &Value, path: &str, faults: &mut SchemaFaults) {
    let texts: Vec<&str> = match value {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => value.as_str().into_iter().collect(),
    };
    for text in texts.into_iter().filter(|text| !TYPES.contains(text)) {
        let expected = match nearest(text, TYPES.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}", TYPES.join(", ")),
        };
        let text = format!("not a JSON Schema: {text:?} is not a type; {expected}");
        faults.wrong.push((path.to_owned(), text));
    }
}

fn is_known(word: &str) -> bool {
    let groups = [&PLAIN[..], &SCHEMA[..], &SCHEMAS[..], &NAMED[..]];
    groups.iter().any(|known| known.contains(&word)) || word.starts_with("x-")
}

fn known() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().chain(&SCHEMA).chain(&SCHEMAS).chain(&NAMED).copied()
}

fn unknown(word: &str) -> String {
    match nearest(word, known()) {
        Some(near) => format!("unknown word in a JSON Schema, so it checks nothing; did you mean `{near}`?"),
        None if word == "nullable" => {
            "unknown word in a JSON Schema, so it checks nothing; write type = [\"string\", \"null\"]".to_owned()
        }
        None => "unknown word in a JSON Schema, so it checks nothing; remove it, or begin it with `x-`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_words_and_types_are_found_at_any_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": { "type": "strng", "minLenght": 1 },
                "requird": { "type": ["string", "nul"] },
                "list": { "items": { "oneOf": [{}, { "enmu": [1] }] }, "default": { "any": 1 } },
            },
            "requird": ["city"],
            "x-own": 1,
            "zzz": {},
        });
        let faults = faults(&schema, "p");
        let fields = |faults: &[SchemaFault]| {
            faults.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>()
        };
        assert_eq!(fields(&faults.wrong), ["p.properties.city.type", "p.properties.requird.type"]);
        assert_eq!(
            fields(&faults.unknown),
            [
                "p.properties.city.minLenght",
                "p.properties.list.items.oneOf[1].enmu",
                "p.requird",
                "p.zzz"
            ]
        );
        assert!(faults.wrong[0].1.ends_with("\"strng\" is not a type; did you mean `string`?"));
        assert!(faults.unknown[2].1.ends_with("did you mean `required`?"));
    }
}
