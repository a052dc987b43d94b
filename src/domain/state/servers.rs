//! Servers of tools.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::ToolName;

/// The most lines of a server that are kept.
const LINES: usize = 100;

/// How a server stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStage {
    #[default]
    Starting,
    /// Its tools can be called. `micros`: from its start to its list of tools.
    Ready { micros: u64 },
    /// It has ended at `at`, in microseconds since the session was opened, and is started again after `again_ms`
    /// milliseconds.
    Down { why: String, at: u64, again_ms: u64 },
    /// It is never started.
    Off { why: String },
}

/// One server of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    pub stage: ServerStage,
    /// Its own name and version; empty where it has not said them.
    pub program: String,
    /// The agreed revision of the protocol; empty before.
    pub revision: String,
    /// How many tools it has listed.
    pub tools: u32,
    /// How often it was started.
    pub starts: u32,
    /// When it was started last, in microseconds since the session was opened.
    pub started_at: u64,
    /// The tools whose definitions have changed, and are not accepted yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<ToolName, ChangedDefinition>,
    /// The last lines of its standard error and its log, oldest first.
    pub lines: VecDeque<String>,
    /// How many lines it has written, with those that are not kept.
    pub written: u64,
}

/// A definition that is not the one that was seen before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedDefinition {
    /// SHA-256 of the new definition, in hexadecimal.
    pub hash: Arc<str>,
    /// How both differ, as lines that begin with `+`, `-` or a space.
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
