//! What the rows of both lists of the focus view have in common.

use super::draw::Frame;
use crate::domain::ToolName;
use crate::ui::panes::{format, graph::shown_name, row::Row};
use crate::ui::symbols::{INJECTED, REFUSED};
use crate::ui::text;

/// Columns: cursor and marks, number, difference.
pub const MARKS: usize = 5;
pub const NUMBER: usize = 6;
pub const MOVED: usize = 6;

/// Room for these names, in a list of this width: no more than they need, and at most a third of it.
pub fn name_width<'a>(width: usize, names: impl Iterator<Item = &'a ToolName>) -> usize {
    let longest = names.map(|name| text::width(shown_name(name.as_str()))).max();
    longest.unwrap_or(0).clamp(12, (width / 3).clamp(14, 28))
}

impl Frame<'_> {
    pub fn is_selected(&self, from: &str, to: &str) -> bool {
        let edge = self.cx.view.edge.as_ref();
        edge.is_some_and(|(a, b)| a.as_str() == from && b.as_str() == to)
    }

    pub fn draw_moved(&self, was: Option<f64>, weight: f64, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let was = was.unwrap_or(weight);
        let style = if weight > was { theme.good } else { theme.warn };
        row.cell(&format::moved(self.format, was, weight), MOVED, style);
    }

    pub fn draw_marks(&self, tool: &ToolName, cursor: &str, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        row.cell(cursor, 1, theme.graph_here);
        let known = self.cx.state.tools.get(tool);
        let off = known.is_some_and(|tool| !tool.is_offered());
        row.cell(if off { REFUSED } else { "" }, 1, theme.warn);
        row.cell(if self.broken.contains(tool) { INJECTED } else { "" }, 2, theme.injected);
        row.gap(MARKS - 4);
    }
}
