//! Errors of a reader, and faults of a model file before its path is known.

use std::{io, path::PathBuf};

/// Why a reader could not be opened, or could not read.
#[derive(Debug, thiserror::Error)]
pub enum ReaderError {
    #[error("{path}: cannot read the model file: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: {found}; expected {expected}")]
    BadFile { path: PathBuf, found: String, expected: String },
    #[error("the text has {bytes} bytes; shorten it to at most {most} bytes")]
    LongText { bytes: usize, most: usize },
    #[error("the text has {tokens} tokens; shorten it to at most {most} tokens")]
    LongContext { tokens: usize, most: usize },
    #[error("there are no tokens to read; pass at least one token, such as the end token")]
    NoTokens,
    #[error("token {token} is not in the vocabulary; expected 0 to {last}")]
    UnknownToken { token: u32, last: usize },
    #[error("the model has no layer {layer}; expected 1 to {layers}, or `final`")]
    NoLayer { layer: usize, layers: usize },
    #[error("the model's states are not finite numbers; download the model file again")]
    NotFinite,
    #[error("reading was cancelled")]
    Cancelled,
}

/// A fault of a model file. [`ModelFileFault::in_file`] adds the path.
#[derive(Debug)]
pub enum ModelFileFault {
    Io(io::Error),
    Bad { found: String, expected: String },
}

impl ModelFileFault {
    /// A fault of content: the value that was found, and the one that was expected.
    pub fn bad(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Bad { found: found.into(), expected: expected.into() }
    }

    /// Names the part of the file that has the fault.
    pub fn of(self, name: &str) -> Self {
        match self {
            Self::Bad { found, expected } => Self::bad(format!("`{name}` {found}"), expected),
            Self::Io(error) => Self::Io(error),
        }
    }

    pub fn in_file(self, path: impl Into<PathBuf>) -> ReaderError {
        let path = path.into();
        match self {
            // The file was shortened while it was read.
            Self::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                let found = "the file became shorter while it was read".to_owned();
                ReaderError::BadFile { path, found, expected: "a complete file".to_owned() }
            }
            Self::Io(source) => ReaderError::Io { path, source },
            Self::Bad { found, expected } => ReaderError::BadFile { path, found, expected },
        }
    }
}

impl From<io::Error> for ModelFileFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
