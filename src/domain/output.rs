//! The output of a tool, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::finite::Finite;

/// Characters of a result in which [`ToolOutput::says_error`] looks for the fields of an object.
const HEAD: usize = 400;
/// Beginnings of values that are no error.
const EMPTY: [&str; 6] = ["null", "false", "\"\"", "0", "[]", "{}"];

/// Progress of a call, as its tool reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    pub done: Finite,
    /// Value of `done` at the end; `None`: the tool does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Finite>,
    /// For people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Output of a tool call for the agent. Its producer bounds the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// Number of bytes that the tool returned in all, if `text` is only their beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
    /// The whole result in the tool protocol's own form, where `text` does not say all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Arc<str>>,
}

impl ToolOutput {
    /// An output that is this text.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), cut_from: None, whole: None }
    }

    /// Whether the text plainly says that the tool failed, though the call did not. This is a heuristic over the
    /// beginning of the text: the word `Error` or `error:`, a Python traceback, an object whose first field is a filled
    /// `error`, or one with `"isError": true`.
    pub fn says_error(&self) -> bool {
        let start = self.text.trim_start();
        if start.starts_with("Traceback (") {
            return true;
        }
        if let Some((word, rest)) = start.split_at_checked("error".len())
            && word.eq_ignore_ascii_case("error")
        {
            return rest.trim_start().starts_with(':')
                || (word != "error"
                    && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        }
        let head = start.chars().take(HEAD).filter(|c| !c.is_whitespace());
        let head: String = if start.starts_with('{') { head.collect() } else { return false };
        let error = head.strip_prefix("{\"error\":");
        let is_empty = |it: &str| EMPTY.iter().any(|empty| it.starts_with(empty));
        error.is_some_and(|it| !is_empty(it)) || head.contains("\"isError\":true")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_begins_with_an_error_says_one() {
        for text in [
            "Error: no such city",
            "  ERROR 503",
            "error : x",
            "Error executing tool search: timeout",
            "Error",
            "Traceback (most recent call last):\n  File",
            "{\"error\": \"quota\"}",
            "{ \"error\" : {\"code\": 1}}",
            "{\"content\": [], \"isError\": true}",
        ] {
            assert!(ToolOutput::of(text).says_error(), "{text}");
        }
        for text in [
            "",
            "27 degrees",
            "Errors fell",
            "error rates fell",
            "errors: 0",
            "No error: fine",
            "{\"error\": null, \"x\": 1}",
            "{\"error\":\"\"}",
            "{\"error\": false}",
            "{\"isError\": false}",
            "é",
            "erroé",
        ] {
            assert!(!ToolOutput::of(text).says_error(), "{text}");
        }
        assert!(!ToolOutput::of("{".repeat(1 << 20)).says_error());
    }
}
