//! Cells as SVG: backgrounds, then frames and blocks as shapes, then text in runs that are fitted to the grid, so that
//! no font can shift a column.

use std::{collections::BTreeMap, fmt::Write as _};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use super::{cells, glyph};
use crate::theme::{Rgb, Theme};

/// The size of a cell in pixels, and the position of the text in it.
const CELL: (f64, f64) = (8.4, 18.0);
const BASE: f64 = 13.5;
const FONT: f64 = 14.0;
/// The margin around the grid.
const MARGIN: f64 = 10.0;

/// The cells as an SVG picture. Colours that the terminal decides are taken from the theme's terminal colours.
pub fn svg(buf: &Buffer, theme: &Theme) -> String {
    let mut layers = Layers::default();
    for y in buf.area.y..buf.area.bottom() {
        row(buf, y, theme, &mut layers);
    }
    let size = (
        f64::from(buf.area.width) * CELL.0 + 2.0 * MARGIN,
        f64::from(buf.area.height) * CELL.1 + 2.0 * MARGIN,
    );
    layers.picture(size, &hex(theme.ground()))
}

/// Layers of a picture, from the bottom up.
#[derive(Default)]
struct Layers {
    /// Backgrounds of cells, by colour.
    grounds: BTreeMap<String, Rects>,
    /// Shapes, by colour and ink in hundredths.
    shapes: BTreeMap<(String, u8), Rects>,
    texts: String,
}

impl Layers {
    fn picture(mut self, (width, height): (f64, f64), ground: &str) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.1} {height:.1}\">\n\
             <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{ground}\"/>\n"
        );
        self.grounds.remove(ground);
        for (colour, rects) in self.grounds {
            let _ = writeln!(out, "<path fill=\"{colour}\" d=\"{}\"/>", rects.path());
        }
        for ((colour, ink), rects) in self.shapes {
            let ink = match ink {
                100 => String::new(),
                ink => format!(" opacity=\"{}\"", f64::from(ink) / 100.0),
            };
            let _ = writeln!(out, "<path fill=\"{colour}\"{ink} d=\"{}\"/>", rects.path());
        }
        let _ = writeln!(
            out,
            "<g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" \
             font-size=\"{FONT}\" xml:space=\"preserve\">\n{}</g>\n</svg>",
            self.texts
        );
        out
    }
}

/// Rectangles of one colour as a path; a rectangle that continues the last one is joined to it.
#[derive(Default)]
struct Rects {
    path: String,
    /// Left, top, width, height.
    last: Option<(f64, f64, f64, f64)>,
}

impl Rects {
    fn add(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let near = |a: f64, b: f64| (a - b).abs() < 0.01;
        match &mut self.last {
            Some(last) if near(last.1, y) && near(last.3, height) && near(last.0 + last.2, x) => {
                last.2 += width;
            }
            _ => {
                self.end();
                self.last = Some((x, y, width, height));
            }
        }
    }

    fn end(&mut self) {
        if let Some((x, y, width, height)) = self.last.take() {
            let _ = write!(self.path, "M{x:.2} {y:.2}h{width:.2}v{height:.2}h-{width:.2}z");
        }
    }

    fn path(mut self) -> String {
        self.end();
        self.path
    }
}

/// The look of a cell.
#[derive(Clone, PartialEq)]
struct CellLook {
    fg: String,
    bg: String,
    marks: Modifier,
}

impl CellLook {
    fn of(cell: &Cell, theme: &Theme) -> Self {
        let mut fg = theme.rgb(cell.fg).unwrap_or_else(|| theme.foreground());
        let mut bg = theme.rgb(cell.bg).unwrap_or_else(|| theme.ground());
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut fg, &mut bg);
        }
        Self { fg: hex(fg), bg: hex(bg), marks: cell.modifier - Modifier::REVERSED }
    }
}

/// Neighbouring cells of one look.
struct GlyphRun {
    x: f64,
    cells: u16,
    look: CellLook,
    text: String,
}

fn row(buf: &Buffer, y: u16, theme: &Theme, layers: &mut Layers) {
    let top = MARGIN + f64::from(y - buf.area.y) * CELL.1;
    let mut run: Option<GlyphRun> = None;
    for (column, cell) in cells(buf, y) {
        let x = MARGIN + f64::from(column - buf.area.x) * CELL.0;
        let look = CellLook::of(cell, theme);
        let width = cell.symbol().width().max(1) as u16;
        let ground = layers.grounds.entry(look.bg.clone()).or_default();
        ground.add(x, top, f64::from(width) * CELL.0, CELL.1);
        let mut chars = cell.symbol().chars();
        if let (Some(c), None) = (chars.next(), chars.next())
            && let Some((parts, ink)) = glyph::parts(c)
        {
            flush(run.take(), top, layers);
            let key = (look.fg, (ink * 100.0) as u8);
            let shape = layers.shapes.entry(key).or_default();
            for (left, upper, width, height) in parts {
                let (left, upper) = (x + left * CELL.0, top + upper * CELL.1);
                shape.add(left, upper, width * CELL.0, height * CELL.1);
            }
            continue;
        }
        // A font may give other characters than ASCII any width, so each is fitted to its own cells.
        let alone = !cell.symbol().is_ascii();
        match &mut run {
            Some(run) if run.look == look && !alone => {
                run.text.push_str(cell.symbol());
                run.cells += width;
            }
            Some(_) | None => {
                let text = cell.symbol().to_owned();
                flush(run.replace(GlyphRun { x, cells: width, look, text }), top, layers);
            }
        }
        if alone {
            flush(run.take(), top, layers);
        }
    }
    flush(run, top, layers);
}

fn flush(run: Option<GlyphRun>, top: f64, layers: &mut Layers) {
    let Some(GlyphRun { x, cells, look, text }) = run else { return };
    if text.trim().is_empty() && !look.marks.contains(Modifier::UNDERLINED) {
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
        layers.texts,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" fill=\"{}\"{marks}>{}</text>",
        top + BASE,
        f64::from(cells) * CELL.0,
        look.fg,
        escaped(&text)
    );
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
            // Readers that ignore xml:space would drop spaces at both ends and join the others.
            ' ' => out.push('\u{a0}'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use ratatui::{layout::Rect, style::Style};

    use super::*;

    #[test]
    fn cells_become_runs_shapes_and_grounds() {
        let theme = Theme::default();
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 2));
        buf.set_string(0, 0, "a <b> & \"c\"", Style::new());
        buf.set_string(0, 1, "日x─█", Style::new().add_modifier(Modifier::REVERSED));
        let svg = svg(&buf, &theme);
        assert!(
            svg.contains(">a\u{a0}&lt;b&gt;\u{a0}&amp;\u{a0}&quot;c&quot;\u{a0}</text>"),
            "{svg}"
        );
        // The wide character takes two cells, and what follows starts on the third.
        assert!(svg.contains("<text x=\"10.0\" y=\"41.5\" textLength=\"16.8\""), "{svg}");
        assert!(svg.contains("<text x=\"26.8\" y=\"41.5\" textLength=\"8.4\""), "{svg}");
        assert!(!svg.contains('─') && !svg.contains('█'));
        assert!(svg.contains(&format!("<path fill=\"{}\" d=\"", hex(theme.terminal.text))));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
}
