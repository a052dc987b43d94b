//! Curves over the tasks of the axis.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::axis::Axis;
use super::facts::Facts;
use crate::domain::{Lap, State, ToolName};
use crate::panes::row::{self, Row};
use crate::panes::{curve, glyph};
use crate::papers::resilience::score_after;
use crate::{cx::Cx, text};

/// The number of tasks in each mean of a curve, so that single tasks do not hide the trend.
const SMOOTH: usize = 5;

/// A curve, with its name and its last value in words.
pub(super) struct Curve {
    pub name: String,
    pub style: Style,
    /// A value for each lap of the axis; `None` where there is none.
    pub values: Vec<Option<f64>>,
    pub last: String,
}

impl Curve {
    /// The mean over the last tasks, at each task of the axis; `laps` may be of another session.
    pub fn mean(
        name: &str,
        style: Style,
        laps: &[Lap],
        tasks: &[Lap],
        of: fn(&Lap) -> f64,
        show: fn(f64) -> String,
    ) -> Self {
        let value = |lap: &Lap| {
            let at = laps.binary_search_by_key(&lap.task, |lap| lap.task).ok()?;
            let some = &laps[(at + 1).saturating_sub(SMOOTH)..=at];
            Some(some.iter().map(of).sum::<f64>() / some.len() as f64)
        };
        let values: Vec<_> = tasks.iter().map(value).collect();
        let last = values.iter().rev().flatten().next().map(|value| show(*value));
        Self { name: name.to_owned(), style, values, last: last.unwrap_or_default() }
    }

    /// The score of a tool after each task of the axis.
    pub fn score(state: &State, tool: &ToolName, style: Style, tasks: &[Lap]) -> Self {
        let points = state.learning.history.get(tool);
        let points = || points.into_iter().flatten().map(|point| (point.task, *point.score));
        let values: Vec<_> =
            tasks.iter().map(|lap| Some(score_after(points(), lap.task.0))).collect();
        let last = values.last().copied().flatten().map(glyph::signed).unwrap_or_default();
        Self { name: tool.to_string(), style, values, last }
    }
}

/// Draws curves on one scale, with marks at the fault and where the choice is stable.
pub(super) fn draw(
    cx: &Cx<'_>,
    facts: &Facts<'_>,
    axis: &Axis,
    (heading, curves): (&str, &[Curve]),
    (area, buf): (Rect, &mut Buffer),
) {
    let Rect { x, width, .. } = axis.area;
    let plot = Rect { x, width, ..area };
    let values = curves.iter().flat_map(|curve| curve.values.iter().flatten().copied());
    let low = values.clone().fold(0.0, f64::min);
    let high = values.fold(1.0, f64::max);
    let is_line = area.height == 1;
    // The greatest value is behind the heading.
    let number = if is_line { 0 } else { text::width(&short(high)) as u16 + 2 };
    let left = Rect { width: x - area.x, ..area };
    let (top, below) = row::split(left, 1);
    let width = left.width.saturating_sub(number).saturating_sub(1);
    let heading = text::cut(heading, usize::from(width));
    Row::new(top, buf).gap(1).put(&heading, cx.theme.title);
    names(cx, curves, below, buf);
    if is_line {
        let curve = curves.first();
        let values = curve.into_iter().flat_map(|curve| curve.values.chunks(axis.per));
        let values = values.map(|some| mean(some).unwrap_or(0.0));
        let heights = glyph::spark(values, usize::from(width), (low, high));
        let heights = heights.chars().enumerate();
        let line: String = heights
            .flat_map(|(part, height)| std::iter::repeat_n(height, axis.cells(part).len()))
            .collect();
        Row::new(plot, buf).put(&line, curve.map_or(cx.theme.text, |curve| curve.style));
    } else {
        curves.iter().rev().for_each(|curve| line(cx, curve, axis, (low, high), plot, buf));
        marks(cx, facts, axis, plot, buf);
        scale(cx, (low, high), left, buf);
    }
    ends(
        curves,
        Rect { x: plot.right(), width: area.right() - plot.right(), ..area },
        (low, high),
        buf,
    );
}

