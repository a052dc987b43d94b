//! Details of an endpoint's error, which can have many forms.

use serde_json::Value;

use crate::wire::sse::{Event, Parser};
use crate::wire::{json, pieces};

/// The fields that may hold a message, the most exact first.
const MESSAGES: [&str; 12] = [
    "message",
    "detail",
    "error",
    "errors",
    "msg",
    "error_message",
    "errorMessage",
    "error_msg",
    "status_msg",
    "Message",
    "reason",
    "title",
];
/// How deep messages are nested, as in a list of `detail` in a `message` in an `error`.
const DEEPEST: usize = 6;

/// An endpoint's error.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Detail {
    pub message: String,
    /// Whether the endpoint gave a message, rather than only the JSON of the error.
    pub is_said: bool,
    /// `code`, `type` and the like, in lower case.
    pub words: String,
    /// A status code in the body, as errors in a stream have it.
    pub status: Option<u16>,
    /// The body itself.
    pub body: Value,
}

impl Detail {
    /// Reads the body of a refusal.
    pub fn read(body: &[u8]) -> Self {
        let event = event(body);
        let body = event.as_ref().map_or(body, |event| event.data.as_bytes());
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = json::read(body) {
            return Self::of(&value);
        }
        let text = pieces::joined(&pieces::text_of(body)).into_owned();
        let message = html_title(&text).unwrap_or(text);
        Self { message, is_said: true, ..Self::default() }
    }

    /// Reads a document, or a part of one, that reports an error.
    pub fn of(body: &Value) -> Self {
        // Google wraps its error in a list.
        let body = body.get(0).unwrap_or(body);
        let error = error(body);
        let said = message(error, DEEPEST).or_else(|| message(body, DEEPEST));
        let is_said = said.is_some();
        let is_empty = matches!(error, Value::Null | Value::Bool(_))
            || error.as_object().is_some_and(serde_json::Map::is_empty);
        let json = || if is_empty { String::new() } else { error.to_string() };
        let message = said.unwrap_or_else(json);
        // The provider's error behind a router is more specific than the router's "Provider returned error".
        let message = match error["metadata"]["raw"].as_str() {
            Some(raw) => format!("{message} ({raw})"),
            None => message,
        };
        let words = ["code", "type", "status", "error_code", "innererror"]
            .iter()
            .flat_map(|field| [&error[field], &body[field]])
            .flat_map(|word| [word, &word["code"]])
            .filter_map(Value::as_str);
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let codes = ["code", "status", "status_code", "statusCode", "http_status", "error_code"];
        let status = codes
            .iter()
            .flat_map(|field| [&error[field], &body[field]])
            .filter_map(number)
            .find(|status| (300..600).contains(status));
        let body = body.clone();
        Self { message, is_said, words: words.join(" "), status, body }
    }
}

/// The event that a body begins with: servers that only stream also send their refusals so.
fn event(body: &[u8]) -> Option<Event> {
    let body = body.trim_ascii_start();
    let is_stream = body.starts_with(b"data:") || body.starts_with(b"event:");
    let mut parser = Parser::default();
    let events = is_stream.then(|| parser.feed(body).ok())??;
    events.into_iter().chain(parser.finish()).next()
}

/// The part of a body that describes its error.
fn error(body: &Value) -> &Value {
    let is_part = |part: &&Value| part.is_object() || part.is_array() || part.is_string();
    let parts = ["error", "errors", "base_resp"].iter().filter_map(|field| body.get(field));
    let part = parts.filter(is_part).find(|part| !part.as_array().is_some_and(Vec::is_empty));
    let part = part.unwrap_or(body);
    part.get(0).filter(|first| first.is_object()).unwrap_or(part)
}

