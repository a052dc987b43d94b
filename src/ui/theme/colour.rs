//! What a colour looks like where there is no terminal to ask.

use ratatui::style::Color;

use super::{Rgb, Theme};

impl Theme {
    /// The ground under everything.
    pub fn ground(&self) -> Rgb {
        self.screen.bg.and_then(|bg| self.rgb(bg)).unwrap_or(self.terminal.ground)
    }

    /// The text that has no other colour.
    pub fn foreground(&self) -> Rgb {
        self.screen.fg.and_then(|fg| self.rgb(fg)).unwrap_or(self.terminal.text)
    }

    /// A colour as it looks; `None`: the terminal's default.
    pub fn rgb(&self, color: Color) -> Option<Rgb> {
        let number = match color {
            Color::Reset => return None,
            Color::Rgb(r, g, b) => return Some((r, g, b)),
            Color::Indexed(i) => i,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
        };
        Some(self.indexed_colour(number))
    }

    /// The 256 colours: sixteen of the terminal, a cube of six levels a side, greys.
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
