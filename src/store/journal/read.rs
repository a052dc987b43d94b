//! A journal as it is found on a disk.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shared::SharedValues;
use super::sync::{expect_file, identity};
use super::{BEGINNING, FORMAT, Header, JournalError, parts, unnamed};
use crate::domain::Record;

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedJournal {
    pub header: Header,
    pub records: Vec<Record>,
    /// Bytes of a torn last line, which is left out.
    pub torn: usize,
}

/// A place from which a journal can be read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalOffset {
    /// The event before this place; 0 before the first.
    pub n: u64,
    /// The line before this place.
    line: usize,
    /// In bytes.
    pub offset: u64,
    /// The place where its list of parts begins, in bytes.
    list: u64,
}

/// Reads a journal line by line.
#[derive(Debug)]
pub struct JournalReader {
    path: PathBuf,
    lines: BufReader<File>,
    pub header: Header,
    line: Vec<u8>,
    place: JournalOffset,
    parts: parts::PartsReader,
    shared: SharedValues,
    /// Bytes of a torn last line, which is left out.
    pub torn: usize,
}

impl JournalReader {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, or is not a journal that this version knows.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let mut lines = BufReader::new(File::open(path).map_err(io)?);
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line).map_err(io)?;
        let begun = is_begun(&line);
        let header = match begun {
            true => Header {
                toolyard_journal: FORMAT,
                program: String::new(),
                opened: String::new(),
                id: None,
                parent: None,
                continues: None,
                continues_id: None,
                spec: None,
            },
            false => parse_header(path, &line)?,
        };
        Ok(Self {
            path: path.to_owned(),
            lines,
            header,
            torn: if begun { line.len() } else { 0 },
            place: JournalOffset {
                line: 1,
                offset: line.len() as u64,
                list: line.len() as u64,
                n: 0,
            },
            line,
            parts: parts::PartsReader::default(),
            shared: SharedValues::default(),
        })
    }

    /// Opens a journal that this process writes, which may have no event yet.
    ///
    /// # Errors
    /// As [`JournalReader::open`].
    pub fn open_new(path: &Path) -> Result<Self, JournalError> {
        let unnamed = || unnamed::place(path).ok().and_then(|place| Self::open(&place).ok());
        let is_there = path.symlink_metadata().is_ok();
        // If it is at neither place, it got its name meanwhile.
        let reader = if is_there { None } else { unnamed() };
        let reader = reader.map_or_else(|| Self::open(path), Ok)?;
        Ok(Self { path: path.to_owned(), ..reader })
    }

    /// Looks again behind the last whole line, since the writer may have added lines.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn look_again(&mut self) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        self.torn = 0;
        self.lines.seek(SeekFrom::Start(self.place.offset)).map(drop).map_err(io)
    }

    /// Whether this is still the file that was opened, with all that was read of it.
    ///
    /// # Errors
    /// The file was cut, replaced or deleted.
    pub fn expect_same(&self) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        let changed = |why: String| Err(JournalError::Changed { path: self.path.clone(), why });
        let (read, opened) = (self.place.offset, self.lines.get_ref().metadata().map_err(io)?);
        if opened.len() < read {
            let why = format!("the file was cut to {} bytes, and {read} were read", opened.len());
            return changed(why);
        }
        match expect_file(&self.path, identity(&opened)) {
            Ok(_) => Ok(()),
            Err(error) => changed(error.to_string()),
        }
    }

    /// A remark about the end that was reached; `None` if there is nothing to say.
    pub fn remark(&self) -> Option<String> {
        remark(self.place.n == 0, self.torn)
    }

    /// The current position.
    pub fn place(&self) -> JournalOffset {
        self.place
    }

    /// Goes to a place where a reader of the same journal was.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub fn go_to(&mut self, place: JournalOffset) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        self.lines.seek(SeekFrom::Start(place.list)).map_err(io)?;
        self.torn = 0;
        self.parts = parts::PartsReader::default();
        self.shared.clear();
        self.place = JournalOffset { offset: place.list, ..place };
        while self.place.offset < place.offset && self.read_line()? {
            let learnt = self.parts.learn(&self.line);
            learnt.map_err(|why| self.bad(place.line, place.n, why))?;
        }
        if self.place.offset != place.offset {
            let why = "no line begins where one began when the journal was indexed".to_owned();
            return Err(self.bad(place.line, place.n, why));
        }
        self.place = place;
        Ok(())
    }

    /// Whether a line begins at this place, or the journal ends there, as when the place was noted.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_at(&mut self, place: JournalOffset) -> Result<bool, JournalError> {
        let goes_on = self.go_to(place).and_then(|()| self.read().map(drop));
        match goes_on {
            Err(error @ JournalError::Io { .. }) => Err(error),
            goes_on => Ok(goes_on.is_ok()),
        }
    }

    /// Goes behind this event without parsing the events before it; returns the last event, if there are fewer.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn go_behind(&mut self, n: u64) -> Result<u64, JournalError> {
        let mut place = self.place;
        while self.place.n < n && self.read_line()? {
            // A list of parts begins with the line that has part 0; these characters are nowhere else.
            if memmem::find(&self.line, b"{\"=0\":").is_some() {
                place.list = place.offset;
            }
            (self.place.n, self.place.line) = (self.place.n + 1, self.place.line + 1);
            place = JournalOffset { list: place.list, ..self.place };
        }
        if self.header.toolyard_journal == 1 {
            place.list = place.offset;
        }
        self.go_to(place)?;
        Ok(place.n)
    }

    /// Counts events up to this one, without parsing them. Returns the last one, if there are fewer.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn count(mut self, most: u64) -> Result<u64, JournalError> {
        while self.place.n < most && self.read_line()? {
            self.place.n += 1;
        }
        Ok(self.place.n)
    }

    /// Reads a whole line; false if there is none.
    fn read_line(&mut self) -> Result<bool, JournalError> {
        self.line.clear();
        let io = |source| JournalError::Io { path: self.path.clone(), source };
        if self.torn > 0 || self.lines.read_until(b'\n', &mut self.line).map_err(io)? == 0 {
            return Ok(false);
        }
        if self.line.last() != Some(&b'\n') {
            self.torn = self.line.len();
            return Ok(false);
        }
        self.place.offset += self.line.len() as u64;
        Ok(true)
    }

    fn bad(&self, line: usize, n: u64, why: String) -> JournalError {
        JournalError::BadLine { path: self.path.clone(), line, n, why }
    }

    /// The next record; `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, JournalError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let (line, n) = (self.place.line + 1, self.place.n + 1);
        // A line of format 1 is complete: text in it that looks like a part is not a part.
        let record = match self.header.toolyard_journal {
            1 => Record::read(&self.line),
            _ => self.parts.whole(&self.line).and_then(|line| self.shared.read(line)),
        };
        if self.header.toolyard_journal == 1 {
            self.place.list = self.place.offset;
        } else if self.parts.has_begun() {
            self.place.list = self.place.offset - self.line.len() as u64;
        }
        let record = record.map_err(|why| self.bad(line, n, why))?;
        if record.n != n {
            let why = format!("found event {}, expected event {n}", record.n);
            return Err(self.bad(line, n, why));
        }
        (self.place.line, self.place.n) = (line, n);
        Ok(Some(record))
    }
}

impl Iterator for JournalReader {
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
    let mut reader = JournalReader::open(path)?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    Ok(LoadedJournal { header: reader.header, records, torn: reader.torn })
}

/// Whether this is only the beginning of a header: its session was killed before its first event, so the journal is
/// empty.
fn is_begun(line: &[u8]) -> bool {
    let shorter = line.len().min(BEGINNING.len());
    line.last() != Some(&b'\n') && line[..shorter] == BEGINNING[..shorter]
}

impl LoadedJournal {
    /// A remark about the end of the journal; `None` if there is nothing to say.
    pub fn remark(&self) -> Option<String> {
        remark(self.records.is_empty(), self.torn)
    }
}

fn remark(is_empty: bool, torn: usize) -> Option<String> {
    match is_empty {
        true => Some("the journal is empty: its session ended before its first event".into()),
        false if torn > 0 => Some(format!("ignored an incomplete last line ({torn} bytes)")),
        false => None,
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
