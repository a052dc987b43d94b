//! The drawing of the matrix. A cell has a glyph for the weight, its number where there is room, and a mark where the
//! last evaluation or knob change moved it.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Axis, cursor};
use crate::domain::{ToolName, WeightFormat};
use crate::hits::{Hits, Target};
use crate::panes::graph::{SPEC, shown_name, weights};
use crate::panes::row::{Row, note, split};
use crate::panes::{format, glyph, position::Here, tool_order, trends::Since};
use crate::papers::toolnet::WeightedEdge;
use crate::symbols::{FELL, ROSE, RUNNING};
use crate::{cx::Cx, text, vlist};

/// The most rows of upright names.
const UPRIGHT: usize = 12;
/// Columns of a name that is shortened to make room for numbers.
const SHORT: usize = 10;

/// Data shared by all cells of a frame.
struct Grid<'a> {
    cx: &'a Cx<'a>,
    since: Option<Since<'a>>,
    here: &'a str,
    /// The selected row and column.
    cursor: (Option<usize>, Option<usize>),
    rows: usize,
    head: usize,
    cell: usize,
    /// The names of the columns shown, and the index of the first.
    columns: Vec<&'a str>,
    first: usize,
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tools.is_empty() {
        return note(area, "no tools yet", cx.theme.dim, buf);
    }
    let order = tool_order::joined(cx.state);
    let rows = Axis::rows(cx.state, &order);
    let grid = Grid::new(cx, &order, usize::from(area.width));
    let (head, rest) = split(area, grid.head_height(area.height));
    let (list, foot) = split(rest, rest.height - u16::from(area.height > 6));
    let (inside, bar) = vlist::beside_bar(cx, list);
    grid.draw_head(head, buf);
    let total = (rows.len(), grid.cursor.0);
    let window = vlist::window(cx, SPEC.id, list, total);
    let names: Vec<&str> = window.range().map_while(|row| rows.name(row)).collect();
    let edges = weights(cx.state).table(&names, &grid.columns);
    let was = grid.since.as_ref().map(|since| since.weights());
    let was = was.map_or_else(Vec::new, |was| was.table(&names, &grid.columns));
    // The selection is a cell, so this is not a list of rows.
    hits.window(SPEC.id, window);
    for (at, (line, row)) in inside.rows().zip(window.range()).enumerate() {
        if let (Some(from), Some(edges)) = (names.get(at), edges.get(at)) {
            let was = was.get(at).map_or(&[][..], Vec::as_slice);
            grid.draw_row((from, row), (edges, was), line, buf, hits);
        }
    }
    vlist::scrollbar(cx, bar, window, buf);
    grid.draw_foot(foot, buf);
}

/// The widths of the names and of a cell: with numbers if all columns fit so, perhaps beside shorter names, else glyphs
/// alone; if not even glyphs fit, a part of the columns with numbers.
fn layout(longest: usize, columns: usize, width: usize) -> (usize, usize) {
    let ways = [(longest, 4), (SHORT, 4), (longest, 3), (SHORT, 3), (longest, 2)];
    let fits = |(name, cell): &(usize, usize)| name + 3 + columns * cell <= width;
    let (name, cell) = ways.into_iter().find(fits).unwrap_or((longest, 3));
    (name.min(longest) + 2, cell)
}

impl<'a> Grid<'a> {
    fn new(cx: &'a Cx<'a>, order: &'a [usize], width: usize) -> Self {
        let axis = Axis::columns(cx.state, order);
        let cursor = cursor(Axis::rows(cx.state, order), axis, cx.view);
        let longest = cx.state.tools.keys().take(200).map(|name| text::width(name.as_str()));
        let longest = longest.max().unwrap_or(0).clamp(6, 18).min(width / 3);
        let (head, cell) = layout(longest, axis.len(), width);
        let room = width.saturating_sub(head + 1);
        let shown = (room / cell).max(1);
        // Columns move page by page, so that they stay in place while the cursor moves.
        let first = cursor.1.map_or(0, |column| column / shown * shown);
        let columns = (first..axis.len().min(first + shown)).map_while(|i| axis.name(i)).collect();
        let since = Since::of(cx.state);
        let here = Here::of(cx.state).node();
        Self { cx, since, here, cursor, rows: axis.len(), head, cell, columns, first }
    }

    fn head_height(&self, height: u16) -> u16 {
        let longest = self.columns.iter().map(|name| text::width(shown_name(name))).max();
        // Names are written in full if all rows fit below them.
        let height = usize::from(height);
        let free = height.saturating_sub(self.rows + 2);
        let most = (height / 3).min(UPRIGHT).max(free);
        u16::try_from(longest.unwrap_or(0).min(most)).unwrap_or(0)
    }

