//! The local model that reads along.

use serde::{Deserialize, Serialize};

use crate::reading::ReaderAbout;

/// The reader of a session and its progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReaderState {
    #[serde(flatten)]
    pub about: ReaderAbout,
    /// The number of tools that have a state.
    pub encoded: usize,
    pub tools: usize,
    /// Why it has stopped reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
