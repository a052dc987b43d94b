//! The local model that reads along.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::finite::Finite;
use crate::id::ToolName;
use crate::reading::{ReaderAbout, ToolMap};

/// The reader of a session and how far it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReaderState {
    #[serde(flatten)]
    pub about: ReaderAbout,
    /// How many of the tools have a state.
    pub encoded: usize,
    pub tools: usize,
    /// The tools on a map, once they are encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Arc<ToolMap>>,
    /// Where tools were that the last change has moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<(ToolName, [Finite<f32>; 2])>,
    /// Why it does not read any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Tools that are closer than this on a map, in units of its vectors, have not moved.
const STILL: f32 = 1e-3;

impl ReaderState {
    /// Takes over a new map, and keeps where tools were that have moved.
    pub(super) fn redraw(&mut self, map: &Arc<ToolMap>) {
        let before = self.map.replace(Arc::clone(map)).unwrap_or_default();
        let now = |tool: &ToolName| map.tools.iter().find(|(name, _)| name == tool);
        let has_moved = |(tool, was): &&(ToolName, [Finite<f32>; 2])| {
            let far =
                |is: &[Finite<f32>; 2]| (0..2).any(|axis| (is[axis] - was[axis]).abs() > STILL);
            now(tool).is_some_and(|(_, is)| far(is))
        };
        // A new map has all tools elsewhere.
        let moved: Vec<_> = before.tools.iter().filter(has_moved).cloned().collect();
        self.moved = if 2 * moved.len() < map.tools.len() { moved } else { Vec::new() };
    }
}
