//! Finds the sent fields that a refusal names. Endpoints word refusals in many ways; a text that merely contains the
//! same word does not refuse a field.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::http::{RefusedField, RequestRefusal};
use crate::wire::WireFormat;

/// Fields that a request needs. Anthropic needs a limit as well.
const NEEDED: [&str; 6] = ["model", "messages", "tools", "input", "system", "contents"];
/// The fields for the schema of an answer, one for each format.
pub(super) const STRUCTURES: [&str; 3] = ["response_format", "text", "output_config"];
/// Other names of fields, as the servers behind gateways use them; without underscores, in lower case.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("stopsequences", "stop"),
    ("stopsequence", "stop"),
    ("maxtokens", LIMIT),
    ("maxcompletiontokens", LIMIT),
    ("maxoutputtokens", LIMIT),
    ("maxnewtokens", LIMIT),
    ("allowedtools", "tool_choice"),
    ("jsonschema", "response_format"),
    ("responseschema", "response_format"),
    ("structuredoutput", "response_format"),
    ("structuredoutputs", "response_format"),
    ("includeusage", "stream_options"),
];
/// The field for the longest answer, under either name.
const LIMIT: &str = "max_tokens";
/// The two names of the field for the longest answer.
pub(super) const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Words that refuse a field.
pub(super) const REFUSALS: [&str; 38] = [
    "unsupported",
    "not support",
    "n't support",
    "not permitted",
    "not allowed",
    "not accept",
    "n't accept",
    "not take",
    "n't take",
    "not recognized",
    "not recognised",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "extra_forbidden",
    "extra inputs",
    "extra fields",
    "additional propert",
    "deprecated",
    "not available",
    "unavailable",
    "not implemented",
    "forbidden",
    "incompatible",
    "not compatible",
    "not a valid parameter",
    "cannot find field",
    "no such",
    "may only",
    "can only",
    "only the default",
    "is allowed for this model",
    "are allowed for this model",
    "is supported for this model",
    "cannot be used",
    "cannot be specified",
    "cannot both",
];
/// Words for a wrong value of a field, or for a missing field.
const OF_VALUES: [&str; 15] = [
    "required",
    "missing",
    "must be provided",
    "at least",
    "at most",
    "less than",
    "greater than",
    "less_than",
    "greater_than",
    "between",
    "too large",
    "too small",
    "too long",
    "maximum",
    "out of range",
];
/// Words before a field's name that distinguish it from the same word in a sentence.
const BEFORE: [&str; 26] = [
    "parameter",
    "parameters",
    "param",
    "params",
    "argument",
    "arguments",
    "field",
    "fields",
    "option",
    "options",
    "property",
    "properties",
    "name",
    "key",
    "keys",
    "input",
    "inputs",
    "supplied",
    "unsupported",
    "unknown",
    "unrecognized",
    "unexpected",
    "invalid",
    "support",
    "supports",
    "value",
];
/// Words after a field's name that do the same.
const AFTER: [&str; 24] = [
    ":",
    "=",
    "is not",
    "is unsupported",
    "is deprecated",
    "is unknown",
    "isn't",
    "are not",
    "aren't",
    "does not",
    "doesn't",
    "not supported",
    "was unexpected",
    "parameter",
    "argument",
    "field",
    "option",
    "property",
    "setting",
    "value",
    "may only",
    "can only",
    "cannot",
    "can't",
];

/// The names of sent fields that an endpoint may refuse.
#[derive(Debug, Default)]
pub(super) struct Sent {
    names: BTreeSet<String>,
}

impl Sent {
    /// The names in a body of this format.
    pub fn of(body: &Value, format: WireFormat) -> Self {
        let is_needed =
            |name: &str| NEEDED.contains(&name) || format == WireFormat::Messages && name == LIMIT;
        let fields = body.as_object().into_iter().flatten().map(|(name, _)| name);
        let messages = body["messages"].as_array().into_iter().flatten();
        let own = messages.filter_map(Value::as_object).flat_map(|message| {
            let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            let of_calls = calls.filter_map(Value::as_object).flat_map(|call| {
                let function = call.get("function").and_then(Value::as_object);
                call.keys().chain(function.into_iter().flat_map(|function| function.keys()))
            });
            message.keys().chain(of_calls)
        });
        let own = own.filter(|name| !OF_PROTOCOL.contains(&name.as_str()));
        let names = fields.filter(|name| !is_needed(name)).chain(own);
        Self { names: names.cloned().collect() }
    }

