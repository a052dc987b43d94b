//! Errors of the cache of states.

use crate::database::DatabaseError;

/// Why the cache could not be opened, read or written. A failed write changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum StatesError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A query's state does not fit the mean of its domain.
    #[error("the mean of the queries of `{domain}`: {why}")]
    Unfit { domain: String, why: String },
}
