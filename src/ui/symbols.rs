//! Every symbol of the screen: its look, its ASCII fallback, and its meaning. Drawing names symbols by their constants;
//! the test `symbols` finds literals elsewhere.

use ratatui::buffer::Buffer;

/// A sign with one meaning, one cell wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub text: &'static str,
    pub ascii: char,
    pub meaning: &'static str,
}

macro_rules! symbols {
    ($($name:ident $text:literal $ascii:literal $meaning:literal;)*) => {
        $(#[doc = concat!("`", $text, "`: ", $meaning)] pub const $name: &str = $text;)*

        /// All of them, in the order of the legend.
        pub const ALL: &[Symbol] =
            &[$(Symbol { text: $text, ascii: $ascii, meaning: $meaning }),*];
    };
}

symbols! {
    RUNNING "▶" '>' "running, here";
    HELD "‖" '"' "held";
    DONE "✓" '+' "done, right";
    FAILED "✗" 'x' "failed, wrong";
    WAITING "·" '.' "waiting, nothing";
    EMPTY "∅" '0' "empty result";
    REFUSED "⊘" '/' "refused, off";
    INJECTED "↯" '!' "injected fault";
    CHOSEN "●" '@' "stopped at a breakpoint, chosen";
    EDITED "✎" 'e' "edited by you";
    RECORDED "↺" 'r' "from the record, past";
    CRITICAL "◆" '*' "critical path, planned, text on a map";
    LEADS "→" '-' "leads to, call";
    SELECTED "▸" ')' "selected";
    ROSE "▲" '^' "rose";
    FELL "▼" 'v' "fell";
    SPENT "▇" '#' "spent, ran: bars below each other stay apart";
    THUMB "█" '|' "the cursor; the part of a list that is shown";
    GHOST "▒" '%' "preview: one step of a knob";
    PLANNED "━" '=' "planned, path, with the agent";
    SPARE "┄" '_' "spare: credits beyond what the plan needs";
    CUT "…" '~' "cut: opening it shows all";
    DIFFERS "≠" '&' "differs from the twin";
}

/// Characters that make up pictures, and signs of text, with their meanings.
pub const DRAWN: &[(&str, &str)] = &[
    ("▁▂▃▄▅▆▇█", "a value for each task or step, the last one at the right"),
    ("▏▎▍▌▋▊▉█", "a share of the longest bar, or of the whole"),
    ("⠤⠒⠉", "a curve over the tasks; on a map, tools"),
    ("·░▒▓█", "a weight in the matrix, from none to much"),
    (
        "▄",
        "a model call, or a call beside the critical path; in Resilience, called after another tool failed",
    ),
    ("┊", "a time on the axis; in Resilience, the fault and the recovery"),
    ("├└│─", "belongs to what is above it"),
    (
        "┃",
        "on the row of time, the moment that is shown; on a lane, now; beside a list, the part that is shown",
    ),
    ("╌", "a call is held, or waits for a held call of its answer"),
    ("▕▏", "the ends of the row of time; in a text, where it is being written"),
    ("○", "where a tool was before an experience moved it"),
    ("≈", "estimated by toolyard, since the endpoint does not say"),
    ("–", "not known, or none"),
    ("−", "minus"),
    ("×", "so many times"),
    ("≥", "at least"),
    ("∥", "calls at once"),
    ("αβτθ", "the knobs alpha, beta, tau and theta"),
    ("⏎", "a line ends here"),
];

/// Character set of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    #[default]
    Unicode,
    Ascii,
}

impl Charset {
    /// Names in the configuration; `None`: by the locale.
    pub const NAMES: [(&str, Option<Self>); 3] =
        [("auto", None), ("unicode", Some(Self::Unicode)), ("ascii", Some(Self::Ascii))];

    /// Returns the character set that the locale of this environment can show.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        if Locale::of(variable).is_utf8() { Self::Unicode } else { Self::Ascii }
    }
}

/// The variable that determines the encoding of characters, with its value; `None`: none is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locale(pub Option<(&'static str, String)>);

