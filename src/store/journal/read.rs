//! A journal as it is found on a disk.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FORMAT, Header, JournalError, parts};
use crate::domain::Record;

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedJournal {
    pub header: Header,
    pub records: Vec<Record>,
    /// Bytes of a torn last line, which is left out.
    pub torn: usize,
}

/// Reads a journal line by line.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    lines: BufReader<File>,
    pub header: Header,
    line: Vec<u8>,
    /// The number of the last line that was read.
    number: usize,
    /// The number of the last event that was read.
    n: u64,
    parts: parts::Read,
    /// Bytes of a torn last line, which is left out.
    pub torn: usize,
}

impl Reader {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, or is no journal that this version knows.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let mut lines = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line).map_err(io)?;
        let begun = is_begun(&line);
        let header = match begun {
            true => {
                Header { toolyard_journal: FORMAT, program: String::new(), opened: String::new() }
            }
            false => parse_header(path, &line)?,
        };
        Ok(Self {
            path: path.to_owned(),
            lines,
            header,
            torn: if begun { line.len() } else { 0 },
            line,
            number: 1,
            n: 0,
            parts: parts::Read::default(),
        })
    }

    /// The next record; `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, JournalError> {
        self.line.clear();
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        if self.torn > 0 || self.lines.read_until(b'\n', &mut self.line).map_err(io)? == 0 {
            return Ok(None);
        }
        if self.line.last() != Some(&b'\n') {
            self.torn = self.line.len();
            return Ok(None);
        }
        self.number += 1;
        let (line, n) = (self.number, self.n + 1);
        let bad = |why| JournalError::BadLine { path: self.path.clone(), line, n, why };
        // A line of format 1 is whole, and what looks like a part there is none.
        let record = match self.header.toolyard_journal {
            1 => Record::read(&self.line),
            _ => self.parts.whole(&self.line).and_then(|line| Record::read(&line)),
        };
        let record = record.map_err(bad)?;
        if record.n != n {
            return Err(bad(format!("found event {}, expected event {n}", record.n)));
        }
        self.n = n;
        Ok(Some(record))
    }
}

impl Iterator for Reader {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Reads a whole journal.
///
/// # Errors
/// The file cannot be read, or a line of it.
pub fn read(path: &Path) -> Result<LoadedJournal, JournalError> {
    let mut reader = Reader::open(path)?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    Ok(LoadedJournal { header: reader.header, records, torn: reader.torn })
}

/// Whether this is no more than the beginning of a header: its session was killed before its first
/// event, so the journal is empty.
fn is_begun(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"toolyard_journal\":";
    let shorter = line.len().min(BEGINNING.len());
    line.last() != Some(&b'\n') && line[..shorter] == BEGINNING[..shorter]
}

impl LoadedJournal {
    /// What a reader should know of its end; `None` if there is nothing to know.
    pub fn remark(&self) -> Option<String> {
        let torn = self.torn;
        match self.records.is_empty() {
            true => Some("the journal is empty: its session ended before its first event".into()),
            false if torn > 0 => Some(format!("ignored an incomplete last line ({torn} bytes)")),
            false => None,
        }
    }
}

fn parse_header(path: &Path, line: &[u8]) -> Result<Header, JournalError> {
    let no = |why: String| JournalError::NoHeader { path: path.to_owned(), why };
    // The version is checked before the rest, because a newer header may look different.
    let value: Value = serde_json::from_slice(line).map_err(|error| no(without_place(&error)))?;
    let found = value.get("toolyard_journal").and_then(Value::as_u64);
    let found = found.ok_or_else(|| no("missing field `toolyard_journal`".to_owned()))?;
    if found > u64::from(FORMAT) {
        let program = value.get("program").and_then(Value::as_str).unwrap_or("of a later version");
        return Err(JournalError::TooNew {
            path: path.to_owned(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            program: program.to_owned(),
        });
    }
    serde_json::from_value(value).map_err(|error| no(error.to_string()))
}

/// serde's message without the line, which is always the first here.
fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    said.strip_suffix(&place)
        .map_or(said.clone(), |said| format!("{said} (column {})", error.column()))
}
