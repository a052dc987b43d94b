//! Finds the sent tools that a refusal names: by their places in the request, or by their names.

use std::collections::BTreeSet;

use super::refusal::has;
use crate::http::RequestRefusal;

/// The fields of a request that define tools; that of Gemini is inside the others, so it comes first.
const FIELDS: [&str; 4] = ["function_declarations", "functionDeclarations", "tools", "functions"];
/// Words of refusals of something else that names tools: messages, the choice among tools, calls that the model wrote.
const OTHERS: [&str; 7] = [
    "messages",
    "tool_choice",
    "tool_call",
    "tool call",
    "tool_use",
    "failed_generation",
    "call a function",
];

/// The sent tools that a refusal names.
pub(super) fn named<'s>(refused: &RequestRefusal, sent: &'s [String]) -> BTreeSet<&'s str> {
    let paths = refused.fields.iter().map(|field| field.path.join("."));
    let of_tools = paths.filter(|path| FIELDS.iter().any(|field| path.starts_with(field)));
    let of_tools: Vec<String> = of_tools.collect();
    let lower = refused.texts.join("\n").to_lowercase();
    let texts = refused.texts.iter().filter(|_| !has(&lower, &OTHERS));
    let texts: Vec<&String> = of_tools.iter().chain(texts).collect();
    let placed = texts.iter().flat_map(|text| places(text)).filter_map(|at| sent.get(at));
    let placed: BTreeSet<&str> = placed.map(String::as_str).collect();
    if !placed.is_empty() {
        return placed;
    }
    let is_named = |name: &&String| texts.iter().any(|text| names(text, name));
    sent.iter().filter(is_named).map(String::as_str).collect()
}

/// The places in `tools[3]`, `tools.3` and the like.
fn places(text: &str) -> Vec<usize> {
    let all = FIELDS.iter().map(|field| {
        let rests = text.match_indices(field).map(|(at, _)| &text[at + field.len()..]);
        let place = |rest: &str| {
            let digits = rest.strip_prefix(['[', '.', '/'])?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().ok()
        };
        rests.filter_map(place).collect::<Vec<usize>>()
    });
    all.into_iter().find(|places| !places.is_empty()).unwrap_or_default()
}

/// Whether a text has a name in quotation marks, or after the word "function" or "tool". A name that is no ordinary word
/// may be anywhere.
fn names(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_quoted = before.ends_with(['\'', '"', '`', '‘', '“'])
            && after.starts_with(['\'', '"', '`', '’', '”']);
        let word = before.trim_end_matches([' ', ':']).to_ascii_lowercase();
        let is_announced =
            word.len() < before.len() && (word.ends_with("function") || word.ends_with("tool"));
        let is_code = name.contains(['_', '-']) && !before.ends_with(is_of_name);
        (is_quoted || is_announced || is_code) && !after.starts_with(is_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::RefusedField;

    fn found(texts: &[&str], paths: &[&str]) -> Vec<String> {
        let sent = ["w__weather", "w__odd", "clock", "type", "w__odd2"].map(str::to_owned);
        let field = |path: &&str| RefusedField {
            path: path.split('.').map(str::to_owned).collect(),
            why: String::new(),
        };
        let fields = paths.iter().map(field).collect();
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        let refused = RequestRefusal { texts, fields, ..RequestRefusal::default() };
        named(&refused, &sent).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_tool_is_found_by_its_place_or_its_name() {
        for text in [
            "Invalid schema for function 'w__odd': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
            "tools.1.custom.input_schema.type: Input should be 'object'",
            "tools.1.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
            "Invalid 'tools[1].function.parameters': no",
            "GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty",
            "body/tools/1/function/parameters must be object",
            "Tool w__odd: its parameters are invalid",
            "the function `w__odd` has a bad schema",
            "bad definition of a tool: w__odd",
        ] {
            assert_eq!(found(&[text], &[]), ["w__odd"], "{text}");
        }
        assert_eq!(
            found(&["Input should be 'object'"], &["tools.1.function.parameters"]),
            ["w__odd"]
        );
        assert_eq!(
            found(&["no"], &["tools.0.function", "tools.2.function"]),
            ["clock", "w__weather"]
        );
    }

    #[test]
    fn what_is_no_refusal_of_a_tool_names_none() {
        for text in [
            "tools are not supported by this model",
            "Invalid 'tools': array too long, 200 instead of 128",
            "tools[9].function: no",
            "messages.1.content.0: 'clock' is unknown",
            "tool_choice: Tool 'clock' not found in provided tools",
            "Tool call validation failed: parameters for tool clock did not match schema",
            "Failed to call a function. See 'failed_generation': <function=clock>",
            "the clock of this server is wrong",
        ] {
            assert!(found(&[text], &[]).is_empty(), "{text}");
        }
    }
}
