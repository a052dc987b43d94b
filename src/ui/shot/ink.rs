//! How much of a screen says something.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;

use super::cells;
use crate::theme::Theme;

/// Signs of axes and of empty places.
const FAINT: &str = "·┊╌…";

/// The share of cells, from 0 to 1, with a character that is not blank, not dim, and no frame, rule, axis or dot.
pub fn ink(buf: &Buffer, theme: &Theme) -> f64 {
    let rows = buf.area.y..buf.area.bottom();
    let says = |(_, cell): &(u16, &Cell)| says(cell, theme);
    let inked: usize = rows.map(|y| cells(buf, y).filter(says).count()).sum();
    inked as f64 / buf.area.area().max(1) as f64
}

fn says(cell: &Cell, theme: &Theme) -> bool {
    let symbol = cell.symbol();
    let is_dim = cell.modifier.contains(Modifier::DIM) || theme.dim.fg == Some(cell.fg);
    let is_line = symbol.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c));
    let of_frame = [theme.border.fg, theme.border_focus.fg];
    let is_frame = is_line && of_frame.contains(&Some(cell.fg));
    !symbol.trim().is_empty() && !is_dim && !is_frame && !FAINT.contains(symbol)
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Style};

    use super::*;

    #[test]
    fn only_what_is_said_counts() {
        let theme = Theme {
            dim: Style::new().fg(Color::Gray),
            border: Style::new().fg(Color::Blue),
            ..Theme::default()
        };
        let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 10, 1));
        buf.set_string(0, 0, "ab ", Style::new());
        buf.set_string(3, 0, "cd", theme.dim);
        buf.set_string(5, 0, "━─", theme.border);
        buf.set_string(7, 0, "━·┊", Style::new().fg(Color::Green));
        assert_eq!(ink(&buf, &theme), 0.3);
    }
}
