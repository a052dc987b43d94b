//! Pictures of the screen: its cells as SVG, on an exact grid, and as plain text.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::Modifier,
};
use unicode_width::UnicodeWidthStr;

use super::{
    keymap::Keymap,
    screen::{Screen, Setup},
    theme::{Rgb, Theme},
    view::View,
};
use crate::state::State;

/// The size of a cell in pixels, and where in it the text stands.
const CELL: (f64, f64) = (8.4, 18.0);
const BASE: f64 = 13.5;
const FONT: f64 = 14.0;
/// Around the grid.
const MARGIN: f64 = 10.0;

/// The screen of a state as SVG, as a replay would show it.
pub fn shot(state: &State, size: (u16, u16), theme: &Theme) -> String {
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buf = Buffer::empty(area);
    let mut screen = Screen::showing(
        state.clone(),
        Setup {
            title: "toolyard".to_owned(),
            read_only: None,
            keymap: Keymap::default(),
            themes: vec![theme.clone()],
            strategies: Vec::new(),
        },
        View { tool: state.tools.keys().next().cloned(), ..View::default() },
    );
    screen.draw(area, &mut buf, state.at);
    svg(&buf, theme)
}

/// Writes both pictures next to each other, named after the event that the screen is at; an older
/// picture is never overwritten. Gives the path of the SVG.
pub fn write(buf: &Buffer, theme: &Theme, folder: &Path, n: u64) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = (0u32..)
        .map(|i| match i {
            0 => folder.join(format!("toolyard-{n}.svg")),
            i => folder.join(format!("toolyard-{n}-{i}.svg")),
        })
        .find(|path| !path.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    fs::write(&path, svg(buf, theme))?;
    fs::write(path.with_extension("txt"), text(buf))?;
    Ok(path)
}

/// The cells as lines of text, without spaces at their ends.
pub fn text(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in buf.area.y..buf.area.bottom() {
        let mut line = String::new();
        for (_, cell) in cells(buf, y) {
            line.push_str(cell.symbol());
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The cells of a row and where they begin; the second cell of a wide character is not one.
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

/// The cells as an SVG picture.
pub fn svg(buf: &Buffer, theme: &Theme) -> String {
    let (columns, rows) = (f64::from(buf.area.width), f64::from(buf.area.height));
    let (width, height) = (columns * CELL.0 + 2.0 * MARGIN, rows * CELL.1 + 2.0 * MARGIN);
    let ground = hex(theme.ground());
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{ground}\"/>\n\
         <g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" \
         font-size=\"{FONT}\" xml:space=\"preserve\">"
    );
    for y in buf.area.y..buf.area.bottom() {
        row(buf, y, theme, &ground, &mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// How a run of cells looks.
#[derive(Clone, PartialEq)]
struct Look {
    fg: String,
    bg: String,
    marks: Modifier,
}

fn row(buf: &Buffer, y: u16, theme: &Theme, ground: &str, out: &mut String) {
    let mut run: Option<(u16, u16, Look, String)> = None;
    for (x, cell) in cells(buf, y) {
        let look = look(cell, theme);
        let width = cell.symbol().width().max(1) as u16;
        // A wide character, or one that fonts draw wider than a cell, ends a run: what follows it
        // starts on the grid again.
        let plain = cell.symbol().is_ascii() || is_box(cell.symbol());
        match &mut run {
            Some((_, end, of, text)) if *of == look && plain && *end == x => {
                text.push_str(cell.symbol());
                *end += width;
            }
            _ => {
                flush(run.take(), (buf.area, y), ground, out);
                run = Some((x, x + width, look, cell.symbol().to_owned()));
            }
        }
        if !plain {
            flush(run.take(), (buf.area, y), ground, out);
        }
    }
    flush(run, (buf.area, y), ground, out);
}

/// Frames and blocks are as wide as letters in every monospaced font.
fn is_box(symbol: &str) -> bool {
    symbol.chars().all(|c| matches!(c, '\u{2500}'..='\u{259f}'))
}

fn flush(
    run: Option<(u16, u16, Look, String)>,
    (area, y): (Rect, u16),
    ground: &str,
    out: &mut String,
) {
    let Some((start, end, look, text)) = run else { return };
    let x = MARGIN + f64::from(start - area.x) * CELL.0;
    let top = MARGIN + f64::from(y - area.y) * CELL.1;
    let width = f64::from(end - start) * CELL.0;
    if look.bg != ground {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
             fill=\"{}\"/>",
            CELL.1, look.bg
        );
    }
    let underlined = look.marks.contains(Modifier::UNDERLINED);
    if text.trim().is_empty() && !underlined {
        return;
    }
    let mut marks = String::new();
    for (mark, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::DIM, " opacity=\"0.6\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
    ] {
        if look.marks.contains(mark) {
            marks.push_str(attribute);
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" fill=\"{}\"{marks}>{}</text>",
        top + BASE,
        look.fg,
        escaped(&text)
    );
}

fn look(cell: &Cell, theme: &Theme) -> Look {
    let mut fg = theme.rgb(cell.fg).unwrap_or_else(|| theme.foreground());
    let mut bg = theme.rgb(cell.bg).unwrap_or_else(|| theme.ground());
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut fg, &mut bg);
    }
    if cell.modifier.contains(Modifier::HIDDEN) {
        fg = bg;
    }
    Look { fg: hex(fg), bg: hex(bg), marks: cell.modifier - Modifier::REVERSED }
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A space at either end would be dropped by readers that ignore xml:space.
            ' ' => out.push('\u{a0}'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
