//! The usage of a stream. Endpoints send it in a chunk of its own, and only where the request asks for it.

use crate::node::JsonNode;
use crate::patch;

/// The body of a request for a stream that also asks for its usage; everything else stays byte for byte. `None` if the
/// body asks for it already, or is not a JSON object.
pub fn asking_for_usage(body: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(body).ok()?;
    let brace = text.find('{')? + 1;
    let at_front = (brace..brace, r#""stream_options":{"include_usage":true},"#);
    // Most bodies are long and do not have the field, so they are not read for it.
    if !text.contains("\"stream_options\"") {
        return patch(body, &[at_front]).ok();
    }
    let fields = JsonNode::of(text).ok()?.fields()?;
    let Some((_, options)) = fields.iter().filter(|(name, _)| *name == "stream_options").last()
    else {
        return patch(body, &[at_front]).ok();
    };
    let Some(known) = options.fields() else {
        return patch(body, &[(options.range(), r#"{"include_usage":true}"#)]).ok();
    };
    let asked = known.iter().filter(|(name, _)| *name == "include_usage").last();
    match asked {
        Some((_, value)) if value.bool() == Some(true) => None,
        Some((_, value)) => patch(body, &[(value.range(), "true")]).ok(),
        None => {
            let brace = options.range().start + 1;
            let is_empty = known.iter().next().is_none();
            let more =
                if is_empty { r#""include_usage":true"# } else { r#""include_usage":true,"# };
            patch(body, &[(brace..brace, more)]).ok()
        }
    }
}

/// Whether the data of an event is the chunk that has the usage and nothing else.
pub fn is_usage_alone(data: &str) -> bool {
    if !data.contains("\"usage\"") {
        return false;
    }
    let Some(fields) = JsonNode::of(data).ok().and_then(|node| node.fields()) else { return false };
    let has_none = fields.get("choices").and_then(|it| it.items()).is_some_and(|it| it.is_empty());
    has_none && fields.fields("usage").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_asked_for_and_nothing_else_changes() {
        for (body, expected) in [
            (r#" {"a": 1.0}"#, Some(r#" {"stream_options":{"include_usage":true},"a": 1.0}"#)),
            (
                r#"{"stream_options": { "x": 1 }}"#,
                Some(r#"{"stream_options": {"include_usage":true, "x": 1 }}"#),
            ),
            (r#"{"stream_options":{}}"#, Some(r#"{"stream_options":{"include_usage":true}}"#)),
            (r#"{"stream_options":null}"#, Some(r#"{"stream_options":{"include_usage":true}}"#)),
            (
                r#"{"stream_options":{"include_usage":false}}"#,
                Some(r#"{"stream_options":{"include_usage":true}}"#),
            ),
            (r#"{"stream_options":{"include_usage":true}}"#, None),
            (
                r#"{"text":"\"stream_options\""}"#,
                Some(r#"{"stream_options":{"include_usage":true},"text":"\"stream_options\""}"#),
            ),
            ("no object", None),
        ] {
            let asking = asking_for_usage(body.as_bytes());
            let asking = asking.map(|body| String::from_utf8(body).unwrap());
            assert_eq!(asking.as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn only_the_chunk_of_the_usage_is_one() {
        assert!(is_usage_alone(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#));
        for other in [
            r#"{"choices":[],"prompt_filter_results":[],"usage":null}"#,
            r#"{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}"#,
            r#"{"usage":{"prompt_tokens":1}}"#,
            "[DONE]",
        ] {
            assert!(!is_usage_alone(other), "{other}");
        }
    }
}
