//! Finds the theme that suits the terminal: by its number of colours, and by a dark or light background.

use ratatui::style::{Color, Style};

use super::{Rgb, TerminalColours, Theme};
use crate::pace::TerminalKind;

/// Asks a terminal for its background colour (OSC 11), then for its type (DA1). Every terminal answers the second
/// query, and in this order, so its answer also ends the first.
pub const QUESTION: &[u8] = b"\x1b]11;?\x07\x1b[c";

/// Asks a terminal for its type only. It answers when it has read all that came before.
pub const TYPE_QUESTION: &[u8] = b"\x1b[c";

/// The names of terminals that have all colours. They set `COLORTERM`, but ssh and sudo do not pass it on.
const TRUE_COLOUR: &[&str] = &[
    "alacritty",
    "contour",
    "foot",
    "foot-extra",
    "ghostty",
    "iterm2",
    "kitty",
    "konsole",
    "konsole-256color",
    "mintty",
    "ms-terminal",
    "rio",
    "st-256color",
    "vte-256color",
    "wezterm",
    "xterm-ghostty",
    "xterm-kitty",
    "xterm-rio",
    "xterm-wezterm",
];

/// Terminals that answer in another order or not at all.
const SILENT: &[&str] = &["dumb", "Eterm", "linux", "screen"];

/// The number of colours to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Bold and underlined only (`NO_COLOR`).
    None,
    /// The sixteen colours that the user has chosen in the terminal.
    Sixteen,
    /// 256 colours: each colour is replaced with the nearest one.
    Indexed,
    /// All colours.
    True,
}

impl Depth {
    /// The depth given by the environment: `NO_COLOR` (<https://no-color.org>), `COLORTERM` and `TERM`.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is =
            |name: &str, test: fn(&str) -> bool| variable(name).is_some_and(|value| test(&value));
        match () {
            () if is("NO_COLOR", |value| !value.is_empty()) => Depth::None,
            () if is("TERM", |value| value == "dumb") => Depth::None,
            () if is("COLORTERM", |value| matches!(value, "truecolor" | "24bit")) => Depth::True,
            () if is("TERM", has_all_colours) => Depth::True,
            () if is("TERM", |value| value.contains("256color")) => Depth::Indexed,
            () => Depth::Sixteen,
        }
    }

    /// The theme reduced to this many colours.
    #[must_use]
    pub fn limit(self, theme: Theme) -> Theme {
        match self {
            Depth::None => theme.without_colour(),
            Depth::Indexed => theme.indexed(),
            Depth::Sixteen | Depth::True => theme,
        }
    }
}

/// Whether terminals of this name have all colours.
fn has_all_colours(term: &str) -> bool {
    term.ends_with("-direct") || TRUE_COLOUR.contains(&term)
}

/// The name of the theme that probably suits this terminal, before it has told its background colour: by `COLORFGBG`,
/// else dark.
pub fn guess(depth: Depth, variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let is_light = || variable("COLORFGBG").is_some_and(|pair| has_light_ground(&pair));
    match depth {
        Depth::None | Depth::Sixteen => super::load::TERMINAL,
        Depth::Indexed | Depth::True if is_light() => "light",
        Depth::Indexed | Depth::True => "dark",
    }
}

/// Whether it makes sense to ask [`QUESTION`].
pub fn can_ask(depth: Depth, variable: impl Fn(&str) -> Option<String>) -> bool {
    matches!(depth, Depth::Indexed | Depth::True) && kind(variable).answers
}

/// Whether this terminal answers [`TYPE_QUESTION`], and whether a network is in between.
pub fn kind(variable: impl Fn(&str) -> Option<String>) -> TerminalKind {
    let term = variable("TERM").unwrap_or_default();
    let is_silent = SILENT.contains(&&*term) || term.starts_with("screen.");
    let is_far = ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| variable(name).is_some());
    TerminalKind { answers: !is_silent, is_far }
}

