//! Parses JSON that people write or edit, with errors that name line and field besides the parser's problem.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::event::read_json;
use crate::domain::json_place::{bare, path_of_value};
use crate::text_file::without_mark;
use crate::toml_file::Problem;

/// Reads a whole file's text.
///
/// # Errors
/// The first fault. `expected` describes the right content.
pub fn read<T: DeserializeOwned>(file: &str, text: &str, expected: &str) -> Result<T, Problem> {
    read_line(file, 1, text, expected)
}

/// Reads a part of a text that was read before.
///
/// # Errors
/// The first fault, with its field.
pub fn read_part<T: DeserializeOwned>(part: Value) -> Result<T, String> {
    read_value(part).map_err(
        |(field, text)| {
            if field.is_empty() { text } else { format!("{field}: {text}") }
        },
    )
}

/// As [`read_part`], with field and fault apart. The value becomes a text again, so that each type is compiled for one
/// reader.
///
/// # Errors
/// The field of the first fault, empty for the whole value, and the fault.
pub fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, (String, String)> {
    parse(&value.to_string()).map_err(|fault| (fault.field, fault.text))
}

/// Reads one line of a file of JSON lines; `line` counts from 1.
///
/// # Errors
/// As [`read`].
pub fn read_line<T: DeserializeOwned>(
    file: &str,
    line: usize,
    text: &str,
    expected: &str,
) -> Result<T, Problem> {
    let text = if line == 1 { without_mark(text) } else { text };
    parse(text).map_err(|fault| fault.in_file(file, line, expected))
}

/// Reads all lines of a file of JSON lines, each with its number; blank ones are skipped.
pub fn read_lines<T: DeserializeOwned>(
    file: &str,
    text: &str,
    expected: &str,
) -> impl Iterator<Item = (usize, Result<T, Problem>)> {
    let lines = (1..).zip(without_mark(text).lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(move |(number, line)| (number, read_line(file, number, line, expected)))
}

/// A fault in a text.
struct JsonFault {
    /// The line in the text, from 1.
    line: usize,
    column: usize,
    field: String,
    text: String,
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, JsonFault> {
    read_json(text).map_err(|error| {
        // Invalid JSON has no fields.
        let read = |text: &str| read_json::<T>(text).map(drop);
        let field = if error.is_data() { path_of_value(text, &error, read) } else { String::new() };
        JsonFault { line: error.line(), column: error.column(), field, text: bare(&error) }
    })
}

impl JsonFault {
    /// The problem of a text that begins on this line of its file.
    fn in_file(self, file: &str, first: usize, expected: &str) -> Problem {
        let Self { line, column, field, text } = self;
        Problem {
            file: file.to_owned(),
            line: Some(first + line.saturating_sub(1)),
            field,
            text: format!("{text} (column {column}); expected {expected}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn problem(text: &str) -> String {
        type Scores = BTreeMap<String, Vec<f64>>;
        read::<Scores>("s.json", text, "{\"TOOL\": [NUMBER…]}").unwrap_err().to_string()
    }

    #[test]
    fn says_file_line_field_and_what_was_expected() {
        for (text, begins) in [
            (
                "{\n\"a\": [1, \"x\"]}",
                "s.json:2: a[1]: invalid type: string \"x\", expected f64 (col",
            ),
            ("{\n\"a\": [1,\n", "s.json:3: EOF while parsing"),
            ("{} {}", "s.json:1: trailing characters (column 4)"),
            ("[]", "s.json:1: invalid type: sequence, expected a map"),
            ("", "s.json:1: EOF while parsing a value"),
        ] {
            let problem = problem(text);
            assert!(problem.starts_with(begins), "{problem}\nnot {begins}");
            assert!(problem.ends_with("; expected {\"TOOL\": [NUMBER…]}"), "{problem}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_beginning_alone() {
        assert_eq!(read::<Vec<u8>>("s.json", "\u{feff}[1]", "bytes").unwrap(), [1]);
        let lines = |text: &str| {
            let read = read_lines::<Vec<u8>>("t.jsonl", text, "bytes");
            read.map(|(line, read)| (line, read.ok())).collect::<Vec<_>>()
        };
        let lines = lines("\u{feff}\n[1]\n\u{feff}[2]\n");
        assert_eq!(lines, [(2, Some(vec![1])), (3, None)]);
        assert_eq!(read_line::<Vec<u8>>("t.jsonl", 1, "\u{feff}[3]", "bytes").unwrap(), [3]);
    }

    #[test]
    fn a_part_says_its_field() {
        let problem = |part| read_part::<BTreeMap<String, Vec<f64>>>(part).unwrap_err();
        let text = problem(serde_json::json!({"a": [1, "x"]}));
        assert_eq!(text, "a[1]: invalid type: string \"x\", expected f64");
        assert_eq!(problem(7.into()), "invalid type: integer `7`, expected a map");
    }

    #[test]
    fn a_line_of_a_file_keeps_its_number() {
        let problem = read_line::<Vec<u8>>("t.jsonl", 7, "[1, 2, 300]", "bytes").unwrap_err();
        assert_eq!((problem.line, problem.field.as_str()), (Some(7), "[2]"));
    }
}
