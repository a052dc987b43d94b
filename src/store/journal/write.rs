//! A journal being written.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tempfile::TempPath;
use tokio::sync::Notify;
use tracing::info;

use super::frames::FrameWriter;
use super::sync::{Syncer, Watched};
use super::{Header, JournalCopy, JournalError, empty_journal};
use crate::domain::{Event, Record, SessionEvent};
use crate::files::safe_json::safe;

/// The events of a frame. An index has its marks where frames begin.
pub(super) const FRAME: u64 = 2048;
/// After a frame of this many bytes of text, the end of the session has its own, in which a list of sessions finds it.
const LONG: usize = 64 << 10;

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// The place of the file until its first event is in it.
    unnamed: Option<TempPath>,
    frames: FrameWriter,
    /// The lines that are not written yet.
    lines: usize,
    /// A write failed, so that nothing can follow what is in the file.
    is_broken: bool,
    /// An event was added.
    has_event: bool,
    unwritten: usize,
    watched: Watched,
    /// `None` where the system has no thread for it.
    syncer: Option<Syncer>,
    copy: Option<JournalCopy>,
}

impl Journal {
    /// Starts a journal in a new file, which gets this name with its first event. An existing file is never touched.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        let (file, beside) =
            empty_journal::reserve(path).map_err(|error| unnamed_error(path, error))?;
        info!(?path, "started a journal");
        let watched = Watched::of(path, &file).map_err(io)?;
        let syncer = Syncer::new(&file, watched.clone()).ok();
        let mut journal = Self {
            file,
            path: path.to_owned(),
            unnamed: Some(beside),
            frames: FrameWriter::new().map_err(io)?,
            lines: 0,
            is_broken: false,
            has_event: false,
            unwritten: 0,
            watched,
            syncer,
            copy: None,
        };
        let header = journal.json(header)?;
        journal.add_line(0, &header)?;
        journal.flush()?;
        Ok(journal)
    }

    /// Sends the header, and each later line, to a copy elsewhere as well.
    ///
    /// # Errors
    /// The header has no form in JSON.
    pub fn copy_to(&mut self, mut copy: JournalCopy, header: &Header) -> Result<(), JournalError> {
        copy.add(0, &safe(&self.json(header)?));
        self.copy = Some(copy);
        Ok(())
    }

    /// Waits until its copy has all that was added; without one, not at all.
    ///
    /// # Errors
    /// The copy takes no more lines.
    pub fn copied(&self) -> Option<impl Future<Output = Result<(), JournalError>> + use<>> {
        let (reached, path) = (self.copy.as_ref()?.reached(), self.path.clone());
        Some(async move { reached.await.map_err(|why| JournalError::Copy { path, why }) })
    }

    /// The path of the journal from its first event on.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current place of its file.
    pub fn place(&self) -> &Path {
        self.unnamed.as_deref().unwrap_or(&self.path)
    }

    /// Writes one event to the system. It outlives this process from here on.
    ///
    /// # Errors
    /// The system's error.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.add(record, None)?;
        self.flush()
    }

    /// Adds one event to what [`Journal::flush`] writes; `json`: the record as JSON, where it is known. Returns the bytes that
    /// wait.
    ///
    /// # Errors
    /// The record has no form in JSON.
    pub fn add(&mut self, record: &Record, json: Option<&str>) -> Result<usize, JournalError> {
        let own = json.is_none().then(|| self.json(record)).transpose()?;
        let is_end = matches!(record.event, Event::Session(SessionEvent::SessionEnded { .. }));
        if is_end && self.frames.frame > LONG {
            self.frames.end().map_err(|source| self.io(source))?;
        }
        self.add_line(record.n, json.or(own.as_deref()).unwrap_or_default())?;
        // Other programs find an ended session whole.
        if is_end || record.n.is_multiple_of(FRAME) {
            self.frames.end().map_err(|source| self.io(source))?;
        }
        self.has_event = true;
        Ok(self.frames.waiting)
    }

    fn add_line(&mut self, n: u64, json: &str) -> Result<(), JournalError> {
        self.lines += 1;
        let json = safe(json);
        if let Some(copy) = &mut self.copy {
            copy.add(n, &json);
        }
        self.frames.add(&json).map_err(|source| self.io(source))
    }

    /// Writes all added events to the system. They outlive this process from here on.
    ///
    /// # Errors
    /// The system's error. [`Journal::unwritten`] says how much is lost.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        if self.lines == 0 {
            return Ok(());
        }
        let lines = std::mem::take(&mut self.lines);
        // One write of whole blocks: a concurrent reader sees all of a line or nothing.
        let written = match self.is_broken {
            true => Err(io::Error::other("an earlier write failed")),
            false => self.frames.write(&mut self.file),
        };
        if written.is_err() {
            self.is_broken = true;
            self.unwritten += lines;
        }
        let bytes = written.map_err(|source| self.io(source))?;
        let Some(unnamed) = self.unnamed.take_if(|_| self.has_event) else {
            if self.unnamed.is_none() {
                self.watched.grow(bytes);
            }
            return Ok(());
        };
        let named = unnamed.persist_noclobber(&self.path);
        named.map_err(|it| unnamed_error(&self.path, it.error))?;
        let written = self.file.metadata().map_err(|source| self.io(source))?.len();
        self.watched.grow(written);
        Ok(())
    }

    /// Lines that were added and could not be written whole.
    pub fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// Starts to flush everything appended to the disk, without waiting.
    pub fn sync_beside(&mut self) -> Result<(), JournalError> {
        self.flush()?;
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
    /// The disk failed, or the file is no longer at its place.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.flush()?;
        let synced = self.file.sync_data().and_then(|()| self.watched.expect());
        synced.map_err(|source| self.io(source))
    }

    /// Wakes when the journal has failed in the background: [`Journal::sync_beside`] returns the error.
    pub fn notify(&self) -> Option<Arc<Notify>> {
        self.syncer.as_ref().map(Syncer::notify)
    }

    fn json(&self, line: &impl Serialize) -> Result<String, JournalError> {
        serde_json::to_string(line).map_err(|error| self.io(error.into()))
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }
}

impl Drop for Journal {
    /// Writes the waiting events: they may say why an engine broke off.
    fn drop(&mut self) {
        let _ = self.flush();
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
