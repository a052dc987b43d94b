//! A cache of states, a local model's vectors for texts, so that a text is read once for all sessions.
//!
//! A state is identified by its content: the SHA-256 of the text, the SHA-256 of the model's file, the layer and the
//! pooling. A changed description is another text, so nothing needs to be invalidated. The cache is bounded: the least
//! recently used states leave first.
//!
//! Beside the states it keeps, for each domain of questions, the mean of its distinct queries
//! ([`RunningMean`](crate::papers::cotools::RunningMean)). A domain is a name that the caller chooses, such as a
//! workspace.
//!
//! Several sessions may use one file at once; each owns a [`StateCache`] of its own. Everything in it can be computed
//! again, so a damaged file may be deleted.

mod error;
mod means;
mod model_files;
mod open;
mod place;
mod rows;

pub use self::error::StatesError;
pub use self::model_files::FileFacts;
pub use self::place::{StatePlace, TextKey};

use crate::database::Database;
use crate::shared::Shared;

/// The most states of a cache: 460 MB where a state has 576 numbers.
pub const MOST_STATES: u64 = 200_000;

/// An open cache of states. One thread uses it at a time; several may be open on one file.
pub struct StateCache {
    database: Database,
    /// The number of this opening.
    turn: i64,
    most: u64,
}

/// A cache of states with several owners.
pub type SharedStates = Shared<StateCache>;
