//! Errors of an encoder.

use std::io;
use std::path::PathBuf;

use crate::papers::cotools::BadShape;
use crate::reader::ReaderError;
use crate::store::states::StatesError;

/// Why texts could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    #[error(transparent)]
    Reader(#[from] ReaderError),
    #[error("the cache of states: {0}")]
    Cache(#[from] StatesError),
    #[error("{path}: cannot hash the model file: {source}")]
    Hash { path: PathBuf, source: io::Error },
    #[error("states of single tokens are not encoded; expected the pooling `mean` or `end`")]
    SingleTokens,
    #[error("the states do not fit together: {0}")]
    Shape(#[from] BadShape),
}

impl EncoderError {
    /// Whether the encoding was cancelled, which is not a fault.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Reader(ReaderError::Cancelled))
    }
}
