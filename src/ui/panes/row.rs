//! A line of a pane, written from left to right. Text that does not fit is cut, never wrapped, and
//! all text is cleaned before it is written.

use ratatui::style::{Modifier, Style};
use ratatui::{buffer::Buffer, layout::Rect};

use super::glyph;
use crate::text;

/// The first rows of an area, and the rest.
pub fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Writes a single line, if there is nothing else to draw.
pub fn note(area: Rect, words: &str, style: Style, buf: &mut Buffer) {
    Row::new(area, buf).put(words, style);
}

/// Wraps a text into an area, with `…` if it does not fit.
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
    /// The first line of `area`; cells outside of the buffer are never written.
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

    /// The cells written from this column on.
    pub fn since(&self, x: u16) -> Rect {
        Rect { x, y: self.y, width: self.x - x, height: 1 }
    }

    /// Writes as much of the text as fits, and takes no more cells than that.
    pub fn put(&mut self, text: &str, style: Style) -> &mut Self {
        let width = self.left();
        self.write(text, width, style);
        self
    }

    /// Writes the text at the left end of exactly `width` cells. Blank cells get the style without its background.
    pub fn cell(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let width = width.min(self.left());
        // At most the rest of the line, which is measured in u16.
        let end = self.x + u16::try_from(width).unwrap_or(0);
        self.write(text, width, style);
        let rest = Rect { x: self.x, y: self.y, width: end - self.x, height: 1 };
        self.buf.set_style(rest, groundless(style));
        self.x = end;
        self
    }

    /// Writes the text at the right end of exactly `width` cells.
    pub fn right(&mut self, text: &str, width: usize, style: Style) -> &mut Self {
        let width = width.min(self.left());
        let text = text::cut(text, width);
        let before = width.saturating_sub(text::width(&text));
        self.gap(before);
        self.write(&text, width - before, style);
        self
    }

    /// Skips this many cells.
    pub fn gap(&mut self, cells: usize) -> &mut Self {
        self.x += u16::try_from(cells.min(self.left())).unwrap_or(0);
        self
    }

    /// Draws a bar of exactly `width` cells for a share from 0 to 1.
    pub fn bar(&mut self, share: f64, width: usize, (full, empty): (Style, Style)) -> &mut Self {
        let width = width.min(self.left());
        let bar = glyph::thin_bar(share, width);
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
        let (start, inner) = (text.len() - text.trim_start().len(), text.trim());
        let end = start + inner.len();
        for (part, style) in
            [(&text[..start], groundless(style)), (inner, style), (&text[end..], groundless(style))]
        {
            let left = self.left();
            self.x = self.buf.set_stringn(self.x, self.y, part, left, style).0.min(self.right);
        }
    }
}

/// The style of blanks beside a text. With a background they would look like text.
fn groundless(style: Style) -> Style {
    Style { bg: None, add_modifier: style.add_modifier - Modifier::REVERSED, ..style }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn a_ground_is_under_a_text_and_not_under_the_blanks_beside_it() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 1));
        let style = Style::new().bg(Color::Yellow).add_modifier(Modifier::UNDERLINED);
        Row::new(buf.area, &mut buf).put(" a b ", style).cell("c", 3, style).cell("", 2, style);
        let grounds: String =
            (0..12).map(|x| if buf[(x, 0)].bg == Color::Yellow { 'y' } else { '.' }).collect();
        assert_eq!(grounds, ".yyy.y......");
        assert!((0..10).all(|x| buf[(x, 0)].modifier == Modifier::UNDERLINED));
    }
}
