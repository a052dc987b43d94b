//! ToolNet's weighted tool graph: which tool comes after which, and how much it is worth a try.
//!
//! The graph ([`ToolGraph`]) holds only what was learned before any score: the prior. What the
//! evaluator and the user say since then is in [`Scores`] and [`Pins`]. A weight is never stored but
//! derived from the three whenever it is looked at (`Weights`, in `papers::toolnet`), so that turning alpha
//! or beta, taking back a score or replaying a journal needs no bookkeeping and can leave nothing stale
//! behind.
//!
//! Everything here is pure: no files, no clock, no chance.

mod file;
mod format;
mod listing;
mod pins;
mod scores;
mod store;

pub use file::{GraphError, ListingFault};
pub use format::WeightFormat;
pub(crate) use listing::nodes;
pub use listing::{ListedEdge, Listing};
pub use pins::{PinError, Pins};
pub use scores::{ScoreError, Scores};
pub use store::{EdgeRef, Prior, Structure, ToolGraph};
pub(crate) use store::{Row, Successor};
