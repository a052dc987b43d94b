//! Writes the cells of a frame in few bytes. Cells of one ink are written together, since to move the cursor takes fewer
//! bytes than to change colours, and the cursor moves within a row by a count.
//!
//! `CrosstermBackend` writes both colours for each change of one, and for blank cells, too: more than twice as many bytes.

use std::io::{self, Write};
use std::iter;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// A backend of ratatui that writes to `W`. Crossterm writes everything except cells and cursor.
#[derive(Debug)]
pub struct Brush<W: Write> {
    terminal: CrosstermBackend<W>,
    bytes: Vec<u8>,
    runs: Vec<InkRun>,
    /// The symbols of all runs, one after the other.
    text: String,
    /// Whether the cursor is shown. It is hidden before the first frame.
    shown: bool,
}

/// The colours and attributes that the next character gets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ink {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

/// Neighbouring cells of one ink.
#[derive(Debug)]
struct InkRun {
    ink: Ink,
    /// Whether all cells so far are blank: blank cells do not show all of an ink.
    is_blank: bool,
    from: Position,
    /// Position of the cursor after the run, if all terminals agree on it.
    to: Option<Position>,
    /// End of the run's text.
    end: usize,
}

/// Attributes that are visible on blank cells, too.
const SEEN: Modifier = Modifier::UNDERLINED.union(Modifier::CROSSED_OUT).union(Modifier::REVERSED);

/// Attributes, each with the numbers that set and reset it (ECMA-48, SGR). Bold and dim share a reset, as the two
/// blinks do.
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
        let terminal = CrosstermBackend::new(out);
        Self { terminal, bytes: Vec::new(), runs: Vec::new(), text: String::new(), shown: false }
    }
}

impl<W: Write> Brush<W> {
    /// Joins cells into runs.
    fn gather<'a>(&mut self, cells: impl Iterator<Item = (u16, u16, &'a Cell)>) {
        self.runs.clear();
        self.text.clear();
        for (x, y, cell) in cells {
            let (at, ink, is_blank) = (Position { x, y }, Ink::of(cell), cell.symbol() == " ");
            self.text.push_str(cell.symbol());
            // Terminals disagree about the width of symbols wider than one column.
            let to = (cell.symbol().width() == 1).then_some(Position { x: x + 1, y });
            let end = self.text.len();
            let last = self.runs.last_mut();
            match last.and_then(|run| run.with(at, ink, is_blank).map(|with| (run, with))) {
                Some((run, (ink, is_blank))) => {
                    *run = InkRun { ink, is_blank, from: run.from, to, end };
                }
                None => self.runs.push(InkRun { ink, is_blank, from: at, to, end }),
            }
        }
    }
}

impl InkRun {
    /// The run with this cell at its end; `None`: the cell begins another run.
    fn with(&self, at: Position, ink: Ink, is_blank: bool) -> Option<(Ink, bool)> {
        if self.to != Some(at) || self.ink.bg != ink.bg {
            return None;
        }
        let seen = (self.ink.modifier | ink.modifier).intersects(SEEN);
        match (self.is_blank, is_blank) {
            _ if self.ink == ink => Some((ink, self.is_blank && is_blank)),
            _ if seen => None,
            (_, true) => Some((self.ink, self.is_blank)),
            (true, false) => Some((ink, false)),
            (false, false) => None,
        }
    }
}

impl Ink {
    fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
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

/// Moves the cursor.
fn write_move(from: Option<Position>, to: Position, out: &mut Vec<u8>) -> io::Result<()> {
    match from {
        Some(at) if at == to => Ok(()),
        Some(at) if at.y == to.y && at.x + 1 == to.x => write!(out, "\x1b[C"),
        Some(at) if at.y == to.y && at.x < to.x => write!(out, "\x1b[{}C", to.x - at.x),
        _ => write!(out, "\x1b[{};{}H", to.y + 1, to.x + 1),
    }
}

impl<W: Write> Backend for Brush<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, cells: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.gather(cells);
        let out = &mut self.bytes;
        out.clear();
        let mut inks: Vec<Ink> = Vec::new();
        for run in &self.runs {
            if !inks.contains(&run.ink) {
                // Inks with one background are neighbours.
                let beside = inks.iter().rposition(|ink| ink.bg == run.ink.bg);
                inks.insert(beside.map_or(inks.len(), |at| at + 1), run.ink);
            }
        }
        let (mut last, mut cursor) = (Ink::default(), None);
        for ink in inks {
            last.write_change(ink, out)?;
            last = ink;
            let starts = iter::once(0).chain(self.runs.iter().map(|run| run.end));
            for (run, start) in self.runs.iter().zip(starts).filter(|(run, _)| run.ink == ink) {
                write_move(cursor, run.from, out)?;
                out.extend(&self.text.as_bytes()[start..run.end]);
                cursor = run.to;
            }
        }
        if !out.is_empty() {
            out.extend(b"\x1b[m");
        }
        self.terminal.write_all(out)
    }

    /// Hides the cursor. Writes nothing where it is hidden already, so that a frame without a change has no bytes.
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
