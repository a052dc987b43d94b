//! A list in a popup, of which one row is selected.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Pressed, Reply};
use crate::ui::action::Action;
use crate::ui::hits::{Hits, Target};
use crate::ui::window::{self, Move, Window};
use crate::ui::{cx::Cx, vlist};

/// How far a page key goes.
const PAGE: usize = 10;

/// The selected row; what the rows are is known to whoever has the list.
#[derive(Debug, Default)]
pub(super) struct Pick {
    pub row: usize,
}

impl Pick {
    pub fn at(row: usize) -> Self {
        Self { row }
    }

    /// Moves the selection among `total` rows, or leaves the list.
    pub fn key(&mut self, pressed: Pressed, total: usize) -> Reply {
        let to = match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(action) => Move::of(action),
            None => None,
        };
        if let Some(to) = to {
            self.row = window::moved(total, Some(self.row), to, PAGE).unwrap_or(0);
        }
        Reply::Stay
    }

    /// The rows that [`Pick::draw`] shows there.
    pub fn window(&self, total: usize, area: Rect) -> Window {
        Window::default().next(total, usize::from(area.height), Some(self.row))
    }

    /// Draws as many rows as there is room for, the selected one among them. Gives back which that is:
    /// the last one, if there are fewer rows now than when it was selected.
    pub fn draw(
        &self,
        cx: &Cx<'_>,
        (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
        total: usize,
        row: impl FnMut(usize, Rect, &mut Buffer),
    ) -> usize {
        let selected = self.row.min(total.saturating_sub(1));
        draw(cx, (area, buf, hits), self.window(total, area), selected, row);
        selected
    }
}

/// Draws the rows of this window, marks the selected one, and notes them for the mouse. `row` gets a
/// row's place in the list and its area of one line.
pub(super) fn draw(
    cx: &Cx<'_>,
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    window: Window,
    selected: usize,
    mut row: impl FnMut(usize, Rect, &mut Buffer),
) {
    for (y, i) in (area.y..area.bottom()).zip(window.range()) {
        let line = Rect { y, height: 1, ..area };
        row(i, line, buf);
        if i == selected {
            vlist::select(&Cx { focused: true, ..*cx }, line, buf);
        }
        hits.add(line, Target::PopupRow(i));
    }
}
