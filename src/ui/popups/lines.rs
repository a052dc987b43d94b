//! Prepared lines that are read by scrolling.

use ratatui::{buffer::Buffer, layout::Rect, text::Line, widgets::Widget};

use crate::cx::Cx;
use crate::window::{Move, Window};
use crate::{action::Action, vlist};

/// Lines, and which of them are on the screen.
#[derive(Debug, Default)]
pub(super) struct ScrolledText {
    pub lines: Vec<Line<'static>>,
    pub window: Window,
}

impl ScrolledText {
    /// Shows the last line.
    pub fn unwind(&mut self) {
        self.window.first = usize::MAX;
    }

    /// Scrolls to a line outside of the screen, with some of the lines before it.
    pub fn show(&mut self, line: usize) {
        if !self.window.range().contains(&line) {
            self.window.first = line.saturating_sub(self.window.rows / 3);
        }
    }

    /// Sets the number of rows for the lines.
    pub fn fit(&mut self, rows: usize) {
        self.window.free = true;
        self.window = self.window.next(self.lines.len(), rows, None);
    }

    /// Scrolls, if the action is a movement.
    pub fn go(&mut self, action: Action) {
        let page = isize::try_from(self.window.rows.max(2) - 1).unwrap_or(isize::MAX);
        let by = match Move::of(action) {
            Some(Move::Up) => -1,
            Some(Move::Down) => 1,
            Some(Move::PageUp) => -page,
            Some(Move::PageDown) => page,
            Some(Move::Top) => isize::MIN,
            Some(Move::Bottom) => isize::MAX,
            Some(Move::Left | Move::Right) | None => return,
        };
        self.window = self.window.wheeled(by);
    }

    pub fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        for (y, i) in (area.y..area.bottom()).zip(self.window.range()) {
            let line = Rect { y, height: 1, width: area.width.saturating_sub(1), ..area };
            (&self.lines[i]).render(line, buf);
        }
        let bar = Rect { x: area.right().saturating_sub(1), width: 1.min(area.width), ..area };
        if !bar.is_empty() {
            vlist::scrollbar(cx, bar, self.window, buf);
        }
    }
}
