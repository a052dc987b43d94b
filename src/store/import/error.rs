//! What can be wrong with data that is brought in.

use std::{io, path::PathBuf};

use crate::files::toml_file::Problem;

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
    /// A file or a line of it is not what it should be.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// There is something else where the workspace should be.
    #[error(
        "{}: is not empty and no workspace that was made here; choose another folder, or force it",
        .0.display()
    )]
    Occupied(PathBuf),
}
