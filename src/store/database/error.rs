//! Errors of databases.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why a database could not be opened, read or written. A failed write changes nothing.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}{advice}")]
pub struct DatabaseError {
    pub path: PathBuf,
    pub fault: DatabaseFault,
    pub(super) advice: String,
}

/// A fault of a file.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseFault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not a SQLite database; ")]
    NoDatabase,
    /// A database that is not of the expected kind.
    #[error("a database, but not {0}; choose another file (this one is unchanged)")]
    Foreign(&'static str),
    #[error("written in format {found}, but this version reads {}; ", formats(*known))]
    TooNew { found: i64, known: i64 },
    #[error("damaged ({0}); ")]
    Damaged(String),
    #[error("locked by another program for too long; try again")]
    Busy,
    #[error("{0}")]
    Failed(String),
}

impl From<rusqlite::Error> for DatabaseFault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NoDatabase,
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// The formats up to this one, in words.
fn formats(known: i64) -> String {
    if known == 1 { "format 1".to_owned() } else { format!("formats up to {known}") }
}
