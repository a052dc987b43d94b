//! The place of a session's journal.

use std::path::{Path, PathBuf};

use super::JournalChoice;
use crate::config::{self, Config};
use crate::store::journal::{Header, Journal, JournalError};

/// Most sessions that can start in one folder in the same second.
const MOST_A_SECOND: u32 = 1000;

impl JournalChoice {
    /// The choice for a second session of the same kind: beside a chosen file, `NAME-twin.jsonl` or the first free name
    /// like that.
    pub(super) fn beside(&self) -> Self {
        let JournalChoice::File(path) = self else { return self.clone() };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = |n: u32| match n {
            1 => path.with_file_name(format!("{stem}-twin.jsonl")),
            n => path.with_file_name(format!("{stem}-twin-{n}.jsonl")),
        };
        let free = (1..MOST_A_SECOND).map(name).find(|path| !path.exists());
        free.map_or(JournalChoice::None, JournalChoice::File)
    }

    /// Starts the journal, if requested and possible.
    pub(super) fn start(
        &self,
        config: &Config,
        header: &Header,
    ) -> Result<Option<Journal>, JournalError> {
        match self {
            JournalChoice::None => Ok(None),
            JournalChoice::File(path) => Journal::create(path, header).map(Some),
            JournalChoice::Configured => {
                let folder = config.session.journals.clone().or_else(config::default_journals);
                folder.map(|folder| create_in(&folder, header)).transpose()
            }
        }
    }
}

/// Starts a journal under a name that sorts by time. Sessions that start in the same second get different names: only
/// creating the file shows that a name is free.
fn create_in(folder: &Path, header: &Header) -> Result<Journal, JournalError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let mut n = 1;
    loop {
        match Journal::create(&folder.join(numbered(&now, n)), header) {
            Err(JournalError::Taken { .. }) if n < MOST_A_SECOND => n += 1,
            outcome => return outcome,
        }
    }
}

fn numbered(now: &str, n: u32) -> PathBuf {
    match n {
        1 => format!("{now}.jsonl").into(),
        n => format!("{now}-{n}.jsonl").into(),
    }
}
