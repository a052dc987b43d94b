//! A past use of a tool, and the part of it that is stored.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::error::ExperienceError;
use crate::domain::ToolName;

/// The longest stored query, in bytes; a longer one is cut to its beginning.
pub const MAX_QUERY: usize = 8 * 1024;
/// The longest stored parameters, in bytes of JSON; longer ones are cut to their beginning, as a
/// text.
pub const MAX_PARAMETERS: usize = 4 * 1024;
/// The longest stored result, in bytes; a longer one is cut to its beginning.
pub const MAX_RESULT: usize = 4 * 1024;
/// The longest name of a tool or a source, in bytes.
pub const MAX_NAME: usize = 256;

/// A use of a tool for a query, and whether it helped: ⟨q, t, p, r, score⟩ of BTP, section 2.2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Use {
    /// The text of the task. White space around it does not count.
    pub query: String,
    pub tool: ToolName,
    pub parameters: Value,
    pub result: String,
    /// Whether the result helped with the query.
    pub helpful: bool,
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// The origin of the use: a session, or an imported file.
    pub source: String,
}

fn as_text<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// The stored parts of a use.
pub(super) struct StoredUse<'u> {
    pub query: &'u str,
    pub tool: &'u str,
    pub parameters: String,
    pub result: Cow<'u, str>,
    pub helpful: bool,
    pub at: i64,
    pub source: &'u str,
}

impl Use {
    /// The stored query, of a use that can be stored.
    ///
    /// # Errors
    /// The query or the tool has no name, or a name is longer than [`MAX_NAME`].
    pub(super) fn check(&self) -> Result<&str, ExperienceError> {
        let bad = |field, why: String| ExperienceError::BadUse { field, why };
        let query = identity(&self.query);
        if query.is_empty() {
            return Err(bad("query", "expected a text, found an empty one".to_owned()));
        }
        let tool = self.tool.as_str();
        if tool.is_empty() || self.tool.is_special() {
            let why = format!("expected a tool's name (not \"start\" or \"end\"), found {tool:?}");
            return Err(bad("tool", why));
        }
        for (field, name) in [("tool", tool), ("source", &self.source)] {
            if name.len() > MAX_NAME {
                let why = format!("longer than {MAX_NAME} bytes");
                return Err(bad(field, why));
            }
        }
        Ok(query)
    }

    /// The parts to store.
    ///
    /// # Errors
    /// As [`Use::check`].
    pub(super) fn kept(&self) -> Result<StoredUse<'_>, ExperienceError> {
        Ok(StoredUse {
            query: self.check()?,
            tool: self.tool.as_str(),
            parameters: kept_parameters(&self.parameters),
            result: kept_text(&self.result, MAX_RESULT),
            helpful: self.helpful,
            at: self.at.as_millisecond(),
            source: &self.source,
        })
    }
}

/// The identity of a query.
pub(super) fn identity(query: &str) -> &str {
    let query = query.trim();
    query[..query.floor_char_boundary(MAX_QUERY)].trim_end()
}

fn kept_parameters(parameters: &Value) -> String {
    let text = parameters.to_string();
    if text.len() <= MAX_PARAMETERS {
        return text;
    }
    // Quotes and escapes make it longer again, at most twice: of JSON, only `"` and `\\` need
    // escaping.
    Value::from(kept_text(&text, MAX_PARAMETERS / 2 - 1)).to_string()
}

fn kept_text(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most - '…'.len_utf8());
    Cow::Owned(format!("{}…", &text[..end]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn long(parameters: Value, result: &str) -> Use {
        Use {
            query: format!("  {}\n", "ä".repeat(MAX_QUERY)),
            tool: "t".into(),
            parameters,
            result: result.to_owned(),
            helpful: true,
            at: Timestamp::UNIX_EPOCH,
            source: String::new(),
        }
    }

    #[test]
    fn what_is_long_is_cut_and_what_was_cut_is_not_cut_again() {
        let hostile = json!({ "text": "\"\\\u{1}é".repeat(5_000) });
        let long = long(hostile, &"é\u{1b}[31m".repeat(5_000));
        let kept = long.kept().unwrap();
        assert!(kept.query.len() <= MAX_QUERY && kept.query.starts_with('ä'));
        assert!(kept.parameters.len() <= MAX_PARAMETERS, "{}", kept.parameters.len());
        assert!(kept.result.len() <= MAX_RESULT && kept.result.ends_with('…'));
        let again = Use {
            query: kept.query.to_owned(),
            parameters: serde_json::from_str(&kept.parameters).unwrap(),
            result: kept.result.to_string(),
            ..long.clone()
        };
        let twice = again.kept().unwrap();
        assert_eq!((twice.query, &twice.parameters), (kept.query, &kept.parameters));
        assert_eq!(twice.result, kept.result);
    }

    #[test]
    fn nobodys_use_of_nothing_is_refused() {
        let good = Use { query: "q".into(), ..long(json!({}), "r") };
        assert!(good.kept().is_ok());
        for (bad, says) in [
            (Use { query: " \n".into(), ..good.clone() }, "query: expected a text"),
            (Use { tool: "".into(), ..good.clone() }, "tool: expected a tool's name"),
            (Use { tool: "start".into(), ..good.clone() }, "tool: expected a tool's name"),
            (Use { tool: "x".repeat(257).into(), ..good.clone() }, "tool: longer than 256"),
            (Use { source: "x".repeat(257), ..good.clone() }, "source: longer than 256"),
        ] {
            let Err(error) = bad.kept() else { panic!("{bad:?} was taken") };
            assert!(error.to_string().starts_with(says), "{error}");
        }
    }
}
