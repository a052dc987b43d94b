//! Rows in a popup, one of which is selected and some of which are on the screen.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Pressed, Reply};
use crate::action::Action;
use crate::hits::{Hits, Target};
use crate::window::{self, Move, Window};
use crate::{cx::Cx, vlist};

/// The selected row. The owner of the list knows what the rows are.
#[derive(Debug, Default)]
pub struct Pick {
    pub row: usize,
    pub window: Window,
}

impl Pick {
    /// Moves the selection among `total` rows, or leaves the list.
    pub fn key(&mut self, pressed: Pressed, total: usize) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(action) => Move::of(action).into_iter().for_each(|to| self.go(to, total)),
            None => {}
        }
        Reply::Stay
    }

    pub fn go(&mut self, to: Move, total: usize) {
        self.window.free = false;
        self.row = window::moved(total, Some(self.row), to, self.window.rows).unwrap_or(0);
    }

    /// Sets the number of rows, and of those with room on the screen. Selects the last row if the selected one is gone.
    pub fn fit(&mut self, total: usize, rows: usize) {
        self.row = self.row.min(total.saturating_sub(1));
        self.window = self.window.next(total, rows, Some(self.row));
    }

    /// Draws the rows of the window, marks the selected one, and notes them for the mouse. `row` gets a
    /// row's place in the list and its area of one line.
    pub fn draw(
        &self,
        cx: &Cx<'_>,
        (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
        mut row: impl FnMut(usize, Rect, &mut Buffer),
    ) {
        let bar = self.window.total > self.window.rows && area.width > 4;
        let width = area.width - u16::from(bar);
        for (y, i) in (area.y..area.bottom()).zip(self.window.range()) {
            let line = Rect { y, width, height: 1, ..area };
            row(i, line, buf);
            if i == self.row {
                vlist::select(&Cx { focused: true, ..*cx }, line, buf);
            }
            hits.add(line, Target::PopupRow(i));
        }
        if bar {
            vlist::scrollbar(cx, Rect { x: area.x + width, width: 1, ..area }, self.window, buf);
        }
    }
}
