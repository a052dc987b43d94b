//! Errors of the cache of states.

use std::io;
use std::path::{Path, PathBuf};

use crate::sqlite::SqliteFault;

/// Why the cache could not be opened, read or written. A failed write changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum StatesError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path}: not a SQLite database; expected a cache of states: choose another file, or delete this one"
    )]
    NoDatabase { path: PathBuf },
    #[error(
        "{path}: a database, but not a cache of states; choose another file (this one is unchanged)"
    )]
    Foreign { path: PathBuf },
    #[error(
        "{path}: written in format {found}, but this version reads format {known}; \
         delete it (its states are computed again), or use a newer toolyard"
    )]
    OtherFormat { path: PathBuf, found: i64, known: i64 },
    #[error("{path}: damaged ({why}); delete it: its states are computed again")]
    Damaged { path: PathBuf, why: String },
    #[error("{path}: locked by another program for too long; try again")]
    Busy { path: PathBuf },
    #[error("{path}: {why}")]
    Failed { path: PathBuf, why: String },
    /// A query's state does not fit the mean of its domain.
    #[error("the mean of the queries of `{domain}`: {why}")]
    Unfit { domain: String, why: String },
}

impl StatesError {
    /// The error of SQLite for the cache at this path; for `map_err`.
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
