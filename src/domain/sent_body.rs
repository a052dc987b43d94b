//! A foreign agent's own body, as it went to the endpoint.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// A JSON document in one line. It stays text, since a long one takes several times as much memory as a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SentBody(Arc<RawValue>);

impl SentBody {
    /// The body with this text; `None` if it is not one line of JSON.
    pub fn of(text: &str) -> Option<Self> {
        let text = Some(text).filter(|text| !text.contains(['\n', '\r']))?;
        let body: Box<RawValue> = serde_json::from_str(text).ok()?;
        Some(Self(body.into()))
    }

    pub fn text(&self) -> &str {
        self.0.get()
    }
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
    fn a_body_stays_as_it_was_written() {
        let text = r#"{"b": 1.50, "a":[1e3,"\u00fc"],  "b":2}"#;
        let body = SentBody::of(text).unwrap();
        assert_eq!(body.text(), text);
        for other in ["{\"a\":\n1}", "{\"a\":1", ""] {
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
