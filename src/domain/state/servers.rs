//! Servers of tools.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::ToolName;

/// The most lines of a server that are kept.
const LINES: usize = 100;

/// Status of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStage {
    #[default]
    Starting,
    /// The server's tools can be called. `micros`: time from its start to its list of tools.
    Ready { micros: u64 },
    /// The server has ended at `at`, in microseconds since the session was opened, and is started again after
    /// `again_ms` milliseconds.
    Down { why: String, at: u64, again_ms: u64 },
    /// The server is never started.
    Off { why: String },
}

/// State of a tool server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    pub stage: ServerStage,
    /// Name and version that the server reports; empty if it has not reported them.
    pub program: String,
    /// The agreed revision of the protocol; empty before.
    pub revision: String,
    /// Number of tools that it has listed.
    pub tools: u32,
    /// Number of times that it was started.
    pub starts: u32,
    /// Time of its last start, in microseconds since the session was opened.
    pub started_at: u64,
    /// The tools whose definitions have changed, and are not accepted yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<ToolName, ChangedDefinition>,
    /// The last lines of its standard error and its log, oldest first.
    pub lines: VecDeque<String>,
    /// Number of lines that it has written, including those that are not kept.
    pub written: u64,
}

/// A definition that is not the one that was seen before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedDefinition {
    /// SHA-256 of the new definition, in hexadecimal.
    pub hash: Arc<str>,
    /// Difference between the old and the new definition, as lines that begin with `+`, `-` or a space.
    pub difference: Arc<str>,
}

impl ServerState {
    /// Adds lines, after others that were left out.
    pub(super) fn say(&mut self, lines: &[String], left_out: u64) {
        self.written += left_out + lines.len() as u64;
        self.lines.extend(lines.iter().cloned());
        let excess = self.lines.len().saturating_sub(LINES);
        self.lines.drain(..excess);
    }
}
