//! The rows of one entry: styled pieces of clean text, wrapped under each other.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text;

/// Rows of a given width that are being written.
#[derive(Debug)]
pub struct TranscriptSheet {
    pub width: usize,
    /// Rows that one text may take.
    pub most: usize,
    pub rows: Vec<Line<'static>>,
}

impl TranscriptSheet {
    pub fn new(width: usize, most: usize) -> Self {
        Self { width, most, rows: Vec::new() }
    }

    /// Adds a row of these pieces; text that does not fit is cut.
    pub fn row(&mut self, pieces: &[(&str, Style)]) {
        let mut room = self.width;
        let mut spans = Vec::new();
        for (piece, style) in pieces {
            let piece = text::cut(piece, room).into_owned();
            room -= text::width(&piece).min(room);
            spans.push(Span::styled(piece, *style));
        }
        self.rows.push(Line::from(spans));
    }

    /// Adds a text behind its own head, wrapped into rows that are indented by the head's width; `…` if something is
    /// left out.
    pub fn text(&mut self, (head, head_style): (&str, Style), (body, style): (&str, Style)) {
        let indent = text::width(head);
        let room = self.width.saturating_sub(indent).max(1);
        let lines = text::wrap_within(body, room, self.most);
        for (i, line) in lines.into_iter().enumerate() {
            let head = if i == 0 { head.to_owned() } else { " ".repeat(indent) };
            let spans = vec![Span::styled(head, head_style), Span::styled(line, style)];
            self.rows.push(Line::from(spans));
        }
    }

    /// Adds a text to the last row, if it fits there completely.
    pub fn suffix(&mut self, text: &str, style: Style) {
        let Some(last) = self.rows.last_mut() else { return };
        let text = text::clean(text);
        if last.width() + text::width(&text) <= self.width {
            last.push_span(Span::styled(text.into_owned(), style));
        }
    }

    /// Adds a text to the last row at the right edge; in a row of its own if it does not fit there completely.
    pub fn at_right_or_below(&mut self, indent: &str, text: &str, style: Style) {
        if !self.at_right(text, style) {
            self.row(&[(indent, Style::new()), (text, style)]);
        }
    }

    /// Adds a text to the last row at the right edge; false, without a change, if it does not fit there completely.
    pub fn at_right(&mut self, text: &str, style: Style) -> bool {
        let used = self.rows.last().map_or(usize::MAX, Line::width);
        let room = self.width.saturating_sub(used);
        let fits = room >= text::width(text) + 2;
        if fits {
            self.suffix(&" ".repeat(room - text::width(text)), Style::new());
            self.suffix(text, style);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(sheet: &TranscriptSheet) -> Vec<String> {
        sheet.rows.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_texts_are_wrapped_and_cut_with_a_sign() {
        let mut sheet = TranscriptSheet::new(12, 2);
        sheet.text(("> ", Style::new()), ("one two three four five", Style::new()));
        assert_eq!(plain(&sheet), ["> one two", "  three fou…"]);
    }

    #[test]
    fn suffixes_never_push_anything_out() {
        let mut sheet = TranscriptSheet::new(10, 1);
        sheet.row(&[("seven..", Style::new())]);
        sheet.suffix("four", Style::new());
        assert_eq!(plain(&sheet), ["seven.."]);
        sheet.suffix("...", Style::new());
        assert_eq!(plain(&sheet), ["seven....."]);
        sheet.at_right("x", Style::new());
        assert_eq!(plain(&sheet), ["seven....."]);
    }
}
