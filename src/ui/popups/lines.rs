//! Prepared lines that are read by scrolling.

use ratatui::{
    buffer::Buffer, crossterm::event::KeyCode, layout::Rect, text::Line, widgets::Widget,
};

use crate::ui::{key::Key, pane::Cx, vlist};

/// Lines, and which of them are on the screen.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line<'static>>,
    window: vlist::Window,
}

impl Lines {
    /// New lines for the same place: what was read stays where it was.
    pub fn set(&mut self, lines: Vec<Line<'static>>) {
        self.lines = lines;
    }

    /// Shows the last line.
    pub fn unwind(&mut self) {
        self.window.first = usize::MAX;
    }

    /// How many rows there are for them.
    pub fn fit(&mut self, rows: usize) {
        self.window.free = true;
        self.window = self.window.next(self.lines.len(), rows, None);
    }

    pub fn wheel(&mut self, by: isize) {
        self.window = self.window.wheeled(by);
    }

    /// Scrolls; false for any other key.
    pub fn key(&mut self, key: Key) -> bool {
        let page = isize::try_from(self.window.rows.max(2) - 1).unwrap_or(isize::MAX);
        let ctrl = Key::plain(key.code) != key;
        let by = match key.code {
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::PageUp | KeyCode::Char('b') => -page,
            KeyCode::PageDown => page,
            KeyCode::Home => isize::MIN,
            KeyCode::End | KeyCode::Char('G') => isize::MAX,
            KeyCode::Char('u') if ctrl => -page / 2,
            KeyCode::Char('d') if ctrl => page / 2,
            _ => return false,
        };
        self.window = self.window.wheeled(by);
        true
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
