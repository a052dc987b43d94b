//! The look of colours where no terminal can be asked.

use ratatui::style::Color;

use super::{Rgb, Theme};

/// The sixteen colours in the order of their ANSI numbers, as `[terminal]` of a theme file names them.
pub(super) const ANSI: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark_gray", Color::DarkGray),
    ("light_red", Color::LightRed),
    ("light_green", Color::LightGreen),
    ("light_yellow", Color::LightYellow),
    ("light_blue", Color::LightBlue),
    ("light_magenta", Color::LightMagenta),
    ("light_cyan", Color::LightCyan),
    ("white", Color::White),
];

impl Theme {
    /// The background colour.
    pub fn ground(&self) -> Rgb {
        self.screen.bg.and_then(|bg| self.rgb(bg)).unwrap_or(self.terminal.ground)
    }

    /// The default colour of text.
    pub fn foreground(&self) -> Rgb {
        self.screen.fg.and_then(|fg| self.rgb(fg)).unwrap_or(self.terminal.text)
    }

    /// The look of a colour; `None`: the terminal's default.
    pub fn rgb(&self, color: Color) -> Option<Rgb> {
        let number = match color {
            Color::Rgb(r, g, b) => return Some((r, g, b)),
            Color::Indexed(i) => i,
            named => ANSI.iter().position(|(_, colour)| *colour == named)? as u8,
        };
        Some(self.indexed_colour(number))
    }

    /// The 256 colours: sixteen of the terminal, a cube with six levels per side, greys.
    pub(super) fn indexed_colour(&self, i: u8) -> Rgb {
        let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
        match i {
            0..16 => self.terminal.ansi[usize::from(i)],
            16..232 => {
                let i = i - 16;
                (level(i / 36), level(i / 6 % 6), level(i % 6))
            }
            232.. => {
                let grey = 8 + 10 * (i - 232);
                (grey, grey, grey)
            }
        }
    }
}
