//! Errors of the store of past uses.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::toml_file::Problem;
use crate::sqlite::SqliteFault;

/// Why the store could not be opened, read or written. A failed write changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExperienceError {
    #[error("{path}: no such file; sessions and `toolyard experience import` create one")]
    Missing { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: not a SQLite database; choose another file, or move this one away")]
    NoDatabase { path: PathBuf },
    #[error(
        "{path}: a database, but not a store of past uses; choose another file (this one is unchanged)"
    )]
    Foreign { path: PathBuf },
    #[error(
        "{path}: written in format {found}, but this version reads formats up to {known}; \
         use a newer toolyard"
    )]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path}: damaged ({why}); move it away and import an export of it, or recover the data with \
         `sqlite3 {path} .recover`"
    )]
    Damaged { path: PathBuf, why: String },
    #[error("{path}: locked by another program for too long; try again")]
    Busy { path: PathBuf },
    #[error("{path}: {why}")]
    Failed { path: PathBuf, why: String },
    /// The export could not be written.
    #[error("cannot be written: {0}")]
    Write(#[from] io::Error),
    /// An invalid use.
    #[error("{field}: {why}")]
    BadUse { field: &'static str, why: String },
    /// A line of an import.
    #[error(transparent)]
    Line(#[from] Problem),
    /// An import that stopped early, after it was checked: a full disk, or a file that changed.
    #[error(
        "{source}; {imported} uses were added; import the file again to add the rest, \
         or remove them with `toolyard experience prune --source {origin}`"
    )]
    Partly { imported: u64, origin: String, source: Box<ExperienceError> },
}

impl ExperienceError {
    /// The error of SQLite for the store at this path; for `map_err`.
    pub(super) fn of(path: &Path) -> impl Fn(rusqlite::Error) -> Self + Copy {
        move |error| {
            let path = path.to_owned();
            match SqliteFault::from(error) {
                SqliteFault::NoDatabase => Self::NoDatabase { path },
                SqliteFault::Damaged(why) => Self::Damaged { path, why },
                SqliteFault::Busy => Self::Busy { path },
                SqliteFault::Other(why) => Self::Failed { path, why },
            }
        }
    }
}
