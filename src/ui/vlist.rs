//! A list of which only the visible rows are ever built, so that 16,000 tools cost what 40 do. The one
//! place where rows are clamped; whoever selects does so by id and asks here only for places.

use std::ops::Range;
use std::rc::Rc;

use ratatui::{buffer::Buffer, layout::Rect};

use super::hits::Hits;
use super::pane::{Cx, Move, PaneId};
use super::view::View;

type Select<'a> = dyn Fn(usize, &mut View) + 'a;

/// Things in rows, one of which can be selected.
pub struct List<'a> {
    /// How many rows there are, and which of them is selected.
    pub place: (usize, Option<usize>),
    /// Selects what is in a row. What is selected always has an id in the view.
    select: Box<Select<'a>>,
    text: Box<dyn Fn(usize) -> String + 'a>,
}

impl<'a> List<'a> {
    /// `get` gives what is in a row, and `text` what can be found in that; both only of rows that are
    /// looked at.
    pub fn new<T>(
        place: (usize, Option<usize>),
        get: impl Fn(usize) -> Option<T> + 'a,
        select: impl Fn(T, &mut View) + 'a,
        text: impl Fn(T) -> String + 'a,
    ) -> Self {
        let get = Rc::new(get);
        let found = Rc::clone(&get);
        Self {
            place,
            select: Box::new(move |row, view| {
                if let Some(it) = get(row) {
                    select(it, view);
                }
            }),
            text: Box::new(move |row| found(row).map(&text).unwrap_or_default()),
        }
    }

    /// Nothing to select.
    pub fn none() -> Self {
        Self::new((0, None), |_| None::<()>, |(), _| {}, |()| String::new())
    }

    /// Selects what a movement leads to, where a page has so many rows.
    pub fn go(&self, view: &mut View, to: Move, page: usize) {
        let (total, selected) = self.place;
        if let Some(row) = moved(total, selected, to, page) {
            (self.select)(row, view);
        }
    }

    /// Selects the next row whose text holds `needle` (lower case); false if none does.
    pub fn find(&self, view: &mut View, needle: &str, how: Find) -> bool {
        let (total, selected) = self.place;
        let holds = |row| (self.text)(row).to_lowercase().contains(needle);
        let hit = found(total, selected, how, holds);
        if let Some(row) = hit {
            (self.select)(row, view);
        }
        hit.is_some()
    }
}

/// Which rows of a list are on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first row shown.
    pub first: usize,
    /// How many rows there is room for.
    pub rows: usize,
    /// How many rows there are.
    pub total: usize,
    /// The wheel moved it: it stays where it is, selected row or not.
    pub free: bool,
}

impl Window {
    /// The window for a list of `total` rows in `rows` of height, next to the one of the last frame:
    /// it moves only as far as it must to show the selected row.
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

    /// Moved by the wheel.
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

/// The next row that matches, going round: from the selected one itself when `stay`, so that a needle
/// that grows keeps its row; otherwise after or before it.
pub fn found(
    total: usize,
    selected: Option<usize>,
    how: Find,
    mut matches: impl FnMut(usize) -> bool,
) -> Option<usize> {
    let start = selected.unwrap_or(match how {
        Find::Here => 0,
        // One before the first, and one behind the last.
        Find::Next => total.saturating_sub(1),
        Find::Previous => 0,
    });
    (0..total)
        .map(|i| match how {
            Find::Here => (start + i) % total,
            Find::Next => (start + 1 + i) % total,
            Find::Previous => (start + 2 * total - 1 - i) % total,
        })
        .find(|row| matches(*row))
}

/// Where a search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// At the selected row, then on.
    Here,
    Next,
    Previous,
}

/// The rows of a pane's list that [`draw`] will show there: for whoever prepares them all at once.
pub fn window(
    cx: &Cx<'_>,
    pane: PaneId,
    area: Rect,
    (total, selected): (usize, Option<usize>),
) -> Window {
    cx.view.windows.get(pane).next(total, usize::from(area.height), selected)
}

/// Draws the visible rows of a pane's list, marks the selected one, and notes the window. `row` gets
/// the row's place in the list and its area of one line; it notes its own target.
pub fn draw(
    cx: &Cx<'_>,
    pane: PaneId,
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    (total, selected): (usize, Option<usize>),
    mut row: impl FnMut(usize, Rect, &mut Buffer, &mut Hits),
) {
    let window = window(cx, pane, area, (total, selected));
    hits.window(pane, window);
    let bar = total > window.rows && area.width > 4;
    let width = area.width - u16::from(bar);
    for (y, i) in (area.y..).zip(window.range()) {
        let line = Rect { y, width, height: 1, ..area };
        row(i, line, buf, hits);
        if selected == Some(i) {
            select(cx, line, buf);
        }
    }
    if bar {
        let x = area.x + width;
        scrollbar(cx, Rect { x, width: 1, ..area }, window, buf);
    }
}

/// Marks the selected row: a tint, and a pointer where the row leaves its first cell free.
pub fn select(cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
    buf.set_style(line, cx.theme.selection(cx.focused));
    if let Some(cell) = buf.cell_mut(line.as_position()).filter(|cell| cell.symbol() == " ") {
        cell.set_char('▸').set_style(cx.theme.accent);
    }
}

/// A thumb that says how much there is and where one is in it.
pub fn scrollbar(cx: &Cx<'_>, area: Rect, window: Window, buf: &mut Buffer) {
    let height = usize::from(area.height);
    if height == 0 || window.total <= window.rows {
        return;
    }
    let thumb = (height * window.rows / window.total).clamp(1, height);
    let top = (height - thumb) * window.first / (window.total - window.rows).max(1);
    for (i, y) in (area.y..area.bottom()).enumerate() {
        let on = (top..top + thumb).contains(&i);
        buf.set_stringn(area.x, y, if on { "┃" } else { "│" }, 1, cx.theme.border);
    }
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
