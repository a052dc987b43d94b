//! The local model that reads along.

use serde::{Deserialize, Serialize};

use crate::reading::ReaderAbout;

/// The reader of a session and how far it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReaderState {
    #[serde(flatten)]
    pub about: ReaderAbout,
    /// How many of the tools have a state.
    pub encoded: usize,
    pub tools: usize,
    /// Why it does not read any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