    /// Draws the names of the columns upright above the cells.
    fn draw_head(&self, area: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let height = usize::from(area.height);
        for (i, name) in self.columns.iter().enumerate() {
            let style = match *name {
                _ if self.cursor.1 == Some(self.first + i) => theme.accent,
                name if name == self.here => theme.graph_here,
                _ => theme.dim,
            };
            let name = text::cut(shown_name(name), height);
            let top = height.saturating_sub(name.chars().count());
            for (line, letter) in area.rows().skip(top).zip(name.chars()) {
                // The letters stand above the last digit.
                let gap = self.head + i * self.cell + usize::from(self.cell > 2);
                Row::new(line, buf).gap(gap).put(&letter.to_string(), style);
            }
        }
    }

    /// Draws a row: its name, and its edges to the columns, now and before.
    fn draw_row(
        &self,
        (from, place): (&str, usize),
        (edges, was): (&[Option<WeightedEdge>], &[Option<WeightedEdge>]),
        line: Rect,
        buf: &mut Buffer,
        hits: &mut Hits,
    ) {
        let theme = self.cx.theme;
        let mut row = Row::new(line, buf);
        let chosen = self.cx.view.edge.is_some() && self.cursor.0 == Some(place);
        let style = match from {
            _ if from == self.here => theme.graph_here,
            _ if chosen => theme.accent,
            _ => theme.text,
        };
        row.put(if from == self.here { RUNNING } else { " " }, style);
        row.cell(from, self.head - 2, style).gap(1);
        let name = ToolName::new(from);
        for (i, edge) in edges.iter().enumerate() {
            let selected = self.cursor == (Some(place), Some(self.first + i));
            let was = was.get(i).and_then(Option::as_ref).map(|edge| edge.weight);
            let start = row.x();
            let (glyphs, style) =
                edge.as_ref().map_or_else(Default::default, |edge| self.cell(edge, was));
            let style = if selected { theme.selection(self.cx.focused) } else { style };
            row.cell(&glyphs, self.cell, style);
            if let Some(edge) = edge {
                hits.add(row.since(start), Target::Edge(name.clone(), edge.to.clone()));
            }
        }
    }

    /// The text and style of a cell.
    fn cell(&self, edge: &WeightedEdge, was: Option<f64>) -> (String, Style) {
        let theme = self.cx.theme;
        let heat = glyph::heat(edge.weight);
        let moved = was.map_or(0.0, |was| edge.weight - was);
        let mark = match moved {
            _ if edge.pinned => "=",
            _ if moved > 0.005 => ROSE,
            _ if moved < -0.005 => FELL,
            _ => " ",
        };
        // Every format gets two digits: the foot says more.
        let number = WeightFormat::Integer.show(edge.weight);
        let number = match number.as_str() {
            // A dot says more than a zero here.
            "0" => " ·",
            // A hundred has no room, and need not differ from 99.
            "100" => "99",
            number => number,
        };
        let glyph = if heat == 0 { ' ' } else { glyph::HEAT[heat] };
        let style = if edge.pinned { theme.pinned } else { theme.heat[heat] };
        let shown = match self.cell {
            4 => format!("{glyph}{number:>2}{mark}"),
            3 => format!("{number:>2}{mark}"),
            _ => format!("{}{mark}", glyph::HEAT[heat]),
        };
        (shown, style)
    }

    /// Draws the details of the selected cell; without one, the legend.
    fn draw_foot(&self, line: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let state = self.cx.state;
        let mut row = Row::new(line, buf);
        let Some((from, to)) = &self.cx.view.edge else {
            // Cells of three columns have room for the number alone.
            let [little, more @ ..] = glyph::HEAT.map(String::from);
            let shades = match self.cell {
                3 => format!(" {little} near zero;"),
                _ => format!(" {little} low, {} higher;", more.join(" ")),
            };
            row.put(&format!("arrows select a weight;{shades} = pinned by you"), theme.dim);
            return;
        };
        row.put(&format!("{from} → {}", shown_name(to.as_str())), theme.accent).gap(2);
        let Some(edge) = weights(state).some(from.as_str(), &[to.as_str()]).pop().flatten() else {
            row.put("no edge", theme.dim);
            return;
        };
        let format = format::weight_format(&state.knobs);
        let held = if edge.pinned { " (pinned by you)" } else { "" };
        row.put(&format!("weight {}{held}", format.show(edge.weight)), theme.title).gap(1);
        if let Some(since) = &self.since {
            let was = since.weights().weight(from.as_str(), to.as_str());
            let moved = format::moved(format, was.unwrap_or(edge.weight), edge.weight);
            if !moved.is_empty() {
                row.put(&format!("{moved} since {} ", since.words()), theme.text);
            }
        }
        let known = format!(" prior {}, seen {}×", format.show(edge.prior), edge.count);
        row.put(&known, theme.dim);
    }
}
