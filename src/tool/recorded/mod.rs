//! Tools with recorded answers: a table of arguments → answer, read from JSON lines. Data sets are
//! used this way, and tools that are too expensive or too dangerous to call again.

mod similarity;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use self::similarity::{difference, key, likeness};
use crate::domain::words::clipped;
use crate::files::json_file;
use crate::files::toml_file::{Problem, Problems};
use crate::{ToolError, ToolErrorKind};

/// Tables by their files, so that tools with the same file share its records.
#[derive(Debug, Default)]
pub struct RecordedTables(Mutex<HashMap<PathBuf, RecordedTable>>);

impl RecordedTables {
    /// Like [`RecordedTable::load`], but reads a valid file once.
    ///
    /// # Errors
    /// As [`RecordedTable::load`]; `None` if there is no such file.
    pub fn load(&self, path: &Path) -> Result<Option<RecordedTable>, Problems> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = known().get(path) {
            return Ok(Some(table.clone()));
        }
        if !path.exists() {
            return Ok(None);
        }
        let table = RecordedTable::load(path)?;
        known().insert(path.to_owned(), table.clone());
        Ok(Some(table))
    }
}

/// Recorded calls of one tool. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTable {
    calls: Arc<RecordedCalls>,
    /// The answer if nothing is recorded; without it, a missing record is an error.
    pub otherwise: Option<String>,
}

#[derive(Debug, Default, PartialEq)]
struct RecordedCalls {
    /// The records in the order of the file, so that messages repeat.
    recorded: Vec<Recorded>,
    /// The index in `recorded`, by canonical arguments.
    by_arguments: HashMap<String, usize>,
}

#[derive(Debug, PartialEq)]
struct Recorded {
    line: usize,
    arguments: Value,
    answer: Result<String, String>,
}

const EXPECTED: &str = r#"{"arguments": {…}, "result": …} or {"arguments": {…}, "error": "…"}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Line")]
struct RecordedLine {
    arguments: Map<String, Value>,
    /// `null` is a valid answer, so it must not count as absent.
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<String>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl RecordedTable {
    /// Reads a file of lines `{"arguments": …, "result": …}` or `{"arguments": …, "error": TEXT}`.
    ///
    /// # Errors
    /// All invalid lines; an unreadable file.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Problem::of_file(&name, format!("cannot be read: {error}")))?;
        Self::parse(&name, &text)
    }

    /// Like [`RecordedTable::load`], from text in memory.
    ///
    /// # Errors
    /// All invalid lines.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let mut calls = RecordedCalls::default();
        let mut problems = Vec::new();
        for (number, line) in json_file::read_lines(name, text, EXPECTED) {
            let wrong = |(field, text): (&str, String)| Problem::of_line(name, number, field, text);
            if let Err(problem) = line.and_then(|line| calls.add(number, line).map_err(wrong)) {
                problems.push(problem);
            }
        }
        if problems.is_empty() {
            Ok(Self { calls: Arc::new(calls), otherwise: None })
        } else {
            Err(Problems(problems))
        }
    }

    /// The number of different arguments with an answer.
    pub fn len(&self) -> usize {
        self.calls.recorded.len()
    }

    pub fn is_empty(&self) -> bool {
        self.calls.recorded.is_empty()
    }

    /// The answer to these arguments; the order of keys does not matter, nor does `2.0` for `2`.
    ///
    /// # Errors
    /// The recorded error; [`ToolErrorKind::NotRecorded`] if nothing is recorded.
    pub fn answer(&self, arguments: &Value) -> Result<&str, ToolError> {
        match self.calls.by_arguments.get(&key(arguments)) {
            Some(at) => match &self.calls.recorded[*at].answer {
                Ok(text) => Ok(text),
                Err(text) => Err(ToolError::new(ToolErrorKind::Failed, text)),
            },
            None => self.otherwise.as_deref().ok_or_else(|| self.miss(arguments)),
        }
    }

    fn miss(&self, arguments: &Value) -> ToolError {
        let asked = clipped(&arguments.to_string(), 200);
        let mut text = format!("nothing is recorded for {asked}");
        match self.nearest(arguments) {
            None => text.push_str("; the table is empty"),
            Some(near) => {
                let recorded = clipped(&near.arguments.to_string(), 200);
                text.push_str(&format!("; the nearest (line {}) is {recorded}", near.line));
                if let Some(difference) = difference("arguments", arguments, &near.arguments) {
                    text.push_str(&format!("; first difference: {difference}"));
                }
            }
        }
        ToolError::new(ToolErrorKind::NotRecorded, text)
    }

    fn nearest(&self, arguments: &Value) -> Option<&Recorded> {
        // A missing record must be found at once even in a table of millions; a hint need not be the best one.
        const LOOKED_AT: usize = 5_000;
        self.calls
            .recorded
            .iter()
            .take(LOOKED_AT)
            .map(|recorded| (likeness(arguments, &recorded.arguments), recorded))
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, recorded)| recorded)
    }
}

