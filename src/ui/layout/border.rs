//! The borders between panes: which one a cell belongs to, and where it is.

use ratatui::layout::Rect;

use super::{Placed, ResizeAxis};
use crate::pane::PaneId;

/// The border below a pane, or to its right, that the mouse holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    pub pane: PaneId,
    pub side: ResizeAxis,
    /// Whether the mouse has moved the border: its release is then no click.
    pub is_moved: bool,
}

impl Border {
    /// The border that this cell belongs to. Where lines cross, the border between columns counts.
    pub fn of(placed: &[Placed], (x, y): (u16, u16)) -> Option<Self> {
        let find = |side, at| {
            let here = placed.iter().filter(|it| it.area.contains((x, y).into()));
            let borders = here.map(|it| Self { pane: it.pane, side, is_moved: false });
            borders.into_iter().find(|border| border.position(placed) == Some(at))
        };
        find(ResizeAxis::Width, x).or_else(|| find(ResizeAxis::Height, y))
    }

    /// Returns the column or the row of the border; `None`: no pane begins there.
    pub fn position(self, placed: &[Placed]) -> Option<u16> {
        let area = placed.iter().find(|it| it.pane == self.pane)?.area;
        let after = if self.side == ResizeAxis::Width { area.right() } else { area.bottom() };
        let at = after.saturating_sub(1);
        let begins = |other: Rect| match self.side {
            ResizeAxis::Width => other.x == at,
            ResizeAxis::Height => other.y == at && other.x == area.x,
        };
        placed.iter().any(|it| it.pane != self.pane && begins(it.area)).then_some(at)
    }

    /// Returns how many cells the border must move to be at the pointer; `None`: the border is gone.
    pub fn distance(self, placed: &[Placed], (x, y): (u16, u16)) -> Option<i16> {
        let to = if self.side == ResizeAxis::Width { x } else { y };
        i16::try_from(i32::from(to) - i32::from(self.position(placed)?)).ok()
    }
}
