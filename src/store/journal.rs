//! A session on disk: JSON lines, a header and then one event per line, appended as events happen.
//!
//! A line is written before its event is shown, so killing the program loses nothing that was seen.
//! It is flushed to the disk after every command and at every task's end, so a power cut loses at
//! most the work in progress. A torn last line (an interrupted write) is skipped when reading, and
//! reported; any other fault is an error with its line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::info;

use crate::domain::Record;
use crate::files::safe_json::safe;

/// The version of the format that this program writes, and the newest that it can read.
pub const FORMAT: u32 = 1;

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; it also identifies a file as a journal.
    pub toolyard_journal: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// When the session was opened (RFC 3339, UTC). Events count microseconds from here.
    pub opened: String,
}

impl Header {
    /// The header of a session opened at this moment.
    pub fn at(opened: jiff::Timestamp) -> Self {
        Self {
            toolyard_journal: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            opened: format!("{opened:.3}"),
        }
    }
}

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    line: Vec<u8>,
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedJournal {
    pub header: Header,
    pub records: Vec<Record>,
    /// Bytes of a torn last line, which is left out.
    pub torn: usize,
}

/// Errors of a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{path}: file exists, and a journal is never overwritten; choose another name")]
    Taken { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path}:1: no journal header: {why}; expected \
         {{\"toolyard_journal\":{FORMAT},…}} as `toolyard run --journal FILE` writes it"
    )]
    NoHeader { path: PathBuf, why: String },
    #[error(
        "{path}: written in format {found}, but this version reads formats up to {FORMAT}; \
         read it with toolyard {program} or newer"
    )]
    TooNew { path: PathBuf, found: u32, program: String },
    #[error("{path}:{line}: {why}; expected an event like {{\"n\":{n},\"at\":…,\"kind\":…}}")]
    BadLine { path: PathBuf, line: usize, n: u64, why: String },
}

impl Journal {
    /// Starts a journal in a new file; an existing file is never touched.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        // What an agent read and wrote concerns nobody else on this machine.
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Taken { path: path.to_owned() },
            _ => io(error),
        })?;
        info!(?path, "started a journal");
        let mut journal = Self { file, path: path.to_owned(), line: Vec::new() };
        journal.write(header)?;
        Ok(journal)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one event to the system. It outlives this process from here on.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.write(record)
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| self.io(source))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        self.line.clear();
        let json = serde_json::to_string(line).map_err(|error| self.io(error.into()))?;
        self.line.extend_from_slice(safe(&json).as_bytes());
        self.line.push(b'\n');
        // One write for a whole line: a concurrent reader sees all of it or nothing.
        self.file.write_all(&self.line).map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

/// Reads a whole journal.
pub fn read(path: &Path) -> Result<LoadedJournal, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let mut lines = BufReader::new(File::open(path).map_err(io)?);
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).map_err(io)?;
    if is_begun(&line) {
        let header =
            Header { toolyard_journal: FORMAT, program: String::new(), opened: String::new() };
        return Ok(LoadedJournal { header, records: Vec::new(), torn: line.len() });
    }
    let header = parse_header(path, &line)?;
    let mut records = Vec::new();
    let mut torn = 0;
    for number in 2.. {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(io)? == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            torn = line.len();
            break;
        }
        let n = records.len() as u64 + 1;
        let bad = |why| JournalError::BadLine { path: path.to_owned(), line: number, n, why };
        let record = Record::read(&line).map_err(bad)?;
        if record.n != n {
            return Err(bad(format!("found event {}, expected event {n}", record.n)));
        }
        records.push(record);
    }
    Ok(LoadedJournal { header, records, torn })
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