impl RecordedCalls {
    fn add(&mut self, number: usize, line: RecordedLine) -> Result<(), (&'static str, String)> {
        let RecordedLine { arguments, result, error } = line;
        let arguments = Value::Object(arguments);
        let answer = match (result, error) {
            (Some(Value::String(text)), None) => Ok(text),
            (Some(value), None) => Ok(value.to_string()),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) => {
                return Err(("error", "give `result` or `error`, not both".into()));
            }
            (None, None) => return Err(("result", format!("missing; expected {EXPECTED}"))),
        };
        let key = key(&arguments);
        match self.by_arguments.get(&key).map(|at| &self.recorded[*at]) {
            Some(earlier) if earlier.answer == answer => Ok(()),
            Some(earlier) => Err((
                "arguments",
                format!(
                    "line {} has another answer to the same arguments; keep one of them",
                    earlier.line
                ),
            )),
            None => {
                self.by_arguments.insert(key, self.recorded.len());
                self.recorded.push(Recorded { line: number, arguments, answer });
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LINES: &str = r#"
{"arguments":{"city":"Lyon","days":2},"result":"sunny"}
{"arguments":{"city":"Paris","days":2},"result":{"sky":"grey"}}
{"arguments":{"city":"Here","days":1},"result":null}
{"arguments":{"city":"Nowhere","days":1},"error":"no such city"}
"#;

    fn table() -> RecordedTable {
        RecordedTable::parse("t.jsonl", LINES).unwrap()
    }

    #[test]
    fn the_order_of_keys_and_the_writing_of_whole_numbers_do_not_matter() {
        let table = table();
        assert_eq!(table.answer(&json!({ "days": 2.0, "city": "Lyon" })), Ok("sunny"));
        assert_eq!(table.answer(&json!({ "city": "Paris", "days": 2 })), Ok(r#"{"sky":"grey"}"#));
        assert_eq!(table.answer(&json!({ "city": "Here", "days": 1 })), Ok("null"));
        let error = table.answer(&json!({ "city": "Nowhere", "days": 1 })).unwrap_err();
        assert_eq!(error, ToolError::new(ToolErrorKind::Failed, "no such city"));
    }

    #[test]
    fn a_miss_names_the_nearest_and_where_it_differs() {
        let error = table().answer(&json!({ "city": "Pariss", "days": 2 })).unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::NotRecorded);
        assert_eq!(
            error.text,
            "nothing is recorded for {\"city\":\"Pariss\",\"days\":2}; the nearest (line 3) is \
             {\"city\":\"Paris\",\"days\":2}; first difference: arguments.city: asked \"Pariss\", \
             recorded \"Paris\""
        );
        let error = table().answer(&json!({ "city": "Lyon" })).unwrap_err();
        assert!(error.text.ends_with("arguments.days is missing"), "{}", error.text);
    }

    #[test]
    fn otherwise_answers_every_miss() {
        let table = RecordedTable { otherwise: Some("none".into()), ..table() };
        assert_eq!(table.answer(&json!({ "city": "Oslo" })), Ok("none"));
    }

    #[test]
    fn every_bad_line_is_named() {
        let text = "{\"arguments\":{},\"result\":1}\nnot json\n{\"arguments\":3,\"result\":1}\n\
                    {\"arguments\":{}}\n{\"arguments\":{},\"result\":2}\n{\"argument\":{}}";
        let problems = RecordedTable::parse("t.jsonl", text).unwrap_err().0;
        let lines: Vec<_> = problems.iter().filter_map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6]);
        assert_eq!(
            problems[3].to_string(),
            "t.jsonl:5: arguments: line 1 has another answer to the same arguments; keep one of them"
        );
    }
}
