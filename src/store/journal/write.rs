//! A journal being written.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tempfile::TempPath;
use tokio::sync::Notify;
use tracing::info;

use super::sync::{Syncer, Watched};
use super::{Header, JournalError, parts, unnamed};
use crate::domain::{EmbeddingEvent, Event, GraphEvent, Record};
use crate::files::safe_json::safe;

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Where the file is until its first event is in it.
    unnamed: Option<TempPath>,
    line: Vec<u8>,
    parts: parts::Written,
    watched: Watched,
    /// `None` where the system has no thread for it.
    syncer: Option<Syncer>,
}

impl Journal {
    /// Starts a journal in a new file, which gets this name with its first event. An existing file is never touched.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        let (file, beside) = unnamed::reserve(path).map_err(|error| unnamed_error(path, error))?;
        info!(?path, "started a journal");
        let watched = Watched::of(path, &file).map_err(io)?;
        let syncer = Syncer::new(&file, watched.clone()).ok();
        let (path, parts) = (path.to_owned(), parts::Written::default());
        let (unnamed, line) = (Some(beside), Vec::new());
        let mut journal = Self { file, path, unnamed, line, parts, watched, syncer };
        let header = journal.json(header)?;
        journal.write(&header, None)?;
        Ok(journal)
    }

    /// Its path from its first event on.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its file is now.
    pub fn place(&self) -> &Path {
        self.unnamed.as_deref().unwrap_or(&self.path)
    }

    /// Writes one event to the system. It outlives this process from here on.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let json = self.json(record)?;
        self.append_json(record, &json)
    }

    /// The same for a record whose JSON is known.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_json(&mut self, record: &Record, json: &str) -> Result<(), JournalError> {
        self.write(json, Some(has_parts(&record.event)))?;
        let Some(unnamed) = self.unnamed.take() else { return Ok(()) };
        let named = unnamed.persist_noclobber(&self.path);
        named.map_err(|it| unnamed_error(&self.path, it.error))?;
        let written = self.file.metadata().map_err(|source| self.io(source))?.len();
        self.watched.grow(written);
        Ok(())
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
    ///
    /// # Errors
    /// The disk failed, or the file is not at its place any more.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        let synced = self.file.sync_data().and_then(|()| self.watched.expect());
        synced.map_err(|source| self.io(source))
    }

    /// Wakes when the journal has failed beside the work: [`Journal::sync_beside`] tells how.
    pub fn notify(&self) -> Option<Arc<Notify>> {
        self.syncer.as_ref().map(Syncer::notify)
    }

    fn json(&self, line: &impl Serialize) -> Result<String, JournalError> {
        serde_json::to_string(line).map_err(|error| self.io(error.into()))
    }

    fn write(&mut self, json: &str, parts: Option<bool>) -> Result<(), JournalError> {
        self.line.clear();
        let json = safe(json);
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
        self.file.write_all(&self.line).map_err(|source| self.io(source))?;
        if self.unnamed.is_none() {
            self.watched.grow(self.line.len() as u64);
        }
        Ok(())
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

fn unnamed_error(path: &Path, source: io::Error) -> JournalError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Taken { path },
        _ => JournalError::Io { path, source },
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