/// The text of a message, which may be nested.
fn message(value: &Value, deepest: usize) -> Option<String> {
    let deeper = deepest.checked_sub(1)?;
    match value {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        Value::Array(items) => {
            let all: Vec<String> = items.iter().filter_map(|item| message(item, deeper)).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Object(fields) => {
            let said = MESSAGES.iter().find_map(|field| message(fields.get(*field)?, deeper))?;
            // FastAPI lists the faults and their places.
            Some(match fields.get("loc").filter(|place| !place.is_null()) {
                Some(place) => format!("{place}: {said}"),
                None => said,
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A status, as a number or as a text.
fn number(value: &Value) -> Option<u16> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|code| u16::try_from(code).ok()),
    }
}

/// The title of a web page. Proxies and gateways answer with pages.
fn html_title(text: &str) -> Option<String> {
    let start = text.trim_start().get(..15)?.to_ascii_lowercase();
    if !start.starts_with("<!doctype html") && !start.starts_with("<html") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len());
    let title = title.and_then(|at| Some(&text[at..at + lower[at..].find("</title>")?]));
    Some(format!("a web page, {:?}", title.unwrap_or("without a title").trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::errors::is_error;

    #[test]
    fn the_message_is_found_in_every_shape() {
        for (body, expected) in [
            (r#"{"error":{"message":"a","code":"X"}}"#, "a"),
            (r#"{"error":"a"}"#, "a"),
            (r#"{"message":"a"}"#, "a"),
            (r#"{"error":true,"message":"a"}"#, "a"),
            (r#"{"error":{"code":400},"message":"a"}"#, "a"),
            (r#"[{"error":{"message":"a"}}]"#, "a"),
            (r#"{"detail":"a"}"#, "a"),
            (
                r#"{"detail":[{"loc":["body","n"],"msg":"a"},{"loc":null,"msg":"b"}]}"#,
                r#"["body","n"]: a; b"#,
            ),
            (
                r#"{"object":"error","message":{"detail":[{"type":"t","loc":["body","x","y"],"msg":"a"}]}}"#,
                r#"["body","x","y"]: a"#,
            ),
            (r#"{"error":{"message":"a","metadata":{"raw":"b"}}}"#, "a (b)"),
            (r#"{"success":false,"errors":[{"code":5006,"message":"a"}]}"#, "a"),
            (r#"{"base_resp":{"status_code":2013,"status_msg":"a"},"choices":null}"#, "a"),
            (r#"{"error":{"code":"x"}}"#, r#"{"code":"x"}"#),
            (r#"{"odd":"a"}"#, r#"{"odd":"a"}"#),
            ("{}", ""),
            ("plain", "plain"),
            ("data: {\"error\":{\"message\":\"a\"}}\n\ndata: [DONE]\n\n", "a"),
            ("event: error\ndata: {\"message\":\"a\"}", "a"),
            ("event: error\ndata: a b", "a b"),
        ] {
            assert_eq!(Detail::read(body.as_bytes()).message, expected, "{body}");
        }
        let deep = (0..100).fold("\"a\"".to_owned(), |inner, _| format!("{{\"error\":{inner}}}"));
        assert!(!Detail::read(deep.as_bytes()).is_said);
    }

    #[test]
    fn codes_and_status_are_found() {
        for (body, words, status) in [
            (r#"{"error":{"code":"Rate_Limit","type":"t"}}"#, "rate_limit t", None),
            (r#"{"error":{"code":429}}"#, "", Some(429)),
            (
                r#"{"object":"error","message":"m","type":"T","code":"500"}"#,
                "500 500 t t",
                Some(500),
            ),
            (r#"{"error":{"code":1302,"status":"X"}}"#, "x", None),
            (r#"{"error":{"code":null,"innererror":{"code":"In"}}}"#, "in", None),
        ] {
            let detail = Detail::read(body.as_bytes());
            assert_eq!((detail.words.as_str(), detail.status), (words, status), "{body}");
        }
    }

    #[test]
    fn answers_are_no_errors() {
        for body in [
            r#"{"choices":[],"error":null,"errors":[]}"#,
            r#"{"object":"chat.completion","base_resp":{"status_code":0,"status_msg":""}}"#,
            r#"{"error":""}"#,
            r#"{"error":{}}"#,
            r#"{"error":[],"choices":[{"delta":{},"error":{}}]}"#,
            "[]",
            "1",
        ] {
            assert!(!is_error(&serde_json::from_str(body).unwrap()), "{body}");
        }
        for body in [
            r#"{"error":{"code":1}}"#,
            r#"{"object":"error","message":"m"}"#,
            r#"{"type":"error"}"#,
            r#"[{"error":{"message":"m"}}]"#,
            r#"{"base_resp":{"status_code":1008,"status_msg":"m"}}"#,
            r#"{"errors":[{"message":"m"}]}"#,
        ] {
            assert!(is_error(&serde_json::from_str(body).unwrap()), "{body}");
        }
    }
}
