//! Rows of a list by index: which ones are shown, where a movement leads, and which ones match. The only place where
//! rows are clamped.

use std::ops::Range;

use strum::EnumString;

use super::action::Action;

/// Direction of a movement key, with the name of its action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Move {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Move {
    /// The movement of an action, if it is one.
    pub fn of(action: Action) -> Option<Self> {
        action.into_str().parse().ok()
    }
}

/// Range of a list's rows that are on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first row shown.
    pub first: usize,
    /// Number of rows with room on the screen.
    pub rows: usize,
    /// Number of rows of the list.
    pub total: usize,
    /// Whether the wheel moved the window: it then stays, selected row or not.
    pub free: bool,
}

impl Window {
    /// The window for a list of `total` rows in `rows` of height. It starts from the window of the last frame, and
    /// moves only as far as it must to show the selected row.
    pub fn next(self, total: usize, rows: usize, selected: Option<usize>) -> Self {
        let last = total.saturating_sub(rows);
        let mut first = self.first.min(last);
        if let (Some(selected), false, true) = (selected, self.free, rows > 0) {
            let selected = selected.min(total.saturating_sub(1));
            first = first.clamp((selected + 1).saturating_sub(rows), selected);
        }
        Self { first, rows, total, free: self.free }
    }

    /// The rows to draw.
    pub fn range(self) -> Range<usize> {
        self.first..self.total.min(self.first.saturating_add(self.rows))
    }

    /// The window moved by the wheel.
    #[must_use]
    pub fn wheeled(self, by: isize) -> Self {
        let last = self.total.saturating_sub(self.rows);
        Self { first: self.first.saturating_add_signed(by).min(last), free: true, ..self }
    }
}

/// The row that a movement leads to; `None` in an empty list. Left and right move nothing.
pub fn moved(total: usize, selected: Option<usize>, to: Move, page: usize) -> Option<usize> {
    let last = total.checked_sub(1)?;
    let page = page.max(2) - 1;
    let Some(at) = selected else {
        return Some(match to {
            Move::Up | Move::PageUp | Move::Bottom => last,
            Move::Down | Move::PageDown | Move::Top | Move::Left | Move::Right => 0,
        });
    };
    let at = at.min(last);
    Some(match to {
        Move::Up => at.saturating_sub(1),
        Move::Down => at + 1,
        Move::PageUp => at.saturating_sub(page),
        Move::PageDown => at.saturating_add(page),
        Move::Top => 0,
        Move::Bottom => last,
        Move::Left | Move::Right => at,
    })
    .map(|row| row.min(last))
}

/// The next row that matches, going round: from the selected one itself with [`Find::Here`], so that a growing needle
/// keeps its row; otherwise after or before it.
pub fn found(
    total: usize,
    selected: Option<usize>,
    how: Find,
    mut matches: impl FnMut(usize) -> bool,
) -> Option<usize> {
    // This many rows forward, going round, are one row back.
    let back = total.saturating_sub(1);
    let (start, step) = match how {
        Find::Here => (selected.unwrap_or(0), 1),
        Find::Next => (selected.map_or(0, |row| row + 1), 1),
        Find::Previous => (selected.unwrap_or(0) + back, back),
    };
    (0..total).map(|i| (start + i * step) % total).find(|row| matches(*row))
}

/// Start of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// At the selected row itself.
    Here,
    Next,
    Previous,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOVES: [Move; 8] = [
        Move::Up,
        Move::Down,
        Move::Left,
        Move::Right,
        Move::PageUp,
        Move::PageDown,
        Move::Top,
        Move::Bottom,
    ];

    #[test]
    fn a_window_moves_only_as_far_as_it_must() {
        let window = Window::default().next(100, 10, Some(50));
        assert_eq!(window.range(), 41..51);
        assert_eq!(window.next(100, 10, Some(45)).range(), 41..51);
        assert_eq!(window.next(100, 10, Some(40)).range(), 40..50);
        assert_eq!(window.wheeled(-41).next(100, 10, Some(50)).range(), 0..10);
        assert_eq!(window.next(3, 10, Some(50)).range(), 0..3);
    }

    #[test]
    fn finding_goes_round() {
        let even = |i: usize| i.is_multiple_of(2);
        assert_eq!(found(5, Some(4), Find::Next, even), Some(0));
        assert_eq!(found(5, Some(0), Find::Previous, even), Some(4));
        assert_eq!(found(5, Some(2), Find::Here, even), Some(2));
        assert_eq!(found(5, None, Find::Next, even), Some(0));
        assert_eq!(found(5, None, Find::Previous, even), Some(4));
        assert_eq!(found(0, None, Find::Next, even), None);
        assert_eq!(found(5, Some(9), Find::Next, |_| false), None);
    }

    proptest! {
        #[test]
        fn places_stay_inside(
            total in 0usize..50, rows in 0usize..20, first in 0usize..60, selected in 0usize..60,
            free: bool, page in 0usize..20, which in 0usize..8, by in -70isize..70,
        ) {
            let window = Window { first, rows, total, free }.wheeled(by);
            let window = Window { free, ..window }.next(total, rows, Some(selected));
            let range = window.range();
            prop_assert!(range.end <= total && range.len() <= rows);
            if !free && rows > 0 && total > 0 {
                prop_assert!(range.contains(&selected.min(total - 1)));
            }
            let to = moved(total, Some(selected), MOVES[which], page);
            prop_assert_eq!(to.is_none(), total == 0);
            prop_assert!(to.is_none_or(|row| row < total));
        }
    }
}
