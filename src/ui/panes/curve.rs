//! A curve of braille dots in cells.

use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Line};
use ratatui::{buffer::Buffer, layout::Rect, style::Color, style::Style, symbols::Marker};

use crate::theme::Theme;

/// Draws a line through points: cells from the left, and a value between `low` and `high`. The line is interrupted
/// where a point is missing. Earlier drawings stay below it.
pub fn draw(
    theme: &Theme,
    style: Style,
    points: &[Option<(f64, f64)>],
    (low, high): (f64, f64),
    (area, buf): (Rect, &mut Buffer),
) {
    // A line with a background colour is drawn in that colour.
    let color = style.bg.or(style.fg).unwrap_or(Color::Reset);
    let ground = theme.screen.bg.unwrap_or(Color::Reset);
    let below = buf.clone();
    Canvas::default()
        .marker(Marker::Braille)
        .background_color(ground)
        .x_bounds([0.0, f64::from(area.width)])
        .y_bounds([low, high])
        .paint(|canvas| {
            for pair in points.windows(2) {
                let (Some((x1, y1)), Some((x2, y2))) = (pair[0], pair[1]) else { continue };
                canvas.draw(&Line { x1, y1, x2, y2, color });
            }
        })
        .render(area, buf);
    for position in area.positions() {
        let is_blank =
            buf.cell(position).is_some_and(|cell| matches!(cell.symbol(), " " | "\u{2800}"));
        if let (true, Some(old), Some(new)) =
            (is_blank, below.cell(position), buf.cell_mut(position))
        {
            *new = old.clone();
        }
    }
}
