//! Places in a program: lines and columns as interpreters count them, and offsets as syntax trees have them.

use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::domain::program::Span;

/// Where the lines of a program begin.
pub(super) struct ProgramLines<'p> {
    program: &'p str,
    starts: Vec<usize>,
}

impl<'p> ProgramLines<'p> {
    pub(super) fn of(program: &'p str) -> Self {
        let after = program.match_indices('\n').map(|(at, _)| at + 1);
        Self { program, starts: std::iter::once(0).chain(after).collect() }
    }

    /// The line of an offset, counted from 1.
    pub(super) fn line(&self, at: TextSize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at.to_usize());
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The line and the column of an offset.
    pub(super) fn place(&self, at: TextSize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or_default();
        let before = self.program.get(start..at.to_usize()).map_or(0, |text| text.chars().count());
        (line, u32::try_from(before + 1).unwrap_or(u32::MAX))
    }

    /// The span of a part of the tree.
    pub(super) fn span(&self, of: &impl Ranged) -> Span {
        let (line, column) = self.place(of.start());
        let (end_line, end_column) = self.place(of.end());
        Span { line, column, end_line, end_column }
    }

    /// The offsets of a span; `None` where the program has no such place.
    pub(super) fn range(&self, span: Span) -> Option<TextRange> {
        let start = self.offset(span.line, span.column)?;
        let end = self.offset(span.end_line, span.end_column)?;
        (start <= end).then(|| TextRange::new(start, end))
    }

    fn offset(&self, line: u32, column: u32) -> Option<TextSize> {
        let line = usize::try_from(line.checked_sub(1)?).ok()?;
        let column = usize::try_from(column.checked_sub(1)?).ok()?;
        let start = *self.starts.get(line)?;
        let text = &self.program[start..];
        let text = text.split('\n').next().unwrap_or_default();
        let ends = std::iter::once(text.len());
        let at = text.char_indices().map(|(at, _)| at).chain(ends).nth(column)?;
        TextSize::try_from(start + at).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(line: u32, column: u32, end_line: u32, end_column: u32) -> Span {
        Span { line, column, end_line, end_column }
    }

    #[test]
    fn a_span_in_characters_is_a_range_in_bytes() {
        let program = "é = 1\nx = \"ü\"[9]";
        let lines = ProgramLines::of(program);
        let text = |span| lines.range(span).map(|range| &program[range]);
        assert_eq!(text(span(1, 1, 1, 2)), Some("é"));
        assert_eq!(text(span(2, 5, 2, 11)), Some("\"ü\"[9]"));
        assert_eq!(text(span(1, 5, 2, 2)), Some("1\nx"));
        assert_eq!(lines.line(TextSize::from(7)), 2);
    }

    #[test]
    fn a_place_that_is_not_there_has_no_range() {
        let lines = ProgramLines::of("x = 1\n");
        for bad in [
            span(0, 1, 1, 1),
            span(1, 0, 1, 1),
            span(1, 7, 1, 8),
            span(3, 1, 3, 1),
            span(1, 3, 1, 2),
            span(u32::MAX, u32::MAX, u32::MAX, u32::MAX),
        ] {
            assert_eq!(lines.range(bad), None, "{bad:?}");
        }
    }
}
