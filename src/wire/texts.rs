//! Changes texts of a conversation in the body of a request, whatever its format.

use std::borrow::Cow;
use std::ops::Range;

use crate::node::JsonNode;
use crate::{BadPlace, patch};

/// Fields of a request that contain the conversation.
const PAST: [&str; 8] = [
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "messages",
    "input",
    "contents",
    "prompt",
];
/// Fields of such a part that have its text, or further parts.
const TEXT: [&str; 8] = [
    "content",
    "text",
    "output",
    "parts",
    "functionResponse",
    "function_response",
    "response",
    "result",
];

/// Why a text is not changed.
#[derive(Debug, thiserror::Error)]
pub enum NotChanged {
    #[error("it does not stand in the request as one text")]
    NotWhole,
    #[error("the request has no such place in a list of messages")]
    NoList,
    #[error("the endpoint keeps the conversation, so nothing can be put into it")]
    AtEndpoint,
    #[error("the request is no JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("the request is no UTF-8")]
    NotText(#[from] std::str::Utf8Error),
    #[error(transparent)]
    BadPlace(#[from] BadPlace),
}

/// Replaces texts of the conversation. Each change has the old text, the number of equal texts before it in the
/// conversation, and the new text.
///
/// # Errors
/// A text is missing, or is composed of several.
pub fn with_texts(body: &[u8], changes: &[(&str, usize, &str)]) -> Result<Vec<u8>, NotChanged> {
    let text = str::from_utf8(body)?;
    let mut texts = Vec::new();
    if let Some(fields) = JsonNode::of(text)?.fields() {
        PAST.iter().filter_map(|name| fields.get(name)).for_each(|part| walk(&part, &mut texts));
    }
    let place = |(old, before, new): &(&str, usize, &str)| {
        let mut equal = texts.iter().filter(|(_, text)| text == old);
        let (range, _) = equal.nth(*before).ok_or(NotChanged::NotWhole)?;
        Ok((range.clone(), serde_json::Value::from(*new).to_string()))
    };
    let places: Vec<_> = changes.iter().map(place).collect::<Result<_, NotChanged>>()?;
    let places: Vec<_> = places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
    Ok(patch(body, &places)?)
}

/// Collects the texts of a part of the conversation, in order, each with its place.
fn walk<'a>(part: &JsonNode<'a>, texts: &mut Vec<(Range<usize>, Cow<'a, str>)>) {
    if let Some(text) = part.string() {
        texts.push((part.range(), text));
    } else if let Some(items) = part.items() {
        items.iter().for_each(|item| walk(item, texts));
    } else if let Some(fields) = part.fields() {
        TEXT.iter().filter_map(|name| fields.get(name)).for_each(|part| walk(&part, texts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(body: &str, changes: &[(&str, usize, &str)]) -> Result<String, String> {
        let changed = with_texts(body.as_bytes(), changes).map_err(|why| why.to_string())?;
        Ok(String::from_utf8(changed).unwrap())
    }

    #[test]
    fn texts_are_changed_in_every_format_and_nothing_else() {
        for body in [
            r#"{"x":1.00,"messages":[{"role":"system","content":"Be \u0062rief."},{"content":[{"type":"text","text":"Hi"}]}]}"#,
            r#"{"system":[{"type":"text","text":"Be \u0062rief."}],"x":1.00,"messages":[{"content":[{"type":"tool_result","content":"Hi"}]}]}"#,
            r#"{"instructions":"Be \u0062rief.","input":"Hi","x":1.00}"#,
            r#"{"systemInstruction":{"parts":[{"text":"Be \u0062rief."}]},"x":1.00,"contents":[{"parts":[{"functionResponse":{"name":"t","response":{"result":"Hi"}}}]}]}"#,
            r#"{"system":"Be \u0062rief.","prompt":"Hi","x":1.00}"#,
            r#"{"instructions":"Be \u0062rief.","input":[{"type":"function_call_output","output":"Hi"}],"x":1.00}"#,
        ] {
            let expected = body.replace(r"Be \u0062rief.", r#"Be \"long\"."#).replace("Hi", "Ho");
            let changes = [("Be brief.", 0, "Be \"long\"."), ("Hi", 0, "Ho")];
            assert_eq!(changed(body, &changes), Ok(expected));
            assert_eq!(changed(body, &[]), Ok(body.to_owned()));
        }
    }

    #[test]
    fn of_equal_texts_the_one_in_its_place_is_changed() {
        let body = r#"{"tools":[{"text":"a"}],"messages":[{"content":"a"},{"content":"b"},{"content":"a"}]}"#;
        let last = body.replace(r#""a"}]}"#, r#""c"}]}"#).replace(r#""text":"c""#, r#""text":"a""#);
        assert_eq!(changed(body, &[("a", 1, "c")]), Ok(last));
        assert!(changed(body, &[("a", 2, "c")]).unwrap_err().contains("as one text"));
    }

    #[test]
    fn arguments_are_no_texts_of_the_conversation() {
        let body = r#"{"messages":[{"content":[{"type":"tool_use","input":{"text":"Hi"}}]}]}"#;
        assert!(changed(body, &[("Hi", 0, "Ho")]).is_err());
    }
}
