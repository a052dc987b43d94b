//! How a server's connection stands.

use std::sync::Arc;
use std::time::Duration;

use super::definition::Definition;

/// How a server's connection stands.
#[derive(Clone, Debug)]
pub enum Stage {
    /// It is being started for the first time, or again.
    Starting,
    /// Its tools can be called.
    Ready(Arc<Offer>),
    /// It has ended, or could not be started.
    Down {
        why: String,
        /// After how long it is started again.
        again: Duration,
    },
    /// Its entry is disabled; it is never started.
    Off { why: String },
}

/// What a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The revision of the protocol that was agreed on, such as `2025-11-25`.
    pub revision: String,
    /// The server's own name and version; empty where it does not say them.
    pub program: String,
    pub tools: Vec<Arc<Definition>>,
    /// How long it took from the start of the server to its list of tools.
    pub took: Duration,
}
