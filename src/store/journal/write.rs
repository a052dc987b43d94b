//! A journal being written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tracing::info;

use super::{Header, JournalError, parts, sync::Syncer};
use crate::domain::{EmbeddingEvent, Event, GraphEvent, Record};
use crate::files::{private, safe_json::safe};

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    line: Vec<u8>,
    parts: parts::Written,
    /// `None` where the system has no thread for it.
    syncer: Option<Syncer>,
}

impl Journal {
    /// Starts a journal in a new file; an existing file is never touched.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        let file = private::open(path, OpenOptions::new().append(true).create_new(true));
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Taken { path: path.to_owned() },
            _ => io(error),
        })?;
        // Nobody resumes a session that runs. A file system without locks cannot tell.
        let _ = file.try_lock();
        info!(?path, "started a journal");
        let syncer = Syncer::new(&file).ok();
        let (path, parts) = (path.to_owned(), parts::Written::default());
        let mut journal = Self { file, path, line: Vec::new(), parts, syncer };
        journal.write(header, None)?;
        Ok(journal)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one event to the system. It outlives this process from here on.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.write(record, Some(has_parts(&record.event)))
    }

    /// Begins to bring everything appended to the disk, and does not wait for it.
    pub fn sync_beside(&mut self) -> Result<(), JournalError> {
        match &self.syncer {
            Some(syncer) => {
                syncer.ask();
                syncer.failure().map_or(Ok(()), |error| Err(self.io(error)))
            }
            None => self.sync(),
        }
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| self.io(source))
    }

    fn write(&mut self, line: &impl Serialize, parts: Option<bool>) -> Result<(), JournalError> {
        self.line.clear();
        let json = serde_json::to_string(line).map_err(|error| self.io(error.into()))?;
        let json = safe(&json);
        match parts {
            Some(has_parts) => {
                // The data of a line is an object, and the last of its fields.
                let data = json.find(DATA).map_or(json.len(), |data| data + DATA.len() + 1);
                self.parts.shorten(json.as_bytes(), data, has_parts, &mut self.line);
            }
            None => self.line.extend_from_slice(json.as_bytes()),
        }
        self.line.push(b'\n');
        // One write for a whole line: a concurrent reader sees all of it or nothing.
        self.file.write_all(&self.line).map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

/// Whether a session that runs writes to this journal.
///
/// # Errors
/// The file cannot be opened.
pub fn is_written(path: &Path) -> Result<bool, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    Ok(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

const DATA: &str = "\"data\":";

/// Whether an event may have something in common with others. What comes once in a session is not worth
/// remembering.
fn has_parts(event: &Event) -> bool {
    !matches!(
        event,
        Event::Session(_)
            | Event::Graph(GraphEvent::GraphLoaded { .. })
            | Event::Embedding(EmbeddingEvent::EmbeddingFinished { .. })
    )
}
