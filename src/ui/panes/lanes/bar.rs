//! A lane on the axis: half blocks while toolyard itself sees a call run, a line while an agent has it, dashes while it
//! is held.

use std::ops::Range;

use ratatui::style::Style;

use super::rows::{LaneCall, LaneRow};
use crate::cx::Cx;
use crate::domain::{ModelCallPhase, ToolCallPhase};
use crate::panes::calls::axis::Axis;
use crate::panes::row::Row;
use crate::symbols::PLANNED;

/// Half a block keeps neighbouring rows apart.
const RAN: &str = "▄";
/// The agent has the call; nobody here knows when it runs.
const AWAY: &str = PLANNED;
const PAUSE: &str = "╌";
const NOW: &str = "┃";

/// Draws a lane on all cells of the axis.
pub fn draw(cx: &Cx<'_>, axis: &Axis, lane: &LaneRow<'_>, row: &mut Row<'_>) {
    let mut cells = vec![(" ", cx.theme.dim); axis.width];
    for (part, glyph, style) in parts(cx, axis, lane) {
        cells[part].fill((glyph, style));
    }
    let is_open = !lane.effect().is_over() && lane.waits_for(cx.state).is_none();
    if is_open && lane.hold(cx.state).is_none() && lane.effect().started.is_some() {
        let at = axis.cell(cx.now);
        cells.get_mut(at).into_iter().for_each(|cell| *cell = (NOW, cx.theme.running));
    }
    put(&cells, row);
}

/// Writes cells, each with its style.
pub fn put(cells: &[(&str, Style)], row: &mut Row<'_>) {
    for run in cells.chunk_by(|a, b| a.1 == b.1) {
        let text: String = run.iter().map(|(glyph, _)| *glyph).collect();
        row.cell(&text, run.len(), run[0].1);
    }
}

/// The parts of a lane, later ones drawn over earlier ones: cells, glyph and style.
pub fn parts(
    cx: &Cx<'_>,
    axis: &Axis,
    lane: &LaneRow<'_>,
) -> Vec<(Range<usize>, &'static str, Style)> {
    let now = cx.now;
    let effect = lane.effect();
    let mut parts = Vec::new();
    if let Some(started) = effect.started {
        let ended = effect.ended.unwrap_or(now);
        let (glyph, style) = look(cx, lane);
        parts.push((axis.cells(started, ended), glyph, style));
        // A relay knows when its server had the call.
        if let LaneCall::Tool(call) = lane.call
            && let Some(relayed) = &call.relayed
        {
            let answered = relayed.ran.unwrap_or(ended).min(ended);
            parts.push((axis.cells(relayed.sent.min(answered), answered), RAN, style));
        }
    }
    for (from, to) in lane.held(cx.state, now) {
        parts.push((axis.cells(from, to), PAUSE, cx.theme.paused));
    }
    parts
}

/// The glyph and style of a lane while it runs and afterwards.
fn look(cx: &Cx<'_>, lane: &LaneRow<'_>) -> (&'static str, Style) {
    let theme = cx.theme;
    let injected = lane.effect().injected.is_some();
    match lane.call {
        LaneCall::Model(call) => {
            let style = match &call.phase {
                _ if injected => theme.injected,
                ModelCallPhase::Failed { .. } => theme.bad,
                ModelCallPhase::Requested | ModelCallPhase::Running => theme.running,
                ModelCallPhase::Done { .. } => theme.bar_fill,
            };
            (RAN, style)
        }
        LaneCall::Tool(call) => {
            let style = match &call.phase {
                _ if injected => theme.injected,
                ToolCallPhase::Failed { .. } => theme.bad,
                ToolCallPhase::Refused { .. } => theme.warn,
                ToolCallPhase::Requested | ToolCallPhase::Running => theme.running,
                ToolCallPhase::Done { .. } => theme.good,
            };
            (if call.wire_id.is_some() { AWAY } else { RAN }, style)
        }
    }
}
