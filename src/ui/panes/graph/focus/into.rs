//! What leads to the node in the middle.

use ratatui::{buffer::Buffer, layout::Rect};

use super::rows::{MOVED, NUMBER, name_width};
use super::{choices::before, draw::Frame};
use crate::domain::ToolName;
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::graph::{SPEC, shown_name};
use crate::ui::panes::row::{Row, split};
use crate::ui::{text, vlist, vlist::Rows};

impl Frame<'_> {
    pub fn draw_before(&self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        if area.height < 2 {
            return;
        }
        let theme = self.cx.theme;
        let (head, list) = split(area, 1);
        let (all, others) = before(self.cx.state, self.centre);
        let shown = Rows::of(self.cx.view, SPEC.id, (all.len(), None));
        let rows: Vec<_> = (0..shown.count()).filter_map(|i| all.get(shown.at(i))).collect();
        let mut row = Row::new(head, buf);
        row.put("predecessors", theme.dim);
        let hidden = others + rows.len().saturating_sub(usize::from(list.height));
        if hidden > 0 {
            row.put(&format!(", and {} more", text::count(hidden as u64)), theme.dim);
        }
        if rows.is_empty() {
            row.put(": nothing", theme.dim);
        }
        let selected =
            rows.iter().position(|(from, _)| self.is_selected(from.as_str(), self.centre));
        // The selected one is always among those shown.
        let first = selected.map_or(0, |i| (i + 1).saturating_sub(usize::from(list.height)));
        let before = self.since.as_ref().map(|since| since.weights());
        let name = name_width(usize::from(list.width), rows.iter().map(|(from, _)| from));
        for (y, (from, weight)) in (list.y..list.bottom()).zip(rows.iter().skip(first)) {
            let line = Rect { y, height: 1, ..list };
            let was = before.as_ref().and_then(|was| was.weight(from.as_str(), self.centre));
            let mut row = Row::new(line, buf);
            self.draw_marks(from, " ", &mut row);
            row.cell(shown_name(from.as_str()), name, theme.graph_node).gap(1);
            let bar = row.left().saturating_sub(NUMBER + MOVED).min(16);
            row.bar(*weight, bar, (theme.bar_fill, theme.bar_empty));
            row.right(&self.format.show(*weight), NUMBER, theme.text).gap(1);
            self.draw_moved(was, *weight, &mut row);
            let to = ToolName::new(self.centre);
            if self.is_selected(from.as_str(), self.centre) {
                vlist::select(self.cx, line, buf);
            }
            hits.add(line, Target::Edge(from.clone(), to));
        }
    }
}
