//! Fields that a watched agent's body has and a request here has not, so that they are not sent again.

use serde_json::{Map, Value};

use crate::domain::{Request, sent_body::SentBody};
use crate::wire::{FunctionNames, WireFormat, WireSettings, learned::Learned};

/// An endpoint about which nothing is known.
static NOTHING_LEARNT: Learned = Learned::new();

/// The fields for the longest answer, where a format has two.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// The parts of the body of this request that are not sent again, by their paths; none if no format reads it.
pub(crate) fn unsent(body: &SentBody, request: &Request) -> Option<Vec<String>> {
    let read = WireFormat::ALL.into_iter().filter_map(|format| {
        let asked = format.read_request(body.text().as_bytes()).ok()?;
        Some((asked.request.messages.same(&request.messages), format, asked))
    });
    // The first of those that read equally much.
    let (_, format, asked) = read.reduce(|best, it| if it.0 > best.0 { it } else { best })?;
    let mut written = Map::new();
    for max_tokens_field in LIMITS {
        let settings = WireSettings {
            model: &asked.model,
            source: "",
            names: &FunctionNames::of(&asked.request),
            streams: true,
            max_tokens_field,
            longest: 1,
            allowed_tools: true,
            caches: false,
            extra: &Map::new(),
            learned: &NOTHING_LEARNT,
        };
        let fields = (format.codec().write_request)(&asked.request, &settings);
        written.extend(fields.as_object().cloned().unwrap_or_default());
    }
    let mut unsent = Vec::new();
    missing(&serde_json::from_str(body.text()).ok()?, &written, "", &mut unsent);
    // Content of an unknown kind goes back as it came.
    let is_kept = |path: &String| path.contains("content[].type=");
    unsent.extend(asked.unknown.into_keys().filter(|path| path.contains("[]") && !is_kept(path)));
    Some(unsent)
}

/// Adds the paths of fields that are not written.
fn missing(
    body: &Map<String, Value>,
    written: &Map<String, Value>,
    at: &str,
    to: &mut Vec<String>,
) {
    for (name, value) in body.iter().filter(|(_, value)| !value.is_null()) {
        match (written.get(name), value) {
            (None, _) => to.push(format!("{at}{name}")),
            (Some(Value::Object(written)), Value::Object(inner)) => {
                missing(inner, written, &format!("{at}{name}."), to);
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unsent_of(format: WireFormat, body: Value) -> Vec<String> {
        let request = format.read_request(body.to_string().as_bytes()).unwrap().request;
        unsent(&SentBody::from(&body), &request).unwrap()
    }

    #[test]
    fn fields_that_a_request_here_lacks_are_named() {
        let said = json!([
            {"role": "system", "content": "Help."}, {"role": "user", "content": "Hi", "x": 1},
        ]);
        let parameters = json!({"type": "object", "properties": {}});
        let tool = json!({"type": "function", "function": {"name": "f", "parameters": parameters}});
        let body = json!({
            "model": "m", "messages": said, "tools": [tool], "temperature": 0.5, "stream": true,
            "stream_options": {"include_usage": true, "other": 1}, "max_completion_tokens": 9,
            "logit_bias": {"1": 2}, "tool_choice": "required", "user": null, "hologram": true,
        });
        let expected =
            ["stream_options.other", "logit_bias", "tool_choice", "hologram", "messages[].x"];
        assert_eq!(unsent_of(WireFormat::Chat, body), expected);
    }

    #[test]
    fn each_format_is_told_from_the_others() {
        let hi = json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]);
        let thinking = json!({"type": "enabled", "budget_tokens": 1024});
        let body = json!({
            "model": "m", "system": "Help.", "messages": hi, "max_tokens": 9, "thinking": thinking,
        });
        assert_eq!(unsent_of(WireFormat::Messages, body), ["thinking"]);
        let body = json!({"model": "m", "input": "Hi", "previous_response_id": "resp_1"});
        assert_eq!(unsent_of(WireFormat::Responses, body), ["previous_response_id"]);
        let config = json!({"temperature": 1.0, "thinkingConfig": {"thinkingBudget": 0}});
        let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
        let body = json!({"contents": contents, "generationConfig": config});
        assert_eq!(unsent_of(WireFormat::Gemini, body), ["generationConfig.thinkingConfig"]);
    }
}
