//! One line of a file of JSON lines, read field by field, so that an error says which field it is about.

use serde_json::{Map, Value};

use super::error::ImportError;
use crate::domain::ToolName;

/// The object that stands on a line.
pub(super) struct Record<'f> {
    file: &'f str,
    line: usize,
    fields: Map<String, Value>,
}

impl<'f> Record<'f> {
    /// The records of a file; blank lines are none.
    pub fn each(
        file: &'f str,
        text: &'f str,
    ) -> impl Iterator<Item = Result<Self, ImportError>> + 'f {
        text.lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(move |(at, line)| Self::parse(file, at + 1, line))
    }

    fn parse(file: &'f str, line: usize, text: &str) -> Result<Self, ImportError> {
        let at = |problem| ImportError::Line { file: file.to_owned(), line, problem };
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self { file, line, fields }),
            Ok(other) => Err(at(format!("expected an object, found {}", kind(&other)))),
            Err(error) => Err(at(format!("expected a JSON object: {error}"))),
        }
    }

    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    pub fn text(&self, field: &str) -> Result<&str, ImportError> {
        match self.get(field) {
            Some(Value::String(text)) => Ok(text),
            other => Err(self.expected(field, "text", other)),
        }
    }

    pub fn object(&self, field: &str) -> Result<&Map<String, Value>, ImportError> {
        match self.get(field) {
            Some(Value::Object(object)) => Ok(object),
            other => Err(self.expected(field, "an object", other)),
        }
    }

    pub fn list(&self, field: &str) -> Result<&[Value], ImportError> {
        match self.get(field) {
            Some(Value::Array(list)) => Ok(list),
            other => Err(self.expected(field, "a list", other)),
        }
    }

    /// A value of this record as the name of a tool.
    pub fn tool(&self, field: &str, value: Option<&Value>) -> Result<ToolName, ImportError> {
        const EXPECTED: &str = "a tool's name (text, but not \"\", \"start\" or \"end\")";
        match value {
            Some(Value::String(name)) if !name.is_empty() && !ToolName::new(name).is_special() => {
                Ok(ToolName::new(name))
            }
            Some(Value::String(name)) => {
                Err(self.problem(field, format!("expected {EXPECTED}, found {name:?}")))
            }
            other => Err(self.expected(field, EXPECTED, other)),
        }
    }

    pub fn expected(&self, field: &str, expected: &str, found: Option<&Value>) -> ImportError {
        let found = found.map_or("nothing", kind);
        self.problem(field, format!("expected {expected}, found {found}"))
    }

    pub fn problem(&self, field: &str, problem: String) -> ImportError {
        let problem = format!("{field}: {problem}");
        ImportError::Line { file: self.file.to_owned(), line: self.line, problem }
    }
}

/// What a value is, in the words of JSON.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
