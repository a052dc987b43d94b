//! The chart of a sweep by a command: a curve over the values of one setting, or a heat map over those of two.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::panes::glyph::{HEAT, heat};
use crate::panes::plot;
pub use crate::panes::plot::PlotPoint;
use crate::panes::row::Row;
use crate::shot;
use crate::text::{self, cut};
use crate::theme::Theme;

/// The fewest columns.
const FEWEST: u16 = 40;
/// Rows of a curve without its labels.
const CURVE: u16 = 12;
/// The most rows of a heat map.
const ROWS: usize = 40;
/// Cells of the widest label at the left of a heat map.
const LABEL: usize = 24;

/// A setting of the chart, and the labels of its values.
pub struct ChartAxis {
    pub name: String,
    pub labels: Vec<String>,
    /// The present value.
    pub now: Option<usize>,
}

/// The chart of a sweep.
pub struct SweepChart<'a> {
    pub title: String,
    pub across: ChartAxis,
    pub down: Option<ChartAxis>,
    /// By the place across and the place down, `None`: not known yet.
    pub point: &'a dyn Fn(usize, usize) -> Option<PlotPoint>,
    /// The text of a point's interval.
    pub spread: &'a dyn Fn(PlotPoint) -> String,
    pub show: &'a dyn Fn(f64) -> String,
}

impl SweepChart<'_> {
    /// The chart with so many columns as lines of text, and a narrow one with as many as it needs.
    pub fn text(&self, theme: &Theme, columns: u16) -> String {
        shot::text(&self.drawn(theme, columns.max(FEWEST)))
    }

    /// The chart with so many columns as SVG.
    pub fn svg(&self, theme: &Theme, columns: u16) -> String {
        shot::svg(&self.drawn(theme, columns), theme)
    }

    fn drawn(&self, theme: &Theme, width: u16) -> Buffer {
        let rows = self.down.as_ref().map(|down| down.labels.len().min(ROWS) as u16);
        // The title, and the labels below.
        let height = 1 + rows.map_or(CURVE + 4, |rows| rows + 2);
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        buf.set_style(area, theme.screen);
        let title = Rect { height: 1, ..area };
        Row::new(title, &mut buf).put(&text::clean(&self.title), theme.title);
        let below = Rect { y: 1, height: height - 1, ..area };
        match &self.down {
            None => self.curve(theme, below, &mut buf),
            Some(down) => self.map(theme, down, below, &mut buf),
        }
        buf
    }

    fn curve(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let all = self.across.labels.len();
        let points: Vec<_> = (0..all).map(|at| (self.point)(at, 0)).collect();
        let plot = Rect { height: CURVE, ..area };
        let columns = plot::draw(theme, &points, self.show, (plot, buf));
        let every = self.every(area.width - plot::LEFT);
        let room = usize::from(area.width - plot::LEFT) / all.div_ceil(every).max(1);
        for (at, column) in columns.into_iter().enumerate() {
            let is_now = self.across.now == Some(at);
            if at % every != 0 && !is_now {
                continue;
            }
            let mut put = |line: u16, text: &str, style| {
                let text = cut(text, room.saturating_sub(1).max(1));
                let left = column.saturating_sub(text::width(&text) as u16 / 2);
                let here = Rect { x: left, y: plot.bottom() + line, width: room as u16, height: 1 };
                Row::new(here.intersection(area), buf).put(&text, style);
            };
            put(
                0,
                &text::clean(&self.across.labels[at]),
                if is_now { theme.accent } else { theme.dim },
            );
            if let Some(point) = points[at] {
                put(1, &(self.show)(point.mean), theme.text);
                put(2, &(self.spread)(point), theme.dim);
            }
            if is_now {
                put(3, "now", theme.accent);
            }
        }
        let here = Rect { y: plot.bottom(), width: plot::LEFT, height: 1, ..area };
        Row::new(here, buf).right(&self.across.name, usize::from(plot::LEFT) - 1, theme.dim);
    }

    /// Every so-manieth value has its label, so that labels have room.
    fn every(&self, width: u16) -> usize {
        let widest = self.across.labels.iter().map(|label| text::width(label)).max().unwrap_or(1);
        let fit = (usize::from(width) / (widest.clamp(5, 12) + 1)).max(1);
        self.across.labels.len().div_ceil(fit).max(1)
    }

    fn map(&self, theme: &Theme, down: &ChartAxis, area: Rect, buf: &mut Buffer) {
        let (across, rows) = (self.across.labels.len(), down.labels.len().min(ROWS));
        let all = (0..across).flat_map(|x| (0..rows).filter_map(move |y| (self.point)(x, y)));
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| {
            (low.min(point.mean), high.max(point.mean))
        });
        let widest = down.labels.iter().map(|label| text::width(label)).max().unwrap_or(0);
        let left = widest.max(text::width(&down.name)).min(LABEL) + 1;
        let room = (usize::from(area.width).saturating_sub(left) / across.max(1)).clamp(3, 16);
        for y in 0..rows {
            let line = Rect { y: area.y + 1 + y as u16, height: 1, ..area };
            let mut row = Row::new(line, buf);
            let style = if down.now == Some(y) { theme.accent } else { theme.dim };
            row.cell(&cut(&text::clean(&down.labels[y]), left - 1), left, style);
            for x in 0..across {
                let Some(PlotPoint { mean, .. }) = (self.point)(x, y) else {
                    row.cell("–", room, theme.dim);
                    continue;
                };
                let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
                let heat = heat(share);
                let is_now = down.now == Some(y) && self.across.now == Some(x);
                let style = if is_now { theme.accent } else { theme.text };
                row.put(&HEAT[heat].to_string(), theme.heat[heat]);
                let mark = if is_now { " now" } else { "" };
                let text = format!("{}{mark}", (self.show)(mean));
                row.cell(&cut(&text, room.saturating_sub(2)), room - 1, style);
            }
        }
        let head = Rect { height: 1, ..area };
        let mut row = Row::new(head, buf);
        row.cell(&cut(&down.name, left - 1), left, theme.dim);
        for (x, label) in self.across.labels.iter().enumerate() {
            let style = if self.across.now == Some(x) { theme.accent } else { theme.dim };
            row.cell(&cut(&text::clean(label), room - 1), room, style);
        }
        let below = Rect { y: area.y + 1 + rows as u16, height: 1, ..area };
        let rest = down.labels.len() - rows;
        let more =
            if rest > 0 { format!("; {rest} more rows are in the table") } else { String::new() };
        Row::new(below, buf).put(&format!("across: {}{more}", self.across.name), theme.dim);
    }
}
