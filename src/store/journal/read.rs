//! A journal as it is found on a disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::{LinePlace, Lines};
use super::parts::PartsReader;
use super::shared::SharedValues;
use super::sync::{expect_file, identity};
use super::{BEGINNING, FORMAT, Header, JournalError, empty_journal};
use crate::domain::Record;

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedJournal {
    pub header: Header,
    pub records: Vec<Record>,
    /// Bytes of a torn last line or block, which is left out.
    pub torn: usize,
}

/// A place from which a journal can be read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalOffset {
    /// The event before this place; 0 before the first.
    pub n: u64,
    next: LinePlace,
}

/// The most bytes of the buffer that are kept for the next line.
const KEPT: usize = 1 << 20;

/// The most places that look like the beginning of a frame and are none: a hostile file may have millions.
const WRONG: usize = 16;

/// Reads a journal of any format line by line.
#[derive(Debug)]
pub struct JournalReader {
    path: PathBuf,
    lines: Lines,
    pub header: Header,
    /// The line of the header.
    pub(super) head: Vec<u8>,
    line: Vec<u8>,
    /// The place of the first event.
    first: JournalOffset,
    place: JournalOffset,
    /// Formats 2 and 3 have parts in their lines.
    parts: Option<PartsReader>,
    shared: SharedValues,
    /// Bytes of a torn last line or block, which is left out.
    pub torn: usize,
}