impl Locale {
    /// The first of the three variables with a value.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| Some((name, variable(name).filter(|value| !value.is_empty())?));
        Self(["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set))
    }

    pub fn is_utf8(&self) -> bool {
        let Some((_, value)) = &self.0 else {
            // The system's default, which is UTF-8 on macOS.
            return cfg!(target_os = "macos");
        };
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    }
}

/// The last pass over a frame: replaces each symbol, line and block with its fallback of the same width. Other
/// characters are words of models and tools, and stay.
pub fn to_ascii(buf: &mut Buffer) {
    for cell in &mut buf.content {
        let mut chars = cell.symbol().chars();
        if let (Some(c), None) = (chars.next(), chars.next())
            && let Some(ascii) = fallback(c)
        {
            cell.set_char(ascii);
        }
    }
}

/// Returns the ASCII character that stands for another character; `None` for words.
pub fn fallback(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let is_it = |symbol: &&Symbol| symbol.text.chars().eq([c]);
    if let Some(symbol) = ALL.iter().find(is_it) {
        return Some(symbol.ascii);
    }
    Some(match c {
        // Signs of text and formulas.
        '×' => 'x',
        '−' | '–' | '—' => '-',
        '≈' => '~',
        '≥' => '>',
        'µ' => 'u',
        'α' => 'a',
        'β' => 'b',
        'τ' => 't',
        'θ' => 'q',
        '○' => 'o',
        '∥' => '|',
        '⏎' => ' ',
        '␛' => '^',
        '\u{fffd}' => '?',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        // Lines, blocks and dots.
        '━' | '═' | '╍' | '┅' => '=',
        '─' | '╌' | '╴' | '╶' | '╸' | '╺' | '╼' | '╾' => '-',
        '│' | '┃' | '║' | '┊' | '┆' | '╎' | '╵' | '╷' | '╹' | '╻' | '╽' | '╿' => {
            '|'
        }
        '\u{2500}'..='\u{257f}' => '+',
        '▁' => '_',
        '▂' | '░' => '.',
        '▃' => '-',
        '▄' | '▅' => '=',
        '▆' | '▇' => '*',
        '▓' => '&',
        '▎' | '▍' | '▏' | '▕' => '|',
        '\u{2580}'..='\u{259f}' => '#',
        '\u{2800}'..='\u{28ff}' => '*',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ratatui::layout::Rect;

    use super::*;
    use crate::text;

    #[test]
    fn each_symbol_is_one_cell_wide_and_has_a_fallback_of_its_own() {
        let fallbacks: BTreeSet<char> = ALL.iter().map(|symbol| symbol.ascii).collect();
        let texts: BTreeSet<&str> = ALL.iter().map(|symbol| symbol.text).collect();
        assert_eq!((fallbacks.len(), texts.len()), (ALL.len(), ALL.len()));
        for symbol in ALL {
            assert_eq!(text::width(symbol.text), 1, "{symbol:?}");
            assert!(symbol.ascii.is_ascii_graphic(), "{symbol:?}");
        }
        let drawing = ('\u{2500}'..='\u{259f}').chain('\u{2800}'..='\u{28ff}');
        assert!(drawing.chain("×−–—≈≥µαβτ∥⏎␛�‘’“”".chars()).all(|c| fallback(c).is_some()));
    }

    #[test]
    fn a_frame_in_ascii_keeps_its_width_and_the_words_of_others() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
        buf.set_string(0, 0, "┏━▸3 ✓ ▁▅█ 日é×2 ┃", ratatui::style::Style::new());
        to_ascii(&mut buf);
        let shown: String = buf.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(shown.trim_end(), "+=)3 + _=| 日 éx2 |");
    }

    #[test]
    fn the_locale_decides_where_nobody_does() {
        let auto = |set: &[(&str, &str)]| {
            Charset::of(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(auto(&[("LANG", "de_DE.UTF-8")]), Charset::Unicode);
        assert_eq!(auto(&[("LANG", "de_DE.utf8"), ("LC_ALL", "C")]), Charset::Ascii);
        assert_eq!(auto(&[("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8")]), Charset::Unicode);
        assert_eq!(auto(&[]) == Charset::Unicode, cfg!(target_os = "macos"));
    }
}
