//! What the symbols and the colours of the screen mean: a part of the help.

use ratatui::text::{Line, Span};
use ratatui::{buffer::Buffer, layout::Rect, style::Style, widgets::Widget};

use crate::ui::symbols::{self, SPENT};
use crate::ui::{cx::Cx, theme::Theme};

/// Cells of the widest line.
pub(super) const WIDTH: u16 = 29;

/// Words that find all of it.
const TITLE: &str = "legend: symbols and colours";

/// A colour by its meaning: themes give it different shades.
type Role = (fn(&Theme) -> Style, &'static str);

const ROLES: [Role; 9] = [
    (|theme| theme.bad, "failure"),
    (|theme| theme.injected, "injected"),
    (|theme| theme.warn, "held, refused, unsure"),
    (|theme| theme.running, "now"),
    (|theme| theme.good, "done, right"),
    (|theme| theme.bar_fill, "spent, ran"),
    (|theme| theme.planned, "planned"),
    (|theme| theme.user, "what you did"),
    (|theme| theme.past, "the past"),
];

/// A line of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Heading(&'static str),
    /// The place in the table of symbols.
    Symbol(usize),
    /// The place in the table of roles.
    Role(usize),
}

/// The entries that a query finds, below their headings; without a query all.
pub(super) fn entries(query: &str) -> Vec<Entry> {
    let query = query.trim();
    let all = TITLE.contains(query);
    let symbols = symbols::ALL.iter().enumerate();
    let symbols = symbols.filter(|(_, it)| all || it.text == query || it.meaning.contains(query));
    let roles = ROLES.iter().enumerate().filter(|(_, (_, name))| all || name.contains(query));
    let symbols: Vec<_> = symbols.map(|(i, _)| Entry::Symbol(i)).collect();
    let roles: Vec<_> = roles.map(|(i, _)| Entry::Role(i)).collect();
    let mut entries = Vec::new();
    for (heading, found) in [("Symbols", symbols), ("Colours", roles)] {
        if !found.is_empty() {
            entries.push(Entry::Heading(heading));
            entries.extend(found);
        }
    }
    entries
}

impl Entry {
    pub(super) fn line(self, theme: &Theme) -> Line<'static> {
        match self {
            Entry::Heading(heading) => Line::styled(heading, theme.title),
            Entry::Symbol(i) => {
                let symbol = &symbols::ALL[i];
                let sign = Span::styled(symbol.text, theme.accent);
                Line::from(vec![sign, Span::styled(format!(" {}", symbol.meaning), theme.text)])
            }
            Entry::Role(i) => {
                let (style, meaning) = &ROLES[i];
                Line::styled(format!("{SPENT} {meaning}"), style(theme))
            }
        }
    }
}

/// Draws entries below each other, an empty line before each heading but the first.
pub(super) fn draw(cx: &Cx<'_>, query: &str, area: Rect, buf: &mut Buffer) {
    let mut y = area.y;
    for (i, entry) in entries(query).into_iter().enumerate() {
        y += u16::from(i > 0 && matches!(entry, Entry::Heading(_)));
        if y >= area.bottom() {
            break;
        }
        entry.line(cx.theme).render(Rect { y, height: 1, ..area }, buf);
        y += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::text;

    #[test]
    fn everything_is_found_by_its_meaning() {
        assert_eq!(entries("").len(), symbols::ALL.len() + ROLES.len() + 2);
        assert_eq!(entries("symbol"), entries(""));
        assert_eq!(entries("legend"), entries("colour"));
        let injected = entries("injected");
        assert_eq!(injected[0], Entry::Heading("Symbols"));
        assert_eq!(injected.len(), 4, "{injected:?}");
        assert_eq!(entries("↯").len(), 2);
        assert_eq!(entries("zebra"), []);
        let theme = Theme::default();
        for entry in entries("") {
            let line = entry.line(&theme).to_string();
            assert!(text::width(&line) < usize::from(WIDTH), "{line}");
        }
    }
}