/// The line of the axis at the left of the curves, with the greatest and the least value.
fn scale(cx: &Cx<'_>, (low, high): (f64, f64), area: Rect, buf: &mut Buffer) {
    let last = area.height.saturating_sub(1);
    for (at, line) in (0..).zip(area.rows()) {
        let number = match at {
            0 => short(high),
            at if at == last => short(low),
            _ => String::new(),
        };
        let mark = if number.is_empty() { "│" } else { "┤" };
        let width = u16::try_from(text::width(&number)).unwrap_or(0) + 1;
        let x = area.right().saturating_sub(width).max(area.x);
        let end = Rect { x, width: area.right() - x, ..line };
        Row::new(end, buf).put(&number, cx.theme.dim).put(mark, cx.theme.border);
    }
}

/// A number in few cells.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        0.0..0.1 => format!("{value:.3}"),
        0.1..10.0 => format!("{value:.1}"),
        10.0..1000.0 => format!("{value:.0}"),
        _ => text::count(value.abs() as u64),
    }
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// Draws the legend: the name and style of each curve.
fn names(cx: &Cx<'_>, curves: &[Curve], area: Rect, buf: &mut Buffer) {
    for (line, curve) in area.rows().zip(curves.iter().filter(|curve| !curve.name.is_empty())) {
        let width = usize::from(area.width).saturating_sub(4);
        let name = text::cut(&curve.name, width);
        Row::new(line, buf).gap(1).put("⠤⠤ ", curve.style).put(&name, cx.theme.dim);
    }
}

fn line(cx: &Cx<'_>, curve: &Curve, axis: &Axis, scale: (f64, f64), area: Rect, buf: &mut Buffer) {
    let points = curve.values.chunks(axis.per).map(mean).enumerate();
    let middle = |part| f64::from(axis.cells(part).start + axis.cells(part).end) / 2.0;
    let points = points.map(|(part, value)| value.map(|value| (middle(part), value)));
    let mut points: Vec<_> = points.collect();
    // A single task is a line over its cells.
    if let [Some((_, value))] = points[..] {
        points =
            [axis.cells(0).start, axis.cells(0).end].map(|x| Some((f64::from(x), value))).into();
    }
    curve::draw(cx.theme, curve.style, &points, scale, (area, buf));
}

/// Draws lines where the fault was armed and where the choice is stable, except over curves.
fn marks(cx: &Cx<'_>, facts: &Facts<'_>, axis: &Axis, area: Rect, buf: &mut Buffer) {
    let Some(taken) = &facts.taken else { return };
    let at = [(Some(taken.broken.from), cx.theme.injected), (taken.found.stable, cx.theme.good)];
    for (task, style) in at {
        let Some(column) = task.and_then(|task| axis.column(facts, task)) else { continue };
        for y in area.y..area.bottom() {
            if let Some(cell) =
                buf.cell_mut((area.x + column, y)).filter(|cell| cell.symbol() == " ")
            {
                cell.set_symbol("┊").set_style(style);
            }
        }
    }
}

/// Draws the last values beside the ends of the curves, one below the other.
fn ends(curves: &[Curve], area: Rect, (low, high): (f64, f64), buf: &mut Buffer) {
    let height = usize::from(area.height);
    let mut taken = vec![false; height];
    for curve in curves {
        let Some(value) = curve.values.iter().rev().flatten().next() else { continue };
        let share = if high > low { (high - value) / (high - low) } else { 0.0 };
        let wanted = ((share * height as f64) as usize).min(height.saturating_sub(1));
        let free = (wanted..height).chain((0..wanted).rev()).find(|at| !taken[*at]);
        let Some(at) = free else { continue };
        taken[at] = true;
        let line = Rect { y: area.y + at as u16, height: 1, ..area };
        Row::new(line, buf).gap(1).put(&curve.last, curve.style);
    }
}
