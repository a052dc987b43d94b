//! Means with their intervals as a curve: from 0, so that small differences look small.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::curve;
use super::row::Row;
use crate::theme::Theme;

/// Cells of the numbers left of the curve.
pub const LEFT: u16 = 8;

/// A mean, and its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    pub mean: f64,
    pub interval: Option<(f64, f64)>,
}

/// Draws the points at equal distances, with the highest value and 0 at the left. Returns the column of each point.
pub fn draw(
    theme: &Theme,
    points: &[Option<PlotPoint>],
    show: &dyn Fn(f64) -> String,
    (area, buf): (Rect, &mut Buffer),
) -> Vec<u16> {
    let plot = Rect { x: area.x + LEFT, width: area.width.saturating_sub(LEFT), ..area };
    let column = f64::from(plot.width) / points.len().max(1) as f64;
    let x = |at: usize| (at as f64 + 0.5) * column;
    let known = || points.iter().flatten();
    let high = |point: &PlotPoint| point.interval.map_or(point.mean, |(_, high)| high);
    let high = known().map(high).fold(0.0, f64::max);
    let scale = (0.0, if high > 0.0 { high * 1.1 } else { 1.0 });
    let mut line = |points: &[Option<(f64, f64)>], style: Style| {
        curve::draw(theme, style, points, scale, (plot, buf));
    };
    for (at, point) in points.iter().enumerate() {
        let Some((low, high)) = point.and_then(|point| point.interval) else { continue };
        line(&[Some((x(at), low.max(0.0))), Some((x(at), high))], theme.dim);
    }
    let means = points.iter().enumerate();
    let means: Vec<_> = means.map(|(at, point)| point.map(|point| (x(at), point.mean))).collect();
    line(&means, theme.bar_fill);
    if known().next().is_some() {
        let top = known().map(|point| point.mean).fold(0.0, f64::max);
        for (row, text) in [(0, show(top)), (plot.height.saturating_sub(1), show(0.0))] {
            let here = Rect { y: area.y + row, width: LEFT, height: 1, ..area };
            Row::new(here.intersection(area), buf).right(&text, usize::from(LEFT) - 1, theme.dim);
        }
    }
    (0..points.len()).map(|at| plot.x + x(at) as u16).collect()
}