    /// The field of this request that a name means.
    fn find(&self, name: &str) -> Option<&str> {
        let plain = plain(name);
        let exact = self.names.iter().find(|sent| self::plain(sent) == plain);
        let other = || {
            let (_, field) = OTHER_NAMES.iter().find(|(other, _)| *other == plain)?;
            let fits = |sent: &&String| match *field {
                LIMIT => LIMITS.contains(&sent.as_str()),
                "response_format" => STRUCTURES.contains(&sent.as_str()),
                field => *sent == field,
            };
            self.names.iter().find(fits)
        };
        exact.or_else(other).map(String::as_str)
    }

    /// The fields that were refused.
    pub fn refused(&self, refused: &RequestRefusal) -> BTreeSet<String> {
        let named = refused.fields.iter().filter_map(|field| self.named(field));
        let named: BTreeSet<String> = named.map(str::to_owned).collect();
        if !named.is_empty() {
            return named;
        }
        let sentences = refused.texts.iter().flat_map(|text| sentences(text));
        let told = sentences.filter_map(|sentence| self.told(&sentence));
        told.map(str::to_owned).take(1).collect()
    }

    /// The field at a place, if it is refused there.
    fn named(&self, field: &RefusedField) -> Option<&str> {
        let first = field.path.first()?;
        let sent = match first.as_str() {
            "messages" => field.path.iter().skip(1).find_map(|part| self.find(part)),
            first => self.find(first),
        }?;
        let why = field.why.to_lowercase();
        let is_value = has(&why, &OF_VALUES) && !has(&why, &REFUSALS);
        // An answer is checked in any case, so a request never fails because of its schema.
        (!is_value || STRUCTURES.contains(&sent)).then_some(sent)
    }

    /// The first field that a sentence refuses.
    fn told(&self, sentence: &str) -> Option<&str> {
        let lower = sentence.to_lowercase();
        let schema = self.find("response_format");
        let is_of_schema = has(&lower, &["response_format", "json_schema", "structured output"]);
        if is_of_schema && schema.is_some() {
            return schema;
        }
        if !has(&lower, &REFUSALS) {
            return None;
        }
        let words = words(sentence);
        let single = words.iter().enumerate().find_map(|(at, word)| {
            let sent = self.find(&sentence[word.clone()])?;
            is_name(sentence, &words, at).then_some(sent)
        });
        single.or_else(|| {
            // `tool choice` and `stop sequences` are names of two words or three.
            let mut several = [2, 3].into_iter().flat_map(|n| words.windows(n));
            several.find_map(|words| {
                let text = &sentence[words.first()?.start..words.last()?.end];
                let joined: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let is_plain = joined.chars().all(|c| c.is_ascii_alphanumeric());
                is_plain.then(|| self.find(&joined)).flatten()
            })
        })
    }
}

/// Fields of messages and calls that the protocol defines.
const OF_PROTOCOL: [&str; 9] = [
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "id",
    "type",
    "function",
    "name",
    "arguments",
];

/// A name without the differences between styles: `topP` is `top_p`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

pub(super) fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The sentences of a text. A number such as 0.0 ends none.
pub(super) fn sentences(text: &str) -> Vec<String> {
    text.split(['\n', ';']).flat_map(|line| line.split(". ")).map(str::to_owned).collect()
}

/// The places of words, as programs write names.
pub(super) fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_of_word = c.is_ascii_alphanumeric() || c == '_';
        match (is_of_word, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words
}

