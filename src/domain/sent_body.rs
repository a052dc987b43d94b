//! A watched agent's own body, as it went to the endpoint.

use std::sync::Arc;

use memchr::{memchr, memchr2};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// A JSON document without spaces between its values. It stays text, since a long one takes several times as much memory
/// as a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentBody(Arc<RawValue>);

impl SentBody {
    /// The body with this text; `None` if it is not JSON.
    pub fn of(text: &str) -> Option<Self> {
        let body: &RawValue = serde_json::from_str(text).ok()?;
        // Spaces are never at the end of a value.
        let body = RawValue::from_string(without_spaces(body.get())).ok()?;
        Some(Self(body.into()))
    }

    pub fn text(&self) -> &str {
        self.0.get()
    }
}

/// The same JSON without spaces between its values.
fn without_spaces(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(begin) = memchr(b'"', rest.as_bytes()) {
        compact.extend(rest[..begin].split_ascii_whitespace());
        let mut end = begin + 1;
        // A quote behind a backslash is in the text.
        while let Some(at) = memchr2(b'"', b'\\', &rest.as_bytes()[end..]) {
            let is_end = rest.as_bytes()[end + at] == b'"';
            end += at + if is_end { 1 } else { 2 };
            if is_end {
                break;
            }
        }
        compact.push_str(&rest[begin..end]);
        rest = &rest[end..];
    }
    compact.extend(rest.split_ascii_whitespace());
    compact
}

impl From<&Value> for SentBody {
    fn from(body: &Value) -> Self {
        // A value can always be written.
        Self::of(&body.to_string()).unwrap_or_else(|| Self(RawValue::NULL.to_owned().into()))
    }
}

impl PartialEq for SentBody {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Record;

    #[test]
    fn a_body_stays_as_it_was_written_but_for_spaces() {
        let text = r#"{"b":1.50,"a":[1e3,"\u00fc \\\" \\"],"b":[]}"#;
        let spaced =
            "\n{ \"b\" : 1.50 , \"a\":[1e3,\t\"\\u00fc \\\\\\\" \\\\\"],  \"b\":[\r\n] }\n";
        for written in [text, spaced] {
            assert_eq!(SentBody::of(written).unwrap().text(), text);
        }
        for other in ["{\"a\":1", "", "{} {}"] {
            assert_eq!(SentBody::of(other), None, "{other:?}");
        }
        let line = format!(
            r#"{{"n":1,"at":0,"kind":"ModelCallSent","data":{{"effect":{{"id":1,"class":"read"}},"body":{text}}}}}"#
        );
        let record = Record::read(line.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(SentBody::from(&value).text(), value.to_string());
    }
}
