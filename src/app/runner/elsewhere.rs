//! Sessions that run in other processes, here or on other machines.

use std::path::Path;

use super::{Followed, Runner, follow};
use crate::domain::{Record, State};
use crate::engine::PurseShare;
use crate::session::{JournalChoice, PreparedSession, SessionError, SessionSpec};
use crate::store::journal::JournalReader;

/// Other processes that run sessions.
pub trait Elsewhere: Send + Sync {
    /// Runs a session there from its start to its end, and writes its journal to this new file. False: it was stopped.
    ///
    /// # Errors
    /// The session cannot run there, or has no result ([`SessionError::Without`]).
    fn run(&self, order: &SessionOrder<'_>, journal: &Path) -> Result<bool, SessionError>;
}

/// A session for another process.
pub struct SessionOrder<'a> {
    pub prepared: &'a PreparedSession,
    pub spec: &'a SessionSpec,
    pub runner: &'a Runner,
}

impl Runner {
    /// Runs the prepared session of this spec to its end, on this thread or elsewhere. `hear` gets each record; the session
    /// is stopped when it returns false. `None`: it was stopped before it began, or elsewhere.
    ///
    /// # Errors
    /// The session cannot start, or ended early.
    pub fn follow(
        &self,
        spec: &SessionSpec,
        prepared: PreparedSession,
        mut hear: impl FnMut(&Record) -> bool + 'static,
    ) -> Result<Option<Followed>, SessionError> {
        let Some(place) = &self.elsewhere else {
            return follow(prepared, Vec::new(), &self.stop, hear).map(Some);
        };
        let folder = tempfile::tempdir().map_err(SessionError::failed)?;
        let (path, journal) = match &spec.journal {
            JournalChoice::File(path) => (path.clone(), Some(path.clone())),
            JournalChoice::Configured | JournalChoice::None => {
                (folder.path().join("session.jsonl.zst"), None)
            }
        };
        if !place.run(&SessionOrder { prepared: &prepared, spec, runner: self }, &path)? {
            return Ok(None);
        }
        let mut state = State::keeping(prepared.keeps);
        for record in JournalReader::open(&path).map_err(SessionError::failed)? {
            let record = record.map_err(SessionError::failed)?;
            hear(&record);
            state.apply(&record);
        }
        Ok(Some(Followed { state, journal }))
    }
}

impl SessionOrder<'_> {
    /// The part of a purse of several sessions.
    pub fn share(&self) -> Option<&PurseShare> {
        self.prepared.purse.as_ref()
    }
}
