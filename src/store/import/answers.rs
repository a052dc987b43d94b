//! The recorded answers of one tool, and everything else that its calls tell about it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::dialogue::Call;
use crate::domain::chance::canonical;

/// All calls of one tool in all dialogues, in their order.
#[derive(Default)]
pub(super) struct Answers<'a> {
    calls: Vec<&'a Call>,
}

impl<'a> Answers<'a> {
    pub fn push(&mut self, call: &'a Call) {
        self.calls.push(call);
    }

    pub fn arguments(&self) -> Vec<&'a Map<String, Value>> {
        self.calls.iter().map(|call| &call.arguments).collect()
    }

    /// The table of a recorded tool, a line per call. Where the same arguments had two different
    /// answers, which a table cannot give, the first stays.
    pub fn to_lines(&self) -> String {
        let mut seen = HashSet::new();
        let mut lines = String::new();
        for call in &self.calls {
            let arguments = Value::Object(call.arguments.clone());
            if !seen.insert(canonical(&arguments)) {
                continue;
            }
            let line = match &call.result {
                Ok(result) => json!({ "arguments": arguments, "result": result }),
                Err(error) => json!({ "arguments": arguments, "error": error }),
            };
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        lines
    }
}
