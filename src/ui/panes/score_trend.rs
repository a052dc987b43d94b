//! How the scores of tools went, on one scale: two trends below each other can be compared.

use super::glyph;
use crate::domain::{State, ToolName};

/// How many scores a trend shows.
pub const WIDTH: usize = 8;

/// The least and the greatest score that any trend shows. 0 is in it, where every tool begins.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    range: (f64, f64),
}

impl Scale {
    pub fn of(state: &State) -> Self {
        let mut range = (0.0_f64, 0.0_f64);
        for points in state.learning.history.values() {
            for point in points.iter().rev().take(WIDTH) {
                range = (range.0.min(point.score), range.1.max(point.score));
            }
        }
        Self { range }
    }

    /// The last scores of a tool; nothing for one that was never scored.
    pub fn trend(&self, state: &State, tool: &ToolName) -> String {
        let points = state.learning.history.get(tool);
        let scores = points.into_iter().flatten().map(|point| point.score);
        let values: Vec<f64> = points.map(|_| 0.0).into_iter().chain(scores).collect();
        glyph::spark(values.into_iter(), WIDTH, self.range)
    }
}