/// Whether a word is a field's name, and not the same word in a sentence, such as "stop".
fn is_name(text: &str, words: &[std::ops::Range<usize>], at: usize) -> bool {
    let word = &text[words[at].clone()];
    let is_code = word.contains('_') || word.chars().skip(1).any(|c| c.is_ascii_uppercase());
    let before = at.checked_sub(1).map(|before| text[words[before].clone()].to_lowercase());
    let is_marked = before.is_some_and(|before| BEFORE.contains(&before.as_str()));
    let quotes = ['\'', '"', '`', '*', ' ', ')', ']', '}', '\u{201d}', '\u{2019}'];
    let after = text[words[at].end..].trim_start_matches(quotes).to_lowercase();
    let is_last = after.trim_matches(['.', ',', '!']).is_empty();
    let head = text[..words[at].start].trim_end_matches(['\'', '"', '`', '[', '{', ' ']);
    let is_listed = is_last && head.ends_with(':');
    is_code || is_marked || is_listed || AFTER.iter().any(|next| after.starts_with(next))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent() -> Sent {
        Sent::of(
            &json!({"model": "m", "tools": [], "temperature": 0.0, "top_p": 1, "seed": 7,
            "stop": ["x"], "max_tokens": 9, "stream": true, "stream_options": {}, "user": "me",
            "tool_choice": {}, "response_format": {}, "parallel_tool_calls": false,
            "messages": [{"role": "user", "content": "x"}, {"role": "assistant",
                "reasoning_content": "Hm.", "tool_calls": [{"id": "a", "extra_content": {},
                    "function": {"name": "n", "arguments": "{}"}}]}]}),
            WireFormat::Chat,
        )
    }

    fn refused(body: &Value) -> Vec<String> {
        let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let texts = vec![text];
        sent().refused(&RequestRefusal { texts, ..RequestRefusal::default() }).into_iter().collect()
    }

    #[test]
    fn a_field_is_found_in_what_servers_say() {
        for (text, field) in [
            (
                "Unsupported value: 'temperature' does not support 0.0 with this model.",
                "temperature",
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                "max_tokens",
            ),
            ("Unrecognized request argument supplied: stream_options", "stream_options"),
            ("Unrecognized request argument supplied: seed", "seed"),
            ("Invalid JSON payload received. Unknown name \"seed\": Cannot find field.", "seed"),
            ("Argument not supported on this model: stop", "stop"),
            (
                "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
                "stop",
            ),
            ("stop sequences are not supported by this model", "stop"),
            ("temperature: Extra inputs are not permitted", "temperature"),
            ("`temperature` is deprecated for this model.", "temperature"),
            ("invalid temperature: only 1 is allowed for this model", "temperature"),
            (
                "gpt-5 models don't support temperature=0.0. Only temperature=1 is supported.",
                "temperature",
            ),
            ("azure does not support parameters: ['seed'], for model=x", "seed"),
            ("property 'user' is unsupported", "user"),
            (
                "Additional properties are not allowed ('parallel_tool_calls' was unexpected)",
                "parallel_tool_calls",
            ),
            ("This server does not support tool choice", "tool_choice"),
            ("Invalid value: 'allowed_tools' is not supported", "tool_choice"),
            ("Invalid schema for response_format 'answer'", "response_format"),
            ("'messages.2' : property 'reasoning_content' is unsupported", "reasoning_content"),
            (
                "messages.1.tool_calls.0.extra_content: Extra inputs are not permitted",
                "extra_content",
            ),
            ("topP is not supported", "top_p"),
        ] {
            assert_eq!(refused(&json!(text)), [field], "{text}");
        }
    }

    #[test]
    fn a_text_that_has_the_word_is_no_refusal() {
        for text in [
            "Please stop. This content is not allowed.",
            "Please stop sending prompts that are not allowed",
            "The word \"stop\" in your prompt is not allowed",
            "Unknown model m; the seed of doubt",
            "max_tokens is too large: 100000; at most 16384",
            "The reasoning_content in the thinking mode must be passed back",
            "tools are not supported by this model",
            "",
        ] {
            let found = refused(&json!(text));
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_place_is_enough_unless_only_its_value_is_wrong() {
        let at = |path: &str, why: &str| {
            let path = path.split('.').map(str::to_owned).collect();
            let fields = vec![RefusedField { path, why: why.to_owned() }];
            sent()
                .refused(&RequestRefusal { fields, ..RequestRefusal::default() })
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(at("temperature", "invalid_request_error No."), ["temperature"]);
        assert_eq!(at("stream_options.include_usage", "extra_forbidden"), ["stream_options"]);
        assert_eq!(
            at("messages.3.assistant.reasoning_content", "extra_forbidden"),
            ["reasoning_content"]
        );
        assert_eq!(at("temperature", "must be between 0 and 2"), [""; 0]);
        assert_eq!(at("max_tokens", "max_tokens is too large: 9"), [""; 0]);
        assert_eq!(at("messages.0.content", "too long"), [""; 0]);
        assert_eq!(at("model", "unknown"), [""; 0]);
    }
}
