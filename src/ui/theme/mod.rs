//! The look of things by their meaning. Panes name a meaning (`good`, `injected`, `bar_fill`), never a colour; a theme
//! gives each meaning a style. The theme in code uses the terminal's own sixteen colours, so it fits the user's choice
//! there; the others are files.
//!
//! The sixteen colours differ: 8 is the background of Solarized dark, 7 and 15 those of light terminals, 9 to 14 are
//! greys in Solarized, and yellow is unreadable on white. So text is red, green, magenta, cyan or of the terminal's own
//! colour, or black on yellow or cyan; never bold and coloured, since many terminals then show 9 to 14.
//!
//! A colour has one meaning: red is failure and nothing else, orange was injected, yellow needs a look, teal is now,
//! green is done, blue was spent, grey-blue is planned, violet is the person, lavender the past. Each meaning also has
//! a word or a symbol, so nothing is lost with `NO_COLOR` or for a reader who cannot see the difference.

mod colour;
pub mod detect;
pub mod load;

use std::sync::LazyLock;

use ratatui::style::{Color, Modifier, Style};

macro_rules! styles {
    ($($(#[$doc:meta])* $name:ident = $default:expr;)*) => {
        /// A style for every meaning.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Theme {
            /// The name by which the user selects it.
            pub name: String,
            $($(#[$doc])* pub $name: Style,)*
            /// Styles of weights in the matrix, from the coldest to the hottest.
            pub heat: [Style; 5],
            /// The look of the sixteen colours, and of default background and text, where no terminal can be asked: in
            /// screenshots.
            pub terminal: TerminalColours,
        }

        impl Theme {
            /// The names of the styles, as a theme file writes them.
            pub const NAMES: &[&str] = &[
                $(stringify!($name),)* "heat1", "heat2", "heat3", "heat4", "heat5",
            ];

            /// The style of this name.
            pub fn style_mut(&mut self, name: &str) -> Option<&mut Style> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => {
                        let n: usize = name.strip_prefix("heat")?.parse().ok()?;
                        self.heat.get_mut(n.checked_sub(1)?)
                    }
                }
            }
        }

        impl Default for Theme {
            fn default() -> Self {
                Self {
                    name: "terminal".to_owned(),
                    $($name: $default,)*
                    heat: [
                        FAINT,
                        Style::new(),
                        fg(Color::Cyan),
                        BOLD,
                        BOLD.add_modifier(Modifier::REVERSED),
                    ],
                    terminal: TerminalColours::default(),
                }
            }
        }
    };
}

styles! {
    /// The background, and drawings on it without a meaning of their own.
    screen = Style::new();
    /// Text to read. It has no background, so that it can be put on any.
    text = Style::new();
    /// Text that matters less.
    dim = FAINT;
    /// Text that the eye should find first: names, the current item.
    accent = BOLD;
    /// Headings inside panes and popups.
    title = BOLD;
    /// Succeeded, rising, right answer.
    good = fg(Color::Green);
    /// Failed, wrong; nothing else.
    bad = fg(Color::Red);
    /// Held, refused, falling, unsure: worth a look.
    warn = YELLOW;
    /// The selected row of the pane that has the keyboard: a tint, which never inverts a bar. No background of the
    /// sixteen colours is safe under every text, so there it is a line.
    selection = Style::new().add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
    /// The selected row of any other pane.
    selection_dim = Style::new().add_modifier(Modifier::UNDERLINED);
    border = FAINT;
    /// The frame of the pane that has the keyboard.
    border_focus = fg(Color::Cyan);
    /// The first line of the screen.
    header = Style::new();
    /// A key, where keys are explained.
    key = BOLD;
    /// The agent runs.
    running = fg(Color::Cyan);
    /// The agent is held, or about to be.
    paused = YELLOW;
    /// The past is looked at.
    past = fg(Color::Magenta).add_modifier(Modifier::REVERSED);
    /// Changes by the user.
    user = fg(Color::Magenta);
    /// A fault made this.
    injected = YELLOW.add_modifier(Modifier::ITALIC);
    /// The built-in simulated model.
    simulated = YELLOW;
    graph_node = Style::new();
    /// The node at which the agent is.
    graph_here = fg(Color::Cyan).add_modifier(Modifier::REVERSED);
    graph_edge = FAINT;
    /// A weight that the user holds.
    pinned = fg(Color::Magenta);
    bar_fill = Style::new();
    /// Credits planned to be spent.
    planned = FAINT;
    bar_empty = FAINT;
    /// Matches of a search.
    found = fg(Color::Black).bg(Color::Cyan);
    /// The ground and text of popups.
    popup = Style::new();
    /// Text that is being typed.
    input = Style::new().add_modifier(Modifier::UNDERLINED);
}

const fn fg(color: Color) -> Style {
    Style::new().fg(color)
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const YELLOW: Style = fg(Color::Black).bg(Color::Yellow);

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Appearance of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalColours {
    pub ground: Rgb,
    pub text: Rgb,
    /// Colours in the order of their ANSI numbers.
    pub ansi: [Rgb; 16],
}

impl Default for TerminalColours {
    fn default() -> Self {
        Self {
            ground: rgb(0x16181d),
            text: rgb(0xd4d7dd),
            ansi: [
                0x1d2027, 0xe06c75, 0x8cc265, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xabb2bf,
                0x6b7280, 0xff7b86, 0xa5e075, 0xffd68a, 0x78c0ff, 0xdc8ff3, 0x6bd0dc, 0xffffff,
            ]
            .map(rgb),
        }
    }
}

/// A colour from its usual notation: `0xrrggbb`.
fn rgb(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    (r, g, b)
}

impl Theme {
    /// A theme for tests of words, without styles.
    pub fn of_words() -> &'static Theme {
        static THEME: LazyLock<Theme> = LazyLock::new(Theme::default);
        &THEME
    }

    /// The letters of a name that match the input. They also stand out in a selected row, which may be bold.
    pub fn letters(&self) -> Style {
        if self.accent.fg.is_some() { self.accent } else { self.found }
    }

    /// The style of a selected row.
    pub fn selection(&self, focused: bool) -> Style {
        if focused { self.selection } else { self.selection_dim }
    }

    /// The theme with every style changed.
    #[must_use]
    fn restyled(mut self, change: impl Fn(&str, Style) -> Style) -> Self {
        for name in Self::NAMES {
            if let Some(style) = self.style_mut(name) {
                *style = change(name, *style);
            }
        }
        self
    }

    /// The theme without any colour (`NO_COLOR`): bold and underlined text stays so.
    #[must_use]
    pub fn without_colour(self) -> Self {
        self.restyled(|name, style| {
            // Things that differed only in colour or background must still stand out.
            let mark = match name {
                "selection" | "found" => Modifier::BOLD | Modifier::UNDERLINED,
                "selection_dim" => Modifier::UNDERLINED,
                "running" | "paused" | "past" | "injected" | "simulated" | "graph_here"
                | "pinned" | "border_focus" => Modifier::BOLD,
                _ => Modifier::empty(),
            };
            let marks = (style.add_modifier - Modifier::REVERSED) | mark;
            Style { fg: None, bg: None, add_modifier: marks, ..style }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_style() {
        let mut theme = Theme::default();
        for name in Theme::NAMES {
            assert!(theme.style_mut(name).is_some(), "{name}");
        }
        assert!(theme.style_mut("heat0").is_none() && theme.style_mut("heat6").is_none());
    }

    #[test]
    fn without_colour_nothing_is_coloured_and_selections_stand_out() {
        let mut theme = Theme::default().without_colour();
        for name in Theme::NAMES {
            let style = *theme.style_mut(name).unwrap();
            assert_eq!((style.fg, style.bg), (None, None), "{name}");
        }
        for style in [theme.selection, theme.selection_dim, theme.found] {
            assert!(style.add_modifier.contains(Modifier::UNDERLINED));
            assert!(!style.add_modifier.contains(Modifier::REVERSED));
        }
    }
}
