//! Search text: words that must all occur, in any order and in any case; or, behind a `=`, an expression about calls.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::text;
use crate::domain::expression::{Expression, ExpressionError, Scope};

/// States of tasks and calls. A search for a state finds the rows that are in it, whatever their texts say.
const STATES: [&str; 13] = [
    "wrong",
    "right",
    "over",
    "gave up",
    "out of steps",
    "out of budget",
    "answered",
    "failed",
    "refused",
    "stopped",
    "held",
    "running",
    "queued",
];

/// A search text, parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needle {
    text: String,
    /// Words in lower case; none for an expression.
    words: Vec<String>,
    /// Condition on a call, as in `=ms > 500`.
    expression: Option<Result<Expression, ExpressionError>>,
}

impl Needle {
    pub fn new(text: &str) -> Self {
        if let Some(condition) = text.trim_start().strip_prefix('=') {
            let read = Expression::condition(condition, Scope::Call);
            let expression = Some(read).filter(|_| !condition.trim().is_empty());
            return Self { text: text.trim().to_owned(), words: Vec::new(), expression };
        }
        let words = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        Self { text: text.trim().to_owned(), words, expression: None }
    }

    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.expression.is_none()
    }

    /// Returns the condition on a call if an expression was typed, or the error in it.
    pub fn expression(&self) -> Option<Result<&Expression, &ExpressionError>> {
        self.expression.as_ref().map(Result::as_ref)
    }

    /// The state that is meant, such as `gave up`, if nothing but its name was typed.
    pub fn state(&self) -> Option<&'static str> {
        STATES.into_iter().find(|state| self.words.iter().map(String::as_str).eq(state.split(' ')))
    }

    /// Whether every word is in this text.
    pub fn is_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word))
    }

    /// Gives every occurrence of a word in these cells a style, line by line.
    pub fn tint(&self, area: Rect, style: Style, buf: &mut Buffer) {
        for line in area.intersection(buf.area).rows() {
            let (text, cells) = letters(line, buf);
            for word in &self.words {
                for (at, _) in text.match_indices(word.as_str()) {
                    for cell in &cells[at..at + word.len()] {
                        buf.set_style(*cell, style);
                    }
                }
            }
        }
    }
}

/// The text of a line in lower case, and the cells of each of its bytes.
fn letters(line: Rect, buf: &Buffer) -> (String, Vec<Rect>) {
    let (mut words, mut cells) = (String::new(), Vec::new());
    let mut x = line.x;
    while x < line.right() {
        let symbol = buf[(x, line.y)].symbol();
        let width = u16::try_from(text::width(symbol)).unwrap_or(1).clamp(1, line.right() - x);
        words.push_str(&symbol.to_lowercase());
        cells.resize(words.len(), Rect { x, width, ..line });
        x += width;
    }
    (words, cells)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use super::*;

    /// The line with `^` below each cell that is tinted.
    fn tinted(line: &str, needle: &str) -> String {
        let mut buf = Buffer::with_lines([line]);
        let style = Style::new().add_modifier(Modifier::BOLD);
        Needle::new(needle).tint(buf.area, style, &mut buf);
        let is_bold = |cell: &ratatui::buffer::Cell| cell.modifier.contains(Modifier::BOLD);
        buf.content.iter().map(|cell| if is_bold(cell) { '^' } else { ' ' }).collect()
    }

    #[test]
    fn every_word_must_occur_in_any_order_and_case() {
        let needle = Needle::new(" Web  search ");
        assert_eq!(needle.text(), "Web  search");
        assert!(needle.is_in("search_WEB") && !needle.is_in("search_backup"));
        assert!(Needle::new("  ").is_empty() && !needle.is_empty());
    }

    #[test]
    fn a_state_is_meant_where_nothing_else_was_typed() {
        for (typed, state) in [
            ("over", Some("over")),
            (" Gave  UP ", Some("gave up")),
            ("over it", None),
            ("gave", None),
            ("", None),
            ("=over", None),
        ] {
            assert_eq!(Needle::new(typed).state(), state, "{typed}");
        }
    }

    #[test]
    fn every_occurrence_is_tinted_with_all_its_cells() {
        assert_eq!(tinted("Web of webs", "web"), "^^^    ^^^ ");
        assert_eq!(tinted("search_web", "web sea"), "^^^    ^^^");
        // A wide character has two cells, and a capital may become longer.
        assert_eq!(tinted("a中b", "中"), " ^^ ");
        assert_eq!(tinted("İx", "x"), " ^");
    }
}
