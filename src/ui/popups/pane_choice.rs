//! Which pane comes into the place of the focused one.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Pressed, Reply, frame, pick::Pick};
use crate::ui::action::{Action, Layer};
use crate::ui::panes::row::Row;
use crate::ui::{cx::Cx, hits::Hits, keymap::Hint, pane::PaneId, view::View};

/// The panes that are elsewhere or hidden.
#[derive(Debug)]
pub struct PaneChoice {
    /// Whose place it is.
    beside: PaneId,
    panes: Vec<PaneId>,
    pick: Pick,
}

impl PaneChoice {
    pub fn new(view: &View) -> Self {
        let is_other = |pane: &PaneId| *pane != view.focus;
        let panes = PaneId::ALL.iter().copied().filter(is_other).collect();
        Self { beside: view.focus, panes, pick: Pick::default() }
    }
}

impl Popup for PaneChoice {
    fn layer(&self) -> Layer {
        Layer::List
    }

    fn hints(&self) -> &'static [Hint] {
        &[(&[Action::Accept], "show it here"), (&[Action::Leave], "leave")]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        if pressed.is(Action::Accept) {
            return self.click(self.pick.row, around);
        }
        self.pick.key(pressed, self.panes.len())
    }

    fn click(&mut self, row: usize, around: &mut Around<'_>) -> Reply {
        if let Some(pane) = self.panes.get(row) {
            around.view.layouts.change().put(*pane, self.beside);
            around.view.go_to(*pane);
        }
        Reply::Close
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = format!("A pane for the place of {}", self.beside.name());
        let size = (44, self.panes.len());
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        self.pick.draw(cx, (inside, buf, hits), self.panes.len(), |i, line, buf| {
            let pane = self.panes[i];
            let hidden = cx.view.layouts.now().slot_of(pane).is_none();
            let mut row = Row::new(line, buf);
            row.gap(2).cell(pane.name(), 14, cx.theme.text);
            row.put(if hidden { "hidden" } else { "moves here" }, cx.theme.dim);
        });
    }
}
