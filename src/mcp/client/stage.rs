//! State of a server's connection.

use std::sync::Arc;
use std::time::Duration;

use super::definition::Definition;

/// State of a server's connection.
#[derive(Clone, Debug)]
pub enum Stage {
    /// The server is being started, for the first time or again.
    Starting,
    /// The server's tools can be called.
    Ready(Arc<Offer>),
    /// The server has ended, or could not be started.
    Down {
        why: String,
        /// Delay until the next start.
        again: Duration,
    },
    /// The server's entry is disabled; it is never started.
    Off { why: String },
}

/// Tools that a server offers, with its name and protocol revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The revision of the protocol that was agreed on, such as `2025-11-25`.
    pub revision: String,
    /// The server's own name and version; empty if the server does not give them.
    pub program: String,
    pub tools: Vec<Arc<Definition>>,
    /// Time from the start of the server to its list of tools.
    pub took: Duration,
}
