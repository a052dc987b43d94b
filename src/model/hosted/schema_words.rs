//! Keywords of JSON Schema in the parameters of tools that an endpoint refuses: Gemini, Bedrock and OpenAI each accept
//! different ones. Without such a keyword the model knows less; its arguments are still checked against the whole
//! schema.

use std::collections::BTreeSet;

use serde_json::Value;

use super::refusal::{REFUSALS, has, words};
use crate::domain::{ToolDef, schema_words::inside};
use crate::http::RequestRefusal;

/// Keywords without which nobody could call a tool.
const NEEDED: [&str; 5] = ["type", "properties", "required", "items", "description"];
/// Places that a text must mention before a word in it counts as a keyword.
const PLACES: [&str; 7] = [
    "tools",
    "function_declarations",
    "functiondeclarations",
    "parameters",
    "schema",
    "toolspec",
    "function",
];
/// Other phrases that refuse a keyword of a schema.
const OF_SCHEMAS: [&str; 4] = ["not have", "invalid schema", "is not valid", "must not"];

/// The keywords in the parameters of tools, except those that are needed.
fn used(tools: &[ToolDef]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    tools.iter().for_each(|tool| collect(&tool.parameters, &mut used));
    used
}

fn collect(schema: &Value, used: &mut BTreeSet<String>) {
    let Some(schema) = schema.as_object() else { return };
    let own = schema.keys().filter(|word| !NEEDED.contains(&word.as_str()));
    used.extend(own.cloned());
    for (word, value) in schema {
        inside(word, value).for_each(|schema| collect(schema, used));
    }
}

/// The keyword of these tools that a refusal names, unless it was given up before.
pub(super) fn refused(
    refused: &RequestRefusal,
    tools: &[ToolDef],
    given_up: &BTreeSet<String>,
) -> Option<String> {
    let sent = &used(tools) - given_up;
    let of_tools = refused.fields.iter().filter(|field| {
        field.path.first().is_some_and(|first| first == "tools" || first == "functions")
    });
    let mut named = of_tools.flat_map(|field| field.path.iter().rev().take(1));
    let named = named.find(|part| sent.contains(*part)).cloned();
    named.or_else(|| refused.texts.iter().find_map(|text| told(text, &sent)))
}

/// The first such keyword in a text that refuses some part of a tool.
fn told(text: &str, sent: &BTreeSet<String>) -> Option<String> {
    let lower = text.to_lowercase();
    let is_refusal = has(&lower, &REFUSALS) || has(&lower, &OF_SCHEMAS);
    if !has(&lower, &PLACES) || !is_refusal {
        return None;
    }
    let found = words(text).into_iter().find_map(|word| {
        let start = word.start - usize::from(text[..word.start].ends_with('$'));
        let is_quote = |c: char| "'\"`".contains(c);
        let is_quoted = text[..start].ends_with(is_quote) && text[word.end..].starts_with(is_quote);
        let word = &text[start..word.end];
        // "not" and "format" are also ordinary words of a sentence.
        let is_code = word.chars().any(|c| c.is_ascii_uppercase() || c == '$');
        ((is_code || is_quoted) && sent.contains(word)).then_some(word)
    });
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http::RefusedField;

    fn tool() -> ToolDef {
        let parameters = json!({"$schema": "x", "type": "object", "additionalProperties": false,
            "properties": {"const": {"const": 1}, "not": {"type": "string", "format": "date"},
                "all": {"type": "array", "items": {"oneOf": [{"exclusiveMinimum": 0}, {"enum": ["if"]}]}}}});
        ToolDef { name: "t".into(), description: "T".into(), parameters: parameters.into() }
    }

    fn found(text: &str) -> Option<String> {
        let texts = vec![text.to_owned()];
        refused(&RequestRefusal { texts, ..RequestRefusal::default() }, &[tool()], &BTreeSet::new())
    }

    #[test]
    fn words_are_told_from_the_names_of_properties() {
        let words = ["$schema", "additionalProperties", "const", "enum", "exclusiveMinimum"];
        let words = [&words[..], &["format", "oneOf"]].concat();
        assert_eq!(used(&[tool()]), words.into_iter().map(str::to_owned).collect());
    }

    #[test]
    fn a_word_is_found_in_what_servers_say() {
        for (text, word) in [
            (
                "Invalid JSON payload received. Unknown name \"additionalProperties\" at \
                 'tools[0].function_declarations[0].parameters': Cannot find field.",
                "additionalProperties",
            ),
            (
                "Unknown name \"$schema\" at 'tools[0].function_declarations[0]': Cannot find field.",
                "$schema",
            ),
            (
                "Invalid schema for function 't': schema must have type 'object' and not have \
                 'oneOf'/'anyOf'/'allOf' at the top level.",
                "oneOf",
            ),
            (
                "In context=('properties', 'not'), 'format' is not permitted in the schema.",
                "format",
            ),
        ] {
            assert_eq!(found(text).as_deref(), Some(word), "{text}");
        }
        for text in ["tools: the format is not supported", "'const' is not allowed here", "no"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_is_enough_and_each_word_is_refused_once() {
        let path = "tools 0 function parameters const".split(' ').map(str::to_owned).collect();
        let fields = vec![RefusedField { path, why: "extra_forbidden".into() }];
        let answer = RequestRefusal { fields, ..RequestRefusal::default() };
        let word = refused(&answer, &[tool()], &BTreeSet::new());
        assert_eq!(word.as_deref(), Some("const"));
        assert_eq!(refused(&answer, &[tool()], &word.into_iter().collect()), None);
    }
}
