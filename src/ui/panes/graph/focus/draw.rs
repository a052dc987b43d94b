//! The drawing of the focus view.
//!
//! ```text
//! start → search_web → wikipedia                          the path of this attempt
//!   search_web        █████▌······  36 ▲4                 predecessors
//! ▶ wikipedia  score +3 ▁▃█  12 ok 1 failed               the node
//! ▶ calculator        ████████▌···  35 ▲5   20 12×  chosen, running 310 ms
//!   date_diff         ████▌·······  18      20      on the menu
//! ```

use std::collections::HashSet;

use ratatui::{buffer::Buffer, layout::Rect};

use super::choices::{Choices, before};
use crate::domain::{ToolName, WeightFormat};
use crate::hits::{Hits, Target};
use crate::panes::graph::{centre, shown_name};
use crate::panes::row::{Row, note, split};
use crate::panes::trends::{self, Since};
use crate::panes::{format, glyph, position::Here};
use crate::symbols::{CUT, FELL, LEADS, ROSE, RUNNING};
use crate::{cx::Cx, table, text};

/// Least width for predecessors beside successors; below it they are above.
const WIDE: u16 = 110;
const BESIDE: u16 = 40;
/// Data shared by all parts of a frame.
pub struct Frame<'a> {
    pub cx: &'a Cx<'a>,
    pub here: Here<'a>,
    pub centre: &'a str,
    pub since: Option<Since<'a>>,
    pub format: WeightFormat,
    pub broken: HashSet<&'a ToolName>,
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.learning.graph.is_empty() {
        return note(area, "no tools yet", cx.theme.dim, buf);
    }
    let frame = Frame {
        cx,
        here: Here::of(cx.state),
        centre: centre(cx.state, cx.view.centre.as_ref()),
        since: Since::of(cx.state),
        format: format::weight_format(&cx.state.knobs),
        broken: cx.state.broken_tools(),
    };
    let (way, rest) = split(area, 1);
    frame.draw_way(way, buf, hits);
    if frame.is_joined(rest) {
        return frame.draw_joined(way, rest, buf, hits);
    }
    let (before, node_and_list) = frame.sides(rest);
    frame.draw_before(before, buf, hits);
    let (node, list) = split(node_and_list, 1);
    frame.draw_node(node, buf, hits);
    frame.draw_choices(list, buf, hits);
}

/// The number of rows for predecessors above the successors, including the heading.
fn before_rows(height: u16) -> u16 {
    match height {
        0..9 => 0,
        9..16 => 3,
        16..24 => 5,
        _ => 7,
    }
}

impl Frame<'_> {
    /// The areas of the predecessors, and of the node with its successors.
    fn sides(&self, area: Rect) -> (Rect, Rect) {
        if area.width >= WIDE {
            let left = Rect { width: BESIDE, ..area };
            return (left, Rect { x: left.right() + 2, width: area.width - BESIDE - 2, ..area });
        }
        let wanted = before(self.cx.state, self.centre).0.len() + 1;
        let choices = Choices::new(self.cx.state, self.centre);
        // Without weights, no node leads here more than another.
        let wanted = if choices.unweighted.is_some() { 0 } else { wanted };
        let choices = choices.total;
        let rows = before_rows(area.height).min(u16::try_from(wanted).unwrap_or(u16::MAX));
        // A heading alone says nothing.
        let rows = if rows < 2 { 0 } else { rows };
        // An empty line above each part, if there are rows to spare.
        let roomy = usize::from(area.height) >= usize::from(rows) + choices + 4;
        let air = |area| split(area, u16::from(roomy)).1;
        let (above, rest) = split(if rows > 0 { air(area) } else { area }, rows);
        (above, air(rest))
    }

    /// Draws the nodes of this attempt in order; the first ones are left out if not all fit.
    fn draw_way(&self, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let theme = self.cx.theme;
        let way = self.here.path();
        let way = if way.is_empty() { vec![self.here.node()] } else { way };
        let widths = way.iter().rev().map(|name| text::width(&text::clean(name)) + 2);
        let room = usize::from(line.width).saturating_sub(4);
        let skipped = way.len() - table::fitting(widths, room).0;
        let mut row = Row::new(line, buf);
        if skipped > 0 {
            row.put(&format!("{CUT} {LEADS} "), theme.dim);
        }
        // The node where the agent chooses; a tool just called comes after it.
        let place = way.iter().rposition(|name| *name == self.here.node());
        for (i, name) in way.iter().enumerate().skip(skipped) {
            if i > skipped {
                row.put(&format!(" {LEADS} "), theme.dim);
            }
            let start = row.x();
            let style = if Some(i) == place { theme.graph_here } else { theme.graph_node };
            row.put(shown_name(name), style);
            hits.add(row.since(start), Target::Tool(ToolName::new(name)));
        }
    }

    /// Draws the node in the middle: its name, and its results.
    fn draw_node(&self, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let cx = self.cx;
        let theme = cx.theme;
        let mut row = Row::new(line, buf);
        let is_here = self.centre == self.here.node();
        let style = if is_here { theme.graph_here } else { theme.accent };
        row.cell(if is_here { RUNNING } else { "" }, 2, style).put(shown_name(self.centre), style);
        let name = ToolName::new(self.centre);
        if let Some(tool) = cx.state.tools.get(&name) {
            let score = cx.state.learning.score(&name);
            row.put("  score ", theme.dim).put(&glyph::signed(score), theme.text).gap(1);
            let scale = trends::score_scale(cx.state);
            row.put(&trends::scores(cx.state, &name, scale), theme.bar_fill);
            let calls = format!("  {} ok, {} failed", tool.succeeded, tool.failed);
            row.put(&calls, theme.dim);
        }
        if !is_here {
            row.put(&format!("  ({})", self.away()), theme.warn);
        }
        self.draw_since(&mut row);
        hits.add(line, Target::Tool(name));
    }

    /// Says how to return to the agent's node.
    pub fn away(&self) -> String {
        format!("the agent is at {}: press Home", self.here.node())
    }

    /// Draws the cause of the last change of weights, at the right end.
    pub fn draw_since(&self, row: &mut Row<'_>) {
        let Some(since) = &self.since else { return };
        let words = format!("{ROSE}{FELL} since {}", since.words());
        let left = row.left();
        if left > text::width(&words) + 1 {
            row.right(&words, left, self.cx.theme.dim);
        }
    }
}
