//! What the symbols and the colours of the screen mean: a part of the help.

use ratatui::style::Style;

use super::narrow::Words;
use crate::symbols::{self, SPENT};
use crate::theme::Theme;

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
    (|theme| theme.user, "your changes"),
    (|theme| theme.past, "the past"),
];

/// What the help finds: the symbols, then the colours.
pub(super) fn words() -> impl Iterator<Item = Words> {
    let symbols = symbols::ALL.iter();
    let symbols = symbols.map(|it| of("symbol", it.meaning, Some(it.text)));
    symbols.chain(ROLES.iter().map(|(_, meaning)| of("colour", meaning, None)))
}

/// All of it is found by its name.
fn of(kind: &str, meaning: &str, sign: Option<&str>) -> Words {
    let keys = sign.into_iter().chain(["legend"]).map(str::to_owned).collect();
    Words { keys, ..Words::new(kind, meaning) }
}

/// The sections of the legend, from its first line on.
pub(super) fn sections() -> [(usize, &'static str); 2] {
    [(0, "Symbols"), (symbols::ALL.len(), "Colours")]
}

/// The sign of a line of the legend, in the style that it explains, and what it means.
pub(super) fn line(at: usize, theme: &Theme) -> (&'static str, Style, &'static str) {
    if let Some(symbol) = symbols::ALL.get(at) {
        return (symbol.text, theme.accent, symbol.meaning);
    }
    let role = ROLES.get(at - symbols::ALL.len());
    role.map_or((SPENT, theme.text, ""), |(style, meaning)| (SPENT, style(theme), meaning))
}