/// The name of the theme that suits this background.
pub fn suiting(ground: Rgb) -> &'static str {
    // The luminance of a grey on which black and white text have equal contrast.
    if luminance(ground) > 0.18 { "light" } else { "dark" }
}

/// Relative luminance (WCAG 2.2).
fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// `15;0` means white on black: the last number is the background's, among the sixteen colours.
fn has_light_ground(pair: &str) -> bool {
    let ground = pair.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
    ground.is_some_and(|ground| ground == 7 || (9..16).contains(&ground))
}

impl Theme {
    /// The theme with each colour replaced by the nearest of the 256.
    #[must_use]
    fn indexed(self) -> Self {
        let terminal = self.terminal.clone();
        let near = |colour: Option<Color>| colour.map(|colour| nearest(colour, &terminal));
        self.restyled(|_, style| Style { fg: near(style.fg), bg: near(style.bg), ..style })
    }
}

/// The nearest of the colours 16 to 255; the user may have changed the first sixteen.
fn nearest(colour: Color, terminal: &TerminalColours) -> Color {
    let Color::Rgb(r, g, b) = colour else { return colour };
    let looks = Theme { terminal: terminal.clone(), ..Theme::default() };
    let distance = |i: u8| {
        let (x, y, z): Rgb = looks.indexed_colour(i);
        [(r, x), (g, y), (b, z)].map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).iter().sum::<u32>()
    };
    (16..=255).min_by_key(|i| distance(*i)).map_or(colour, Color::Indexed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(variables: &[(&str, &str)]) -> Depth {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Depth::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "tmux-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("COLORTERM", "24bit"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "screen-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "rxvt-16color")]), Depth::Sixteen);
        assert_eq!(depth(&[("NO_COLOR", ""), ("TERM", "dumb")]), Depth::None);
    }

    #[test]
    fn terminals_that_are_known_for_all_colours_have_them_without_a_variable() {
        let names = ["xterm-kitty", "xterm-ghostty", "foot", "wezterm", "alacritty", "tmux-direct"];
        for name in names {
            assert_eq!(depth(&[("TERM", name)]), Depth::True, "{name}");
            assert_eq!(depth(&[("TERM", name), ("NO_COLOR", "1")]), Depth::None, "{name}");
        }
    }

    #[test]
    fn a_theme_suits_the_ground_that_a_terminal_says() {
        let light = [(253, 246, 227), (255, 255, 255), (0xd0, 0xd0, 0xd0), (128, 128, 128)];
        let dark = [(0, 43, 54), (0, 0, 0), (40, 42, 54), (0x60, 0x60, 0x60)];
        assert_eq!(light.map(suiting), ["light"; 4]);
        assert_eq!(dark.map(suiting), ["dark"; 4]);
    }

    #[test]
    fn a_ground_is_light_where_the_last_number_says_so() {
        let light = ["0;15", "0;default;7"].map(has_light_ground);
        let dark = ["15;0", "7;8", "", "0;x"].map(has_light_ground);
        assert_eq!((light, dark), ([true; 2], [false; 4]));
    }

    #[test]
    fn every_colour_has_a_near_one_of_256() {
        let near = |r, g, b| nearest(Color::Rgb(r, g, b), &TerminalColours::default());
        assert_eq!(near(255, 255, 255), Color::Indexed(231));
        assert_eq!(near(0, 0, 0), Color::Indexed(16));
        assert_eq!(near(95, 135, 175), Color::Indexed(67));
        for theme in super::super::load::built_in() {
            let mut limited = Depth::Indexed.limit(theme);
            for name in Theme::NAMES {
                let style = *limited.style_mut(name).unwrap();
                let is_rgb = |colour| matches!(colour, Some(Color::Rgb(..)));
                assert!(!is_rgb(style.fg) && !is_rgb(style.bg), "{name}");
            }
        }
    }
}