impl JournalReader {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, or is not a journal that this version knows.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let mut lines = File::open(path).and_then(Lines::of).map_err(io)?;
        let mut line = Vec::new();
        let is_whole = lines.line(&mut line).map_err(|error| match is_damage(&error) {
            true => JournalError::NoHeader { path: path.to_owned(), why: error.to_string() },
            false => io(error),
        })?;
        let begun =
            !is_whole && line.iter().zip(BEGINNING).all(|(byte, expected)| byte == expected);
        let header = if begun { Header::unwritten() } else { parse_header(path, &line)? };
        let has_parts = matches!(header.toolyard_journal, 2 | 3);
        let next = match lines.is_packed() && has_parts {
            true => LinePlace { from: 0, skip: line.len() as u64 },
            false => lines.place(),
        };
        Ok(Self {
            path: path.to_owned(),
            header,
            torn: if begun { line.len() + lines.torn } else { 0 },
            first: JournalOffset { n: 0, next },
            place: JournalOffset { n: 0, next },
            lines,
            head: line,
            line: Vec::new(),
            parts: has_parts.then(PartsReader::default),
            shared: SharedValues::default(),
        })
    }

    /// Opens a journal that this process writes, which may have no event yet.
    ///
    /// # Errors
    /// As [`JournalReader::open`].
    pub fn open_new(path: &Path) -> Result<Self, JournalError> {
        let unnamed = || empty_journal::place(path).ok().and_then(|place| Self::open(&place).ok());
        let is_there = path.symlink_metadata().is_ok();
        // If it is at neither place, it got its name meanwhile.
        let reader = if is_there { None } else { unnamed() };
        let reader = reader.map_or_else(|| Self::open(path), Ok)?;
        Ok(Self { path: path.to_owned(), ..reader })
    }

    /// Looks again behind the end that was reached, since the writer may have added something.
    pub fn look_again(&mut self) {
        self.torn = 0;
    }

    /// Whether this is still the file that was opened, with all that was read of it.
    ///
    /// # Errors
    /// The file was cut, replaced or deleted.
    pub fn expect_same(&self) -> Result<(), JournalError> {
        let changed = |why: String| Err(JournalError::Changed { path: self.path.clone(), why });
        let (read, opened) =
            (self.lines.read(), self.lines.file.metadata().map_err(|error| self.failed(error))?);
        if opened.len() < read {
            let why = format!("the file was cut to {} bytes, and {read} were read", opened.len());
            return changed(why);
        }
        match expect_file(&self.path, identity(&opened)) {
            Ok(_) => Ok(()),
            Err(error) => changed(error.to_string()),
        }
    }

    /// Whether the file is a zstd stream.
    pub(super) fn is_packed(&self) -> bool {
        self.lines.is_packed()
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
        let LinePlace { from, skip } = place.next;
        self.lines.seek(from).map_err(|error| self.failed(error))?;
        (self.torn, self.place) = (0, place);
        self.line.clear();
        if let Some(parts) = &mut self.parts {
            *parts = PartsReader::default();
        } else if self.lines.skip(skip).map_err(|error| self.failed(error))? {
            return Ok(());
        }
        // The lines of the list of parts, after the header where they are read from the beginning.
        let mut skipped = 0;
        while self.parts.is_some() && skipped < skip && self.read_line()? {
            let learnt = match &mut self.parts {
                Some(parts) if from > 0 || skipped > 0 => parts.whole(&self.line).map(drop),
                _ => Ok(()),
            };
            learnt.map_err(|why| self.bad(place.n, why))?;
            skipped += self.line.len() as u64;
        }
        if skipped == skip {
            return Ok(());
        }
        let why = "no line begins where one began when the journal was indexed".to_owned();
        Err(self.bad(place.n, why))
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
        if self.parts.is_none() {
            self.go_before(n)?;
        }
        while self.place.n < n && self.read_line()? {
            let learnt =
                self.parts.as_mut().map_or(Ok(()), |parts| parts.whole(&self.line).map(drop));
            learnt.map_err(|why| self.bad(self.place.n + 1, why))?;
            self.advance();
        }
        Ok(self.place.n)
    }

    /// Goes to the last frame of a zstd stream that begins before this event, or to the first event.
    fn go_before(&mut self, n: u64) -> Result<(), JournalError> {
        let (mut before, mut wrong) = (u64::MAX, 0);
        while let Some(from) =
            self.lines.frame_before(before).map_err(|error| self.failed(error))?
        {
            self.go_to(JournalOffset { n: 0, next: LinePlace { from, skip: 0 } })?;
            // Other bytes may look like the beginning of a frame.
            let is_line = self.read_line().is_ok_and(|is_line| is_line);
            let first = is_line.then(|| numbered(&self.line)).flatten();
            if let Some(first) = first.filter(|first| (1..=n.saturating_add(1)).contains(first)) {
                let next = LinePlace { from, skip: 0 };
                return self.go_to(JournalOffset { n: first - 1, next });
            }
            before = from;
            wrong += usize::from(first.is_none());
            if wrong > WRONG {
                break;
            }
        }
        self.go_to(self.first)
    }

    /// Reads a whole line; false if there is none.
    fn read_line(&mut self) -> Result<bool, JournalError> {
        if self.line.last() == Some(&b'\n') {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        if self.torn > 0 {
            return Ok(false);
        }
        let read = self.lines.line(&mut self.line);
        let is_whole = read.map_err(|error| self.failed(error))?;
        if !is_whole {
            self.torn = self.line.len() + self.lines.torn;
        }
        Ok(is_whole)
    }

    /// Goes behind the line that was read.
    fn advance(&mut self) {
        self.place.n += 1;
        let len = self.line.len() as u64;
        match &self.parts {
            None => self.place.next = self.lines.place(),
            // A list of parts is read from its beginning on, and that of a zstd stream with all before it.
            Some(parts) if parts.has_begun() && !self.lines.is_packed() => {
                let from = self.lines.place().from - len;
                self.place.next = LinePlace { from, skip: len };
            }
            Some(_) => self.place.next.skip += len,
        }
    }

    /// The next record; `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, JournalError> {
        let n = self.place.n + 1;
        self.next_with(|shared, line| match shared.read(line)? {
            record if record.n == n => Ok(record),
            record => Err(format!("found event {}, expected event {n}", record.n)),
        })
    }

    /// A value that `read` makes of the next line; `None` at the end.
    pub(super) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&mut SharedValues, &[u8]) -> Result<T, String>,
    ) -> Result<Option<T>, JournalError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let line = match &mut self.parts {
            Some(parts) => parts.whole(&self.line),
            None => Ok(&self.line[..]),
        };
        let value = line.and_then(|line| read(&mut self.shared, line));
        let value = value.map_err(|why| self.bad(self.place.n + 1, why))?;
        self.advance();
        Ok(Some(value))
    }

    /// The last lines, about this many bytes of them; of a zstd stream, at most the last frame.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn tail(&mut self, most: usize) -> Result<Vec<u8>, JournalError> {
        match self.is_packed() {
            true => self.go_before(u64::MAX)?,
            false => {
                let len = self.lines.file.metadata().map_err(|error| self.failed(error))?.len();
                let from = self.lines.seek(len.saturating_sub(most as u64));
                from.map_err(|error| self.failed(error))?;
            }
        }
        let mut tail = Vec::new();
        while self.read_line()? {
            tail.extend_from_slice(&self.line);
            if tail.len() > 2 * most {
                tail.drain(..tail.len() - most);
            }
        }
        Ok(tail)
    }

    fn bad(&self, n: u64, why: String) -> JournalError {
        let line = usize::try_from(n).unwrap_or(usize::MAX).saturating_add(1);
        JournalError::BadLine { path: self.path.clone(), line, n, why }
    }

    /// The error of a read.
    fn failed(&self, source: io::Error) -> JournalError {
        let (path, n) = (self.path.clone(), self.place.n);
        match is_damage(&source) {
            true => JournalError::Damaged { path, n, why: source.to_string() },
            false => JournalError::Io { path, source },
        }
    }
}

fn is_damage(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
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

/// The number of the event on a line.
fn numbered(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Numbered {
        n: u64,
    }
    serde_json::from_slice::<Numbered>(line).ok().map(|numbered| numbered.n)
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
