//! The forward pass of a llama model: states after any layer, and the scores of the next token.
//!
//! A layer is, for the state `x` of each token:
//!
//! ```text
//! x ← x + Wo · attention(rope(Wq·n), rope(Wk·n), Wv·n)      n = norm(x)
//! x ← x + Wdown · (silu(Wgate·m) ⊙ (Wup·m))                 m = norm(x)
//! ```

mod attention;
mod cache;
mod norm;
mod pass;
mod rotation;
mod swiglu;
mod weights;

pub use self::cache::Cache;
pub use self::pass::{Pass, PassStates};
pub use self::weights::Weights;
