//! One line of a pane, written from left to right. What does not fit is cut, never wrapped, and
//! all text is cleaned before it is written.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::glyph;
use crate::ui::text;

/// The first rows of an area, and what is left.
pub fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Writes a single line, as where there is nothing else to draw.
pub fn note(area: Rect, words: &str, style: Style, buf: &mut Buffer) {
    Row::new(area, buf).put(words, style);
}

/// Wraps a text into an area, with `…` where it has no room for all of it.
pub fn wrapped(area: Rect, text: &str, style: Style, buf: &mut Buffer) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    lines(area, text::wrap_within(text, width, height), style, buf);
}

/// Writes lines below each other, as many as there is room for.
pub fn lines(area: Rect, lines: impl IntoIterator<Item = String>, style: Style, buf: &mut Buffer) {
    for (row, line) in area.rows().zip(lines) {
        Row::new(row, buf).put(&line, style);
    }
}

/// A line that is being written.
pub struct Row<'a> {
    buf: &'a mut Buffer,
    x: u16,
    y: u16,
    right: u16,
}

impl<'a> Row<'a> {
    /// The first line of `area`; what is outside of the buffer is never written.
    pub fn new(area: Rect, buf: &'a mut Buffer) -> Self {
        let area = area.intersection(buf.area);
        let right = if area.height == 0 { area.x } else { area.right() };
        Self { buf, x: area.x, y: area.y, right }
    }

    /// How many cells are left.
    pub fn left(&self) -> usize {
        usize::from(self.right - self.x)
    }

    /// Where the next cell is.
    pub fn x(&self) -> u16 {
        self.x
    }

    /// The cells from this one on that were written.
    pub fn since(&self, x: u16) -> Rect {
        Rect { x, y: self.y, width: self.x - x, height: 1 }
    }

    /// As much of the text as fits, and no more cells than it takes.
    pub fn put(&mut self, text: &str, style: Style) -> &mut Self {
        let width = self.left();
        self.write(text, width, style);
        self
    }

    /// The text at the left end of exactly so many cells; all of them get the style.
    pub fn cell(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let width = width.min(self.left());
        // At most what is left of the line, which is measured in u16.
        let end = self.x + u16::try_from(width).unwrap_or(0);
        self.write(text, width, style);
        let rest = Rect { x: self.x, y: self.y, width: end - self.x, height: 1 };
        self.buf.set_style(rest, style);
        self.x = end;
        self
    }

    /// The text at the right end of exactly so many cells.
    pub fn right(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let width = width.min(self.left());
        let text = text::cut(text, width);
        let before = width.saturating_sub(text::width(&text));
        self.gap(before);
        self.write(&text, width - before, style);
        self
    }

    /// Leaves so many cells as they are.
    pub fn gap(&mut self, cells: usize) -> &mut Self {
        self.x += u16::try_from(cells.min(self.left())).unwrap_or(0);
        self
    }

    /// A bar of exactly so many cells for a share from 0 to 1.
    pub fn bar(&mut self, share: f64, width: usize, (full, empty): (Style, Style)) -> &mut Self {
        let width = width.min(self.left());
        let bar = glyph::bar(share, width);
        let rest = width - text::width(&bar);
        self.write(&bar, width, full);
        self.write(&"·".repeat(rest), rest, empty);
        self
    }

    fn write(&mut self, text: &str, width: usize, style: Style) {
        if width == 0 {
            return;
        }
        let text = text::cut(text, width);
        self.x = self.buf.set_stringn(self.x, self.y, &text, width, style).0.min(self.right);
    }
}
