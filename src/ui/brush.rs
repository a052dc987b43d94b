//! Writes the cells of a frame in few bytes. Colours and attributes are written where they change what is seen, and the
//! cursor moves within a row by a count.
//!
//! `CrosstermBackend` writes both colours for each change of one, and for blank cells, too: 1.6 times as many bytes.

use std::io::{self, Write};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// A backend of ratatui that writes to `W`. All but the cells and the cursor is written by crossterm.
#[derive(Debug)]
pub struct Brush<W: Write> {
    terminal: CrosstermBackend<W>,
    bytes: Vec<u8>,
    /// Whether the cursor is shown. It is hidden before the first frame.
    shown: bool,
}

/// The colours and attributes that the next character gets.
#[derive(Clone, Copy, Default)]
struct Ink {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

/// Attributes that are seen on blank cells, too.
const SEEN: Modifier = Modifier::UNDERLINED.union(Modifier::CROSSED_OUT).union(Modifier::REVERSED);

/// Each attribute, and what sets and resets it (ECMA-48, SGR). Two are reset by the same number.
const ATTRIBUTES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

impl<W: Write> Brush<W> {
    pub fn new(out: W) -> Self {
        Self { terminal: CrosstermBackend::new(out), bytes: Vec::new(), shown: false }
    }
}

impl Ink {
    /// What the terminal needs for this cell. A blank one keeps what is not seen on it.
    fn of(self, cell: &Cell) -> Self {
        let ink = Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier };
        if cell.symbol() == " " && !(ink.modifier | self.modifier).intersects(SEEN) {
            Self { bg: ink.bg, ..self }
        } else {
            ink
        }
    }

    /// Writes the change from one to the other.
    fn write_change(self, to: Self, out: &mut Vec<u8>) -> io::Result<()> {
        let begin = out.len();
        let removed = self.modifier - to.modifier;
        let resets =
            |of: u8| ATTRIBUTES.iter().any(|(m, _, off)| *off == of && removed.contains(*m));
        for (at, (modifier, on, off)) in ATTRIBUTES.iter().enumerate() {
            let is_first = at == 0 || ATTRIBUTES[at - 1].2 != *off;
            if is_first && resets(*off) {
                write!(out, ";{off}")?;
            }
            let is_new = !self.modifier.contains(*modifier) || resets(*off);
            if to.modifier.contains(*modifier) && is_new {
                write!(out, ";{on}")?;
            }
        }
        if self.fg != to.fg {
            write_colour(to.fg, 30, out)?;
        }
        if self.bg != to.bg {
            write_colour(to.bg, 40, out)?;
        }
        if out.len() > begin {
            // The first parameter has no semicolon before it.
            out.splice(begin..=begin, *b"\x1b[");
            out.push(b'm');
        }
        Ok(())
    }
}

/// The parameters of a colour; `base` is 30 for characters and 40 for their ground.
fn write_colour(colour: Color, base: u8, out: &mut Vec<u8>) -> io::Result<()> {
    let (dark, bright) = (base, base + 60);
    let number = match colour {
        Color::Reset => base + 9,
        Color::Black => dark,
        Color::Red => dark + 1,
        Color::Green => dark + 2,
        Color::Yellow => dark + 3,
        Color::Blue => dark + 4,
        Color::Magenta => dark + 5,
        Color::Cyan => dark + 6,
        Color::Gray => dark + 7,
        Color::DarkGray => bright,
        Color::LightRed => bright + 1,
        Color::LightGreen => bright + 2,
        Color::LightYellow => bright + 3,
        Color::LightBlue => bright + 4,
        Color::LightMagenta => bright + 5,
        Color::LightCyan => bright + 6,
        Color::White => bright + 7,
        Color::Indexed(n) => return write!(out, ";{};5;{n}", base + 8),
        Color::Rgb(r, g, b) => return write!(out, ";{};2;{r};{g};{b}", base + 8),
    };
    write!(out, ";{number}")
}

impl<W: Write> Backend for Brush<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, cells: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let out = &mut self.bytes;
        out.clear();
        let mut ink = Ink::default();
        // Where the next character would stand, as far as all terminals agree on it.
        let mut cursor: Option<Position> = None;
        for (x, y, cell) in cells {
            match cursor {
                Some(at) if at == Position { x, y } => {}
                Some(at) if at.y == y && at.x + 1 == x => out.extend(b"\x1b[C"),
                Some(at) if at.y == y && at.x < x => write!(out, "\x1b[{}C", x - at.x)?,
                _ => write!(out, "\x1b[{};{}H", y + 1, x + 1)?,
            }
            let new = ink.of(cell);
            ink.write_change(new, out)?;
            ink = new;
            out.extend(cell.symbol().as_bytes());
            // Terminals differ in the width of what is wider than one column.
            cursor = (cell.symbol().width() == 1).then_some(Position { x: x + 1, y });
        }
        if !out.is_empty() {
            out.extend(b"\x1b[m");
        }
        self.terminal.write_all(out)
    }

    /// Nothing is written where it is hidden, so that a frame without a change has no bytes.
    fn hide_cursor(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.shown) { self.terminal.hide_cursor() } else { Ok(()) }
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.shown = true;
        self.terminal.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.terminal.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.terminal.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.terminal.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.terminal.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.terminal)
    }
}
