//! A text being edited, and below it the difference from the old text.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};
use similar::{ChangeTag, TextDiff};

use super::{entry::TextEntry, frame};
use crate::panes::row::{self, Row};
use crate::{cx::Cx, hits::Hits, text};

/// Equal lines around each difference.
const AROUND: usize = 2;
/// The most lines of facts.
const FACTS: usize = 2;

/// A text with its difference, in a frame.
pub(super) struct Edited<'a> {
    pub title: &'a str,
    /// Facts above the text; may be empty.
    pub facts: &'a str,
    pub legend: &'a str,
    pub entry: &'a TextEntry,
    /// The old text; `None` if there is nothing to compare with.
    pub before: Option<&'a str>,
}

impl Edited<'_> {
    /// Draws the text; `standing` draws the line between the text and the difference.
    pub fn draw(
        &self,
        cx: &Cx<'_>,
        (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
        standing: impl FnOnce(Rect, &mut Buffer),
    ) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let now = self.entry.text();
        let difference = self.before.map(|before| difference(before, &now)).unwrap_or_default();
        let columns = width.saturating_sub(4).clamp(20, 120);
        let facts = match self.facts.is_empty() {
            true => Vec::new(),
            false => text::wrap_within(self.facts, columns, FACTS),
        };
        let most = height.saturating_sub(4).max(6);
        let rows =
            (self.entry.rows() + difference.len() + 3 + facts.len()).clamp(9.min(most), most);
        let size = (columns, rows);
        let inside = frame::open(cx, (area, buf, hits), self.title, self.legend, size);
        let (head, inside) = row::split(inside, u16::try_from(facts.len()).unwrap_or(u16::MAX));
        for (fact, line) in facts.iter().zip(head.rows()) {
            Row::new(line, buf).put(fact, cx.theme.dim);
        }
        let wanted = u16::try_from(difference.len()).unwrap_or(u16::MAX);
        let below = wanted.min(inside.height / 2);
        let (field, rest) = row::split(inside, inside.height.saturating_sub(below + 1));
        self.entry.draw(cx, field, buf);
        let (line, rest) = row::split(rest, 1);
        standing(line, buf);
        for ((sign, said), line) in difference.iter().zip(rest.rows()) {
            let style: Style = if *sign == "+" { cx.theme.user } else { cx.theme.dim };
            Row::new(line, buf).put(&format!("{sign} {}", text::clean(said)), style);
        }
    }
}

/// The differing lines and those around them, each after its sign.
fn difference(before: &str, now: &str) -> Vec<(&'static str, String)> {
    let diff = TextDiff::from_lines(before, now);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        let changes = group.iter().flat_map(|op| diff.iter_changes(op));
        lines.extend(changes.map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
                ChangeTag::Equal => " ",
            };
            (sign, change.value().trim_end_matches('\n').to_owned())
        }));
    }
    lines
}
