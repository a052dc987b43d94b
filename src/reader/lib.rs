//! Readers: small local models that read text, so that their states can be used.
//!
//! [`Reader::states`] gives the states after any layers from one pass. A reader keeps keys and values of the last
//! sequence: a sequence that begins in the same way is read from where it differs, so a text that grows is read once.
//!
//! [`LocalReader`] reads GGUF files of llama models on the processor, without a network. The model file is hostile
//! until it is checked: a broken one is an error, and takes no more memory than a small multiple of its size.
//!
//! Reading is synchronous and takes seconds for long texts. Call it on a thread for blocking work.

mod error;
mod facts;
mod forward;
mod gguf;
mod kernel;
mod local;
mod shape;
mod states;
mod tokenizer;

use std::sync::atomic::AtomicBool;

pub use self::error::ModelFileFault;
pub use self::error::ReaderError;
pub use self::facts::Facts;
pub use self::local::LocalReader;
pub use self::shape::LONGEST_CONTEXT;
pub use self::states::{Pooling, StateLayer, StateRequest, States};
pub use self::tokenizer::{LONGEST_TEXT, Special, Tokenizer, Tokens};

/// A causal model whose states can be seen.
pub trait Reader: Send {
    fn facts(&self) -> &Facts;

    fn tokenizer(&self) -> &Tokenizer;

    /// The requested states of a sequence of tokens, in the order of `wanted`, from one pass. The pass ends after the
    /// deepest requested layer. Set `cancelled` to end it earlier: it is checked several times a second.
    ///
    /// # Errors
    /// The sequence is empty or too long, has an unknown token, or a layer does not exist; or it was cancelled.
    fn states(
        &mut self,
        tokens: &[u32],
        wanted: &[StateRequest],
        cancelled: &AtomicBool,
    ) -> Result<Vec<States>, ReaderError>;
}
