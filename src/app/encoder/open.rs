//! Opens an encoder.

use std::path::Path;
use std::sync::Arc;

use super::{Encoder, EncoderError, EncoderWork, Identity};
use crate::files::sha256;
use crate::reader::{LocalReader, Reader};
use crate::store::states::{FileFacts, SharedStates, StateCache};

impl Encoder {
    /// Opens a model file and a cache of its states; without a cache, states are kept until the encoder ends.
    ///
    /// The file is hashed, which takes a moment for 98 MB; the cache remembers the hash of a file that did not change.
    ///
    /// # Errors
    /// A file cannot be read, is damaged, or is something else.
    pub fn open(model: &Path, cache: Option<&Path>) -> Result<Self, EncoderError> {
        let reader = LocalReader::shared(model)?;
        let mut states = match cache {
            Some(path) => StateCache::open(path)?,
            None => StateCache::in_memory()?,
        };
        let unhashed = |source| EncoderError::Hash { path: model.to_owned(), source };
        let file = FileFacts::of(model).map_err(unhashed)?;
        let hash = match states.file_hash(&file)? {
            Some(hash) => hash,
            None => {
                let hash = sha256::of_file(model).map_err(unhashed)?;
                states.keep_file_hash(&file, &hash)?;
                hash
            }
        };
        let name = match reader.facts().name.trim() {
            "" => model.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            name => name.to_owned(),
        };
        let identity = Arc::new(Identity { hash, name });
        let cache = SharedStates::from(states);
        Ok(Self { reader, identity, cache, threads: 1, work: EncoderWork::default() })
    }
}
