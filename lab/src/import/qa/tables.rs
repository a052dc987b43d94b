//! Rows of CSV and TSV.

use std::io::BufRead;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use serde_json::{Map, Value};

use super::bounded::Bounded;
use super::rows::{QuestionRow, Take};
use crate::files::toml_file::{Problem, Problems};

pub fn each(
    file: &str,
    reader: impl BufRead,
    separator: u8,
    take: &mut Take<'_>,
) -> Result<(), Problems> {
    let (reader, meter) = Bounded::new(reader);
    let mut rows = ReaderBuilder::new().delimiter(separator).from_reader(reader);
    let header = rows.byte_headers().map_err(|error| problem(file, 1, &error))?.clone();
    let names = texts(file, 1, &[], &header)?;
    if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        let text = "two columns have this name; rename one of them";
        return Err(Problem::of_line(file, 1, twice.1, text).into());
    }
    let mut record = ByteRecord::new();
    loop {
        meter.next_row();
        let next = usize::try_from(rows.position().line()).unwrap_or(usize::MAX);
        let more = rows.read_byte_record(&mut record);
        let more = more.map_err(|error| problem(file, next, &error))?;
        if !more {
            return Ok(());
        }
        let line = record.position().map_or(0, |position| position.line());
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let values = texts(file, line, &names, &record)?.into_iter().map(Value::String);
        let fields: Map<String, Value> = names.iter().cloned().zip(values).collect();
        take(QuestionRow { line, fields })?;
    }
}

/// The values as text; `names` are those of their columns.
fn texts(
    file: &str,
    line: usize,
    names: &[String],
    record: &ByteRecord,
) -> Result<Vec<String>, Problem> {
    let text = |(at, value): (usize, &[u8])| {
        std::str::from_utf8(value).map(str::to_owned).map_err(|error| {
            let before = &value[..error.valid_up_to()];
            let line = line + before.iter().filter(|byte| **byte == b'\n').count();
            let name = names.get(at).cloned().unwrap_or_default();
            Problem::of_line(file, line, name, "not UTF-8; save the file as UTF-8")
        })
    };
    record.iter().enumerate().map(text).collect()
}

/// The problem of a row that cannot be read; `next` is the line where it begins.
fn problem(file: &str, next: usize, error: &csv::Error) -> Problem {
    let line = |position: &Option<csv::Position>| {
        position.as_ref().and_then(|position| usize::try_from(position.line()).ok())
    };
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => Problem {
            line: line(pos),
            ..Problem::of_file(
                file,
                format!(
                    "{len} values, expected {expected_len} as in the first line; put a value with a \
                     separator or a line break in quotes"
                ),
            )
        },
        ErrorKind::Io(error) => {
            Problem::of_line(file, next, "", format!("cannot be read: {error}"))
        }
        _ => Problem {
            line: line(&error.position().cloned()),
            ..Problem::of_file(file, error.to_string())
        },
    }
}
