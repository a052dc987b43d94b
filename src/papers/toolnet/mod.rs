//! ToolNet's mathematics over a [tool graph](crate::domain::graph): the static prior learned from
//! trajectories, and the weights computed from prior and scores (equations 5 to 7).

mod evidence;
mod learn;
mod listing;
mod prefix;
mod weights;

pub use evidence::f;
pub use learn::Learner;
pub use learn::{LearnError, learn};
pub use prefix::Prefix;
pub use weights::{WeightedEdge, Weights};
