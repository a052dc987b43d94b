//! The rows of a question set, one by one, in any format.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::{Map, Value};

use super::{json, tables};
use crate::files::toml_file::{Problem, Problems};

/// Bytes that are enough to recognise a format.
const HEAD: u64 = 1 << 20;

/// The byte order mark, which some tools write before the text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A row: its fields by the names of their columns.
pub struct QuestionRow {
    /// Line on which the row begins, from 1.
    pub line: usize,
    pub fields: Map<String, Value>,
}

/// The handler of each row. A problem ends the import.
pub type Take<'t> = dyn FnMut(QuestionRow) -> Result<(), Problems> + 't;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuestionFormat {
    /// Values between this separator, with the names of columns in the first row.
    Table(u8),
    Lines,
    Document,
}

/// Reads all rows.
///
/// # Errors
/// The file cannot be read, has an unknown format, or a row is not in its format.
pub fn each(path: &Path, take: &mut Take<'_>) -> Result<(), Problems> {
    let file = path.display().to_string();
    let of_file = |error: io::Error| Problem::of_file(&file, format!("cannot be read: {error}"));
    if path.is_dir() {
        let text = "a folder; expected a file in CSV, JSON lines or JSON";
        return Err(Problem::of_file(&file, text).into());
    }
    let mut opened = File::open(path).map_err(of_file)?;
    let mut head = Vec::new();
    opened.by_ref().take(HEAD).read_to_end(&mut head).map_err(of_file)?;
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
    let format = format(&file, path, text)?;
    let start = (head.len() - text.len()) as u64;
    opened.seek(SeekFrom::Start(start)).map_err(of_file)?;
    let reader = BufReader::with_capacity(1 << 16, opened);
    match format {
        QuestionFormat::Table(separator) => tables::each(&file, reader, separator, take),
        QuestionFormat::Lines => json::each_line(&file, reader, take),
        QuestionFormat::Document => json::each_of_document(&file, reader, take),
    }
}

fn format(file: &str, path: &Path, head: &[u8]) -> Result<QuestionFormat, Problem> {
    if let Some((what, advice)) = packed(head) {
        return Err(Problem::of_file(file, format!("{what}; {advice}")));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match (ending.to_ascii_lowercase().as_str(), first) {
        ("jsonl" | "ndjson", _) => Ok(QuestionFormat::Lines),
        (_, Some(b'[')) => Ok(QuestionFormat::Document),
        (_, Some(b'{')) => {
            Ok(if has_lines(head) { QuestionFormat::Lines } else { QuestionFormat::Document })
        }
        ("tsv", _) => Ok(QuestionFormat::Table(b'\t')),
        ("csv" | "txt" | "", _) => Ok(QuestionFormat::Table(separator(head))),
        _ => {
            let text = "unknown format; expected CSV, TSV, JSON lines or JSON, with a file name that \
                        ends in .csv, .tsv, .jsonl or .json";
            Err(Problem::of_file(file, text))
        }
    }
}

/// Formats that are recognised by their first bytes, but not read.
fn packed(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let known: [(&[u8], &str, &str); 5] = [
        (
            b"PAR1",
            "a Parquet file",
            "convert it first, such as with: duckdb -c \"COPY (FROM 'set.parquet') TO 'set.jsonl' (FORMAT json)\"",
        ),
        (b"PK\x03\x04", "a ZIP archive", "unpack it first"),
        (b"\x1f\x8b", "a gzip file", "unpack it first: gunzip FILE"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it first: unzstd FILE"),
        (b"ARROW1", "an Arrow file", "convert it to JSON lines or CSV first"),
    ];
    let found = known.into_iter().find(|(magic, ..)| head.starts_with(magic));
    found.map(|(_, what, advice)| (what, advice))
}

/// Whether the first line is a whole object and another line follows.
fn has_lines(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_object = |line: &[u8]| serde_json::from_slice::<Map<String, Value>>(line).is_ok();
    lines.next().is_some_and(is_object) && lines.next().is_some()
}

/// The separator: a comma, unless the first line has none and another separator.
fn separator(head: &[u8]) -> u8 {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let others = [b',', b'\t', b';'];
    others.into_iter().find(|separator| line.contains(separator)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_content_before_the_name() {
        let of = |name: &str, head: &str| format("f", Path::new(name), head.as_bytes());
        assert_eq!(of("a.json", "[{}]").unwrap(), QuestionFormat::Document);
        assert_eq!(of("a.json", "{\"a\":1}\n{\"a\":2}").unwrap(), QuestionFormat::Lines);
        assert_eq!(of("a.json", "{\"data\":\n[]}").unwrap(), QuestionFormat::Document);
        assert_eq!(of("a.jsonl", "").unwrap(), QuestionFormat::Lines);
        assert_eq!(of("a.csv", "a;b\n1;2").unwrap(), QuestionFormat::Table(b';'));
        assert_eq!(of("a.tsv", "a,b").unwrap(), QuestionFormat::Table(b'\t'));
        for (head, says) in
            [("PAR1…", "a Parquet file; convert it"), ("PK\u{3}\u{4}", "a ZIP archive")]
        {
            assert!(of("a.csv", head).unwrap_err().text.starts_with(says));
        }
        assert!(of("a.xlsx", "x").unwrap_err().text.starts_with("unknown format"));
    }
}
