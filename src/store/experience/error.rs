//! Errors of the store of past uses.

use std::io;
use std::path::PathBuf;

use crate::database::DatabaseError;
use crate::files::toml_file::Problem;

/// Why the store could not be opened, read or written. A failed write changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExperienceError {
    #[error("{path}: no such file; sessions and `toolyard experience import` create one")]
    Missing { path: PathBuf },
    /// A file to import.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Database(#[from] DatabaseError),
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
