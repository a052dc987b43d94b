//! A request that an endpoint refused: the fields that its answer names, and its texts. The wire decides what to do.

use serde_json::{Deserializer, Value};

/// The deepest nesting of errors. Routers wrap providers' errors as text, some twice.
const DEEPEST: usize = 12;
/// The most fields and texts that are read from one answer.
const MOST: usize = 64;

/// Why a request was refused.
#[derive(Debug, Default)]
pub struct RequestRefusal {
    /// The whole error, for people.
    pub told: String,
    /// The fields that the answer names outside its texts.
    pub fields: Vec<RefusedField>,
    pub texts: Vec<String>,
}

/// A field that an answer names.
#[derive(Debug, PartialEq, Eq)]
pub struct RefusedField {
    /// The path of the field in the request, such as `messages`, `0`, `name`.
    pub path: Vec<String>,
    /// The reason that the answer gives with the field; may be empty.
    pub why: String,
}

/// A new request in place of a refused one.
#[derive(Debug)]
pub struct Amended {
    pub body: String,
    /// A notice about the change, for people.
    pub notice: Option<String>,
}

impl RequestRefusal {
    /// Reads an answer with this status; `None` if the status is not about the request's fields.
    pub(super) fn of(status: u16, body: &[u8]) -> Option<Self> {
        // Some servers use these for a field that they do not implement.
        if !matches!(status, 400 | 404 | 405 | 422 | 501) {
            return None;
        }
        let mut refused = Self::default();
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => refused.read(&value, 0),
            Err(_) => refused.text(&String::from_utf8_lossy(body), 0),
        }
        Some(refused)
    }

    /// The error of the request, for people.
    pub fn told(&self) -> &str {
        self.told.trim_end_matches('.')
    }

    fn read(&mut self, value: &Value, depth: usize) {
        if depth > DEEPEST || self.texts.len() + self.fields.len() > MOST {
            return;
        }
        match value {
            Value::Object(fields) => {
                self.fields.extend(named(value));
                fields.values().for_each(|value| self.read(value, depth + 1));
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item, depth + 1)),
            Value::String(text) => self.text(text, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Reads a text, and an error in JSON that it may contain.
    fn text(&mut self, text: &str, depth: usize) {
        self.texts.push(text.to_owned());
        let inside = text.find('{').and_then(|at| {
            let mut values = Deserializer::from_str(&text[at..]).into_iter::<Value>();
            values.next()?.ok()
        });
        if let Some(value) = inside {
            self.read(&value, depth + 1);
        }
    }
}

/// The field that an object of an error is about: `param` (OpenAI), `loc` (FastAPI), `field` (Google).
fn named(object: &Value) -> Option<RefusedField> {
    let path: Vec<String> = match (&object["param"], &object["loc"], &object["field"]) {
        (Value::String(path), ..) | (_, _, Value::String(path)) => {
            let parts = path.split(['.', '[', ']', '/', '\'', '"']);
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        (_, Value::Array(parts), _) => {
            let part = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
            parts.iter().map(part).collect()
        }
        _ => return None,
    };
    let path: Vec<String> = path.into_iter().skip_while(|part| part == "body").collect();
    let why = ["code", "type", "message", "msg", "description"];
    let why: Vec<&str> = why.iter().filter_map(|name| object[*name].as_str()).collect();
    (!path.is_empty()).then(|| RefusedField { path, why: why.join(" ") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(body: &Value) -> Vec<String> {
        let refused = RequestRefusal::of(400, body.to_string().as_bytes()).unwrap();
        refused.fields.iter().map(|field| field.path.join(".")).collect()
    }

    #[test]
    fn fields_are_found_in_every_form() {
        let openai = json!({"error": {"message": "no", "param": "stream_options.include_usage"}});
        assert_eq!(paths(&openai), ["stream_options.include_usage"]);
        let item = json!({"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"});
        let mistral = json!({"object": "error", "message": {"detail": [item]}});
        assert_eq!(paths(&mistral), ["seed"]);
        let raw = format!("litellm.BadRequestError: {mistral} and more");
        assert_eq!(paths(&json!({"error": {"metadata": {"raw": raw}}})), ["seed"]);
        let google = json!([{"error": {"details": [{"fieldViolations": [
            {"field": "messages[0].name", "description": "no"}]}]}}]);
        assert_eq!(paths(&google), ["messages.0.name"]);
        assert_eq!(paths(&json!({"error": {"message": "no", "param": null}})), [""; 0]);
    }

    #[test]
    fn only_what_speaks_of_a_request_is_read() {
        for status in [401, 403, 413, 429, 500, 503] {
            assert!(RequestRefusal::of(status, b"{}").is_none(), "{status}");
        }
        let page = RequestRefusal::of(400, b"plain text").unwrap();
        assert_eq!((page.texts, page.fields), (vec!["plain text".to_owned()], vec![]));
    }
}
