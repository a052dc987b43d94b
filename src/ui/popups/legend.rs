//! The legend of the screen's symbols and colours, a part of the help.

use ratatui::style::Style;

use super::narrow::Words;
use crate::symbols::{ALL, DRAWN, SPENT};
use crate::theme::Theme;

/// A colour by its meaning: themes give it different shades.
type Role = (fn(&Theme) -> Style, &'static str);

const ROLES: [Role; 11] = [
    (|theme| theme.bad, "failure"),
    (|theme| theme.injected, "injected"),
    (|theme| theme.warn, "held, refused, unsure"),
    (|theme| theme.running, "now"),
    (|theme| theme.good, "done, right"),
    (|theme| theme.bar_fill, "spent, ran"),
    (|theme| theme.planned, "planned"),
    (|theme| theme.user, "your changes"),
    (|theme| theme.pinned, "a weight that you hold"),
    (|theme| theme.simulated, "the simulated model"),
    (|theme| theme.past, "the past"),
];

/// The word that finds every line of the legend.
const NAME: &str = "legend";

/// The searchable lines of the legend: symbols, then parts of drawings, then colours.
pub(super) fn words() -> impl Iterator<Item = Words> {
    let symbols = ALL.iter().map(|it| of("symbol", it.meaning, it.text));
    let drawn = DRAWN.iter().map(|(sign, meaning)| of("symbol", meaning, sign));
    symbols.chain(drawn).chain(ROLES.iter().map(|(_, meaning)| of("colour", meaning, "colors")))
}

fn of(kind: &str, meaning: &str, sign: &str) -> Words {
    let plural = format!("{kind}s");
    let keys = [sign, &plural, NAME].map(str::to_owned).into();
    Words { keys, ..Words::new(kind, meaning) }
}

/// The sections of the legend, from its first line on.
pub(super) fn sections() -> [(usize, &'static str); 3] {
    let drawn = ALL.len();
    [(0, "Symbols"), (drawn, "Bars, curves and signs"), (drawn + DRAWN.len(), "Colours")]
}

/// The sign of a line of the legend, in the style that it explains, and its meaning.
pub(super) fn line(at: usize, theme: &Theme) -> (&'static str, Style, &'static str) {
    let symbols = ALL.iter().map(|symbol| (symbol.text, theme.accent, symbol.meaning));
    let drawn = DRAWN.iter().map(|(sign, meaning)| (*sign, theme.accent, *meaning));
    let roles = ROLES.iter().map(|(style, meaning)| (SPENT, style(theme), *meaning));
    symbols.chain(drawn).chain(roles).nth(at).unwrap_or((SPENT, theme.text, ""))
}
