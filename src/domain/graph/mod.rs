//! ToolNet's weighted tool graph: which tool follows which, and how promising each transition is.
//!
//! The graph ([`ToolGraph`]) holds only the knowledge from before any score: the prior. Later
//! judgements of the evaluator and the user are in [`Scores`] and [`Pins`]. A weight is never
//! stored but derived from the three on every access (`Weights`, in `papers::toolnet`). So turning
//! alpha or beta, undoing a score or replaying a journal needs no bookkeeping and leaves nothing
//! stale.
//!
//! Everything here is pure: no files, no clock, no randomness.

mod file;
mod format;
mod listing;
mod pins;
mod scores;
mod store;

pub use format::WeightFormat;
pub use listing::{ListedEdge, Listing, nodes};
pub use pins::Pins;
pub use scores::Scores;
pub use store::{GraphRow, Prior, Structure, Successor, ToolGraph};
