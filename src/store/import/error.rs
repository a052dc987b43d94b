//! Errors of imported data.

use std::{io, path::PathBuf};

use crate::files::toml_file::{Problem, Problems};

/// Why an import stopped. Nothing was written in that case, except for [`ImportError::Io`] while
/// writing.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder could not be read or written.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// The failed action, such as `cannot be read`.
        action: &'static str,
        source: io::Error,
    },
    /// A file or a line of it is invalid.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// Several lines of a file are invalid.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// The file to write exists, and no import wrote it.
    #[error(
        "{}: exists and is not an earlier import; choose another file, or use --force",
        .0.display()
    )]
    Taken(PathBuf),
    /// The workspace's folder has other content.
    #[error(
        "{}: not empty and not an earlier import; choose another folder, or use --force",
        .0.display()
    )]
    Occupied(PathBuf),
}
