//! The place of a session's journal.

use std::path::{Path, PathBuf};

use super::JournalChoice;
use crate::config::{self, Config};
use crate::store::journal::{Header, Journal, JournalError, folder};

/// Most sessions that can start in one folder in the same second.
const MOST_A_SECOND: u32 = 1000;

impl JournalChoice {
    /// The choice for a second session of the same kind: beside a chosen file, `NAME-twin.jsonl.zst` or the first free
    /// name like that.
    pub(super) fn beside(&self) -> Self {
        let JournalChoice::File(path) = self else { return self.clone() };
        let stem = folder::stem(path);
        let name = |n: u32| match n {
            1 => folder::beside(path, &format!("{stem}-twin")),
            n => folder::beside(path, &format!("{stem}-twin-{n}")),
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
                let journals = config.session.journals.clone().or_else(config::default_journals);
                journals.map(|journals| create_in(&journals, header)).transpose()
            }
        }
    }
}

/// Starts a journal under a name that sorts by time. Sessions that start in the same second get different names: only
/// creating the file shows that a name is free.
fn create_in(journals: &Path, header: &Header) -> Result<Journal, JournalError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let mut n = 1;
    loop {
        match Journal::create(&journals.join(numbered(&now, n)), header) {
            Err(JournalError::Taken { .. }) if n < MOST_A_SECOND => n += 1,
            outcome => return outcome,
        }
    }
}

fn numbered(now: &str, n: u32) -> PathBuf {
    match n {
        1 => folder::file_name(now).into(),
        n => folder::file_name(&format!("{now}-{n}")).into(),
    }
}
