//! ToolNet's mathematics over a [tool graph](crate::domain::graph): the static prior learned from
//! trajectories, and the weights computed from prior and scores (equations 5 to 7).

mod drawing;
mod evidence;
mod learn;
mod listing;
mod weights;

#[cfg(feature = "inside")]
pub use evidence::f;
#[cfg(feature = "inside")]
pub use learn::Learner;
pub use learn::{LearnError, learn};
pub use weights::{WeightedEdge, Weights};
