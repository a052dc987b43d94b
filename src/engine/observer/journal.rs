//! The journal comes before all other listeners, and before the state: an event that is not
//! journaled has not happened.

use crate::domain::Record;
use crate::store::journal::{Journal, JournalError};

/// Writes records, until that fails.
pub(crate) struct Writer {
    journal: Option<Journal>,
    /// The journal could not be written; the session must end.
    broken: Option<JournalError>,
    is_broken: bool,
}

impl Writer {
    pub fn new(journal: Option<Journal>) -> Self {
        Self { journal, broken: None, is_broken: false }
    }

    /// Adds a record to the next write; `None` if the journal has failed. Returns the number of bytes that wait.
    /// `json`: the record as JSON, if known.
    pub fn add(&mut self, record: &Record, json: Option<&str>) -> Option<usize> {
        let added = match self.journal.as_mut().filter(|_| !self.is_broken) {
            Some(journal) => journal.add(record, json),
            None => Ok(0),
        };
        let waiting = added.map_err(|error| self.note(Err(error))).unwrap_or_default();
        (!self.is_broken).then_some(waiting)
    }

    /// Hands added records to the operating system. Returns how many of the last records are missing, if that failed.
    pub fn flush(&mut self) -> usize {
        let Some(journal) = self.journal.as_mut().filter(|_| !self.is_broken) else { return 0 };
        let written = journal.flush();
        let unwritten = journal.unwritten();
        self.note(written);
        unwritten
    }

    /// Starts writing everything so far to the disk.
    pub fn sync_beside(&mut self) {
        if let Some(journal) = self.journal.as_mut().filter(|_| !self.is_broken) {
            let written = journal.sync_beside();
            self.note(written);
        }
    }

    /// Waits until everything so far is on the disk.
    pub fn sync(&mut self) {
        if let Some(journal) = self.journal.as_mut().filter(|_| !self.is_broken) {
            let written = journal.sync();
            self.note(written);
        }
    }

    /// Returns when the journal has failed beside the work.
    pub fn failed(&self) -> impl Future<Output = ()> + use<> {
        let notify = self.journal.as_ref().and_then(Journal::notify);
        async move {
            match notify {
                Some(notify) => notify.notified().await,
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until a copy elsewhere has all that was added; `None`: there is no copy.
    pub fn copied(&self) -> Option<impl Future<Output = Result<(), JournalError>> + use<>> {
        self.journal.as_ref().filter(|_| !self.is_broken)?.copied()
    }

    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    pub fn take_broken(&mut self) -> Option<JournalError> {
        self.broken.take()
    }

    /// Ends the writing where something could not be written.
    pub fn note(&mut self, written: Result<(), JournalError>) {
        if let Err(error) = written {
            self.is_broken = true;
            self.broken.get_or_insert(error);
        }
    }
}
