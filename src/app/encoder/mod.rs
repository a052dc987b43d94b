//! The encoder: turns texts into states of a local model, for all retrieval by states.
//!
//! States of known texts come from the cache ([`crate::store::states`]), so a cancelled encoding continues where it
//! ended. The method decides the end of a text: [`Encoder::encode`] appends the end token, [`Encoder::token_states`]
//! does not.
//!
//! All methods wait for the processor. Call them on a thread for blocking work, with a clone: clones share the weights
//! and the cache.

mod encode;
mod error;
pub mod heads;
mod open;
mod passes;
pub mod reader_path;
mod tokens;

use std::sync::Arc;

pub use self::error::EncoderError;
use crate::papers::cotools::{self, ModelSize};
use crate::reader::{Facts, LocalReader, Reader};
use crate::store::states::SharedStates;

/// A local model with a cache of its states.
#[derive(Clone)]
pub struct Encoder {
    reader: LocalReader,
    identity: Arc<Identity>,
    cache: SharedStates,
    threads: usize,
    work: EncoderWork,
}

/// The identity of a model.
struct Identity {
    hash: String,
    name: String,
}

/// Work of an encoder since it was opened or cloned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncoderWork {
    /// Texts that were read, not taken from the cache.
    pub texts: u64,
    /// Tokens of these texts, with end tokens.
    pub tokens: u64,
    /// Texts longer than the model's context: their ends were not read.
    pub cut: u64,
}

impl Encoder {
    pub fn facts(&self) -> &Facts {
        self.reader.facts()
    }

    /// SHA-256 of the model's file, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.identity.hash
    }

    /// The model's name in its file, or the file's own name. It is untrusted text.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    pub fn size(&self) -> ModelSize {
        let Facts { layers, width, feed_forward, .. } = *self.reader.facts();
        let layers = u32::try_from(layers).unwrap_or(u32::MAX);
        ModelSize { layers, width, feed_forward: Some(feed_forward) }
    }

    /// The model in the form that heads use.
    pub fn as_reader(&self) -> cotools::ReaderModel<'_> {
        let ModelSize { layers, width, .. } = self.size();
        cotools::ReaderModel { hash: self.hash(), name: self.name(), layers, width }
    }

    /// Sets the number of threads that read texts, 1 or more; the default is 1.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// Returns the work so far.
    pub fn work(&self) -> EncoderWork {
        self.work
    }

    /// The cache of states.
    pub fn cache(&self) -> &SharedStates {
        &self.cache
    }
}
