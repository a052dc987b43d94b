//! The search in a page: it marks every match, and keys go from match to match.

use std::ops::Range;

use ratatui::crossterm::event::KeyCode;
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::{buffer::Buffer, layout::Rect};
use unicode_width::UnicodeWidthChar;

use crate::action::Action;
use crate::cx::Cx;
use crate::popups::lines::ScrolledText;
use crate::popups::{Pressed, entry::TextEntry};
use crate::window::{self, Window};

/// The state of the search in a page.
#[derive(Debug, Default)]
pub(super) struct PageSearch {
    /// The entry of the search, until the text is accepted or left.
    entry: Option<TextEntry>,
    /// The text searched for, in lower case; empty without a search.
    needle: String,
    hits: Vec<Hit>,
    /// The index of the current match.
    at: usize,
    /// The first line shown when the search began.
    from: usize,
}

/// A match: its line, and its cells there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hit {
    line: usize,
    cells: Range<u16>,
}

impl PageSearch {
    pub fn open(&mut self, lines: &ScrolledText) {
        *self =
            Self { entry: Some(TextEntry::default()), from: lines.window.first, ..Self::default() };
    }

    pub fn close(&mut self) {
        *self = Self::default();
    }

    pub fn is_typed(&self) -> bool {
        self.entry.is_some()
    }

    pub fn is_on(&self) -> bool {
        !self.needle.is_empty()
    }

    /// Handles a key in the entry.
    pub fn key(&mut self, pressed: Pressed, lines: &mut ScrolledText) {
        let Some(entry) = &mut self.entry else { return };
        let is_empty = entry.text().is_empty();
        match pressed.action {
            Some(Action::Leave) => self.close(),
            // Backspace in an empty line leaves, as in other programs.
            _ if is_empty && pressed.key.code == KeyCode::Backspace => self.close(),
            Some(Action::Accept) if is_empty => self.close(),
            Some(Action::Accept) => self.entry = None,
            Some(Action::Down) => self.go(window::Find::Next, lines),
            Some(Action::Up) => self.go(window::Find::Previous, lines),
            _ => self.write(|entry, key| entry.key(key), pressed.key, lines),
        }
    }

    pub fn paste(&mut self, text: &str, lines: &mut ScrolledText) {
        self.write(TextEntry::paste, text, lines);
    }

    fn write<T>(
        &mut self,
        write: impl FnOnce(&mut TextEntry, T),
        what: T,
        lines: &mut ScrolledText,
    ) {
        let Some(entry) = &mut self.entry else { return };
        write(entry, what);
        self.needle = entry.text().to_lowercase();
        self.refresh(lines);
        let after = self.hits.iter().position(|hit| hit.line >= self.from);
        self.at = after.unwrap_or(0);
        self.show(lines);
    }

    /// Searches again in new lines.
    pub fn refresh(&mut self, lines: &ScrolledText) {
        // The page of a running thing is made again and again.
        let searched = if self.is_on() { &lines.lines[..] } else { &[] };
        let lines = searched.iter().enumerate();
        self.hits = lines.flat_map(|(at, line)| hits(at, line, &self.needle)).collect();
        self.at = self.at.min(self.hits.len().saturating_sub(1));
    }

    /// Goes to the next or previous match, going round.
    pub fn go(&mut self, how: window::Find, lines: &mut ScrolledText) {
        let next = window::found(self.hits.len(), Some(self.at), how, |_| true);
        self.at = next.unwrap_or(0);
        self.show(lines);
    }

    fn show(&self, lines: &mut ScrolledText) {
        if let Some(hit) = self.hits.get(self.at) {
            lines.show(hit.line);
        }
    }

    /// The search line with the needle and the current match; false if a search finds nothing.
    pub fn said(&self) -> (String, bool) {
        let found = !self.hits.is_empty() || !self.is_on();
        let count = match self.hits.len() {
            _ if !self.is_on() => String::new(),
            0 => "  nothing found".to_owned(),
            total => format!("  {} of {total}", self.at + 1),
        };
        let typed = match &self.entry {
            Some(entry) => format!("/{}▏", entry.text()),
            None => format!("/{}", self.needle),
        };
        (typed + &count, found)
    }

    /// Marks the matches of the lines on the screen.
    pub fn mark(&self, cx: &Cx<'_>, area: Rect, window: Window, buf: &mut Buffer) {
        let shown = window.range();
        let first = self.hits.partition_point(|hit| hit.line < shown.start);
        let other = cx.theme.selection_dim.patch(cx.theme.warn).add_modifier(Modifier::UNDERLINED);
        for (i, hit) in self.hits.iter().enumerate().skip(first) {
            if hit.line >= shown.end {
                break;
            }
            // There are few lines on the screen, and cells of a line are measured in u16.
            let y = area.y + (hit.line - shown.start) as u16;
            let width = hit.cells.end - hit.cells.start;
            let cells = Rect { x: area.x.saturating_add(hit.cells.start), y, width, height: 1 };
            let current = i == self.at;
            buf.set_style(cells.intersection(area), if current { cx.theme.found } else { other });
        }
    }
}

/// The matches in a line, regardless of case.
fn hits(line: usize, of: &Line<'_>, needle: &str) -> Vec<Hit> {
    // The text in lower case, and for each of its bytes the cells on the screen.
    let (mut text, mut cells) = (String::new(), Vec::new());
    let mut x = 0u16;
    for c in of.spans.iter().flat_map(|span| span.content.chars()) {
        let end = x.saturating_add(c.width().unwrap_or(0) as u16);
        text.extend(c.to_lowercase());
        cells.resize(text.len(), x..end);
        x = end;
    }
    let found = text.match_indices(needle);
    found
        .map(|(at, it)| Hit { line, cells: cells[at].start..cells[at + it.len() - 1].end })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_found_in_cells_whatever_is_wide_or_in_capitals() {
        let needle = "aB".to_lowercase();
        let line = Line::from(vec!["日本 A".into(), "b, abab".into()]);
        let cells: Vec<_> = hits(3, &line, &needle).into_iter().map(|hit| hit.cells).collect();
        assert_eq!(cells, [5..7, 9..11, 11..13]);
        assert!(hits(3, &Line::from("a"), &needle).is_empty());
    }
}
