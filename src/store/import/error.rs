//! What can be wrong with data that is brought in.

use std::{io, path::PathBuf};

/// Why an import stopped. Nothing was written then, but for [`ImportError::Io`] while writing.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder could not be read or written.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// What was tried, such as `cannot be read`.
        action: &'static str,
        source: io::Error,
    },
    /// A line is not what it should be.
    #[error("{file}:{line}: {problem}")]
    Line {
        file: String,
        /// Counted from 1.
        line: usize,
        /// The field, what was expected there and what was found.
        problem: String,
    },
    /// A file as a whole is not what it should be.
    #[error("{file}: {problem}")]
    File {
        file: String,
        /// The field where there is one, what was expected and what was found.
        problem: String,
    },
    /// There is something else where the workspace should be.
    #[error(
        "{}: is not empty and no workspace that was made here; choose another folder, or force it",
        .0.display()
    )]
    Occupied(PathBuf),
}
