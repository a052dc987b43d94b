//! A lane on the axis: dots while the call waits for room, a bar while it runs, bars of rest while the user holds it.
//! The bar is higher while the server behind a relay has the call.

use std::ops::Range;

use ratatui::style::Style;

use super::{axis::Axis, track::Track};
use crate::symbols::{HELD, SPENT, WAITING};
use crate::{cx::Cx, panes::row::Row};

/// A run that is not on the critical path.
const ASIDE: &str = "▄";
const TICK: &str = "┊";
/// Time in which nothing ran since something was held.
const GAP: &str = "·";

/// Draws a lane on all cells of the axis; a lane that was never requested has no bar.
pub fn draw(cx: &Cx<'_>, axis: &Axis, track: &Track<'_>, critical: bool, row: &mut Row<'_>) {
    let mut cells = vec![(" ", cx.theme.dim); axis.width];
    for (tick, _) in axis.ticks() {
        cells[tick].0 = TICK;
    }
    for (gap, _) in axis.gaps() {
        cells[gap].fill((GAP, cx.theme.dim));
    }
    for (part, glyph, style) in parts(cx, axis, track, critical) {
        cells[part].fill((glyph, style));
    }
    for run in cells.chunk_by(|a, b| a.1 == b.1) {
        let text: String = run.iter().map(|(glyph, _)| *glyph).collect();
        row.put(&text, run[0].1);
    }
}

/// The parts of a lane, later ones drawn over earlier ones: cells, glyph and style.
fn parts(
    cx: &Cx<'_>,
    axis: &Axis,
    track: &Track<'_>,
    critical: bool,
) -> Vec<(Range<usize>, &'static str, Style)> {
    let (theme, now) = (cx.theme, cx.now);
    let mut parts = Vec::new();
    let Some(wanted) = track.wanted() else { return parts };
    let unstarted = || track.call.and_then(|call| call.ended).or(track.over()).unwrap_or(now);
    let ran = track.ran().map(|(started, ended)| (started, ended.unwrap_or(now)));
    let (started, ended) = ran.unwrap_or_else(|| (unstarted(), unstarted()));
    if started > wanted || ran.is_none() {
        parts.push((axis.cells(wanted, started), WAITING, theme.warn));
    }
    if ran.is_some() {
        let glyph = if critical { SPENT } else { ASIDE };
        // A held call is drawn as it ran.
        let held = track.hold().is_some();
        let style = if held { theme.dim } else { track.standing(theme).style };
        parts.push((axis.cells(started, ended), glyph, style));
        // A relay knows when its server had the call.
        if let Some(relayed) = track.call.and_then(|call| call.relayed.as_ref()) {
            let answered = relayed.ran.unwrap_or(ended).min(ended);
            parts.push((axis.cells(relayed.sent.min(answered), answered), SPENT, style));
        }
    }
    let holds = track.call.map_or(&[][..], |call| &call.holds);
    let hold = track.hold().map(|hold| (hold.since, now));
    for (from, to) in holds.iter().copied().chain(hold) {
        let mut cells = axis.cells(from, to);
        // A short hold before or after the run must not hide it.
        if ran.is_some() {
            let ran = axis.cells(started, ended);
            if from >= ended {
                cells.start = cells.start.max(ran.end).min(cells.end);
            } else if to <= started {
                cells.end = cells.end.min(ran.start).max(cells.start);
            }
        }
        parts.push((cells, HELD, theme.paused));
    }
    parts
}
