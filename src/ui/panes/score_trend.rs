//! How the scores of tools went, on one scale: two trends below each other can be compared.

use super::glyph;
use crate::domain::{State, ToolName};

/// How many scores a trend shows.
pub const WIDTH: usize = 8;

/// The least and the greatest score that any trend shows. 0 is in it, where every tool begins.
pub fn scale(state: &State) -> (f64, f64) {
    let shown = state.learning.history.values().flat_map(|points| points.iter().rev().take(WIDTH));
    shown.fold((0.0, 0.0), |(low, high): (f64, f64), point| {
        (low.min(point.score), high.max(point.score))
    })
}

/// The last scores of a tool; nothing for one that was never scored.
pub fn of(state: &State, tool: &ToolName, scale: (f64, f64)) -> String {
    let Some(points) = state.learning.history.get(tool) else { return String::new() };
    let scores = [0.0].into_iter().chain(points.iter().map(|point| point.score));
    glyph::spark(scores, WIDTH, scale)
}
