//! Pictures of the screen: its cells as SVG, on an exact grid, and as plain text.

mod glyph;
mod ink;
mod svg;

use std::path::{Path, PathBuf};
use std::{fs, io};

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::screen::{Screen, Setup};
use super::{theme::Theme, view::View};
use crate::domain::State;
use crate::files::private;
use crate::net::known::without_known;

pub use ink::ink;
pub use svg::svg;

/// The screen of a state as SVG, as this view would show it at that moment.
pub fn shot(state: &State, size: (u16, u16), theme: &Theme, view: View) -> String {
    svg(&drawn(state, size, theme, view), theme)
}

/// The cells of the screen of a state, as this view would show it at that moment.
pub fn drawn(state: &State, size: (u16, u16), theme: &Theme, view: View) -> Buffer {
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buf = Buffer::empty(area);
    let mut screen = Screen::showing(
        state.clone(),
        Setup { themes: vec![theme.clone()], ..Setup::default() },
        View { tool: state.tools.keys().next().cloned(), ..view },
    );
    screen.draw(area, &mut buf, state.at);
    buf
}

/// Writes both pictures next to each other, named after the event looked at. Never overwrites an older picture. Returns
/// the path of the SVG.
///
/// # Errors
/// Where the folder cannot be written to.
pub fn write(buf: &Buffer, theme: &Theme, folder: &Path, n: u64) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let name = |i: u32| match i {
        0 => format!("toolyard-{n}.svg"),
        i => format!("toolyard-{n}-{i}.svg"),
    };
    let path = (0..).map(|i| folder.join(name(i))).find(|path| !path.exists());
    let path = path.ok_or(io::ErrorKind::AlreadyExists)?;
    private::write(&path, without_known(&svg(buf, theme)).as_bytes())?;
    private::write(&path.with_extension("txt"), without_known(&text(buf)).as_bytes())?;
    Ok(path)
}

/// The cells as lines of text, without spaces at their ends.
pub fn text(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in buf.area.y..buf.area.bottom() {
        let line: String = cells(buf, y).map(|(_, cell)| cell.symbol()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The cells of a row with their columns; the second cell of a wide character is skipped.
fn cells(buf: &Buffer, y: u16) -> impl Iterator<Item = (u16, &Cell)> {
    let mut covered = 0;
    (buf.area.x..buf.area.right()).filter_map(move |x| {
        if covered > 0 {
            covered -= 1;
            return None;
        }
        let cell = &buf[(x, y)];
        covered = cell.symbol().width().saturating_sub(1);
        Some((x, cell))
    })
}
