//! A list of which only the visible rows are ever built, so that 16,000 tools cost what 40 do. Whoever selects
//! does so by id, and asks here only for places.

use std::rc::Rc;

use ratatui::{buffer::Buffer, layout::Rect};

use super::cx::Cx;
use super::symbols::{SELECTED, SPENT};
use super::window::{Find, Move, Window, found, moved};
use super::{hits::Hits, pane::PaneId, view::View};

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
    let (rows, bar) = match total > window.rows && area.width > 4 {
        true => beside_bar(cx, area),
        false => (area, Rect::ZERO),
    };
    for (y, i) in (area.y..).zip(window.range()) {
        let line = Rect { y, height: 1, ..rows };
        row(i, line, buf, hits);
        if selected == Some(i) {
            select(cx, line, buf);
        }
    }
    scrollbar(cx, bar, window, buf);
}

/// What of an area is for its rows, and the column for a scroll bar: on the frame where the area reaches that, else
/// the last one of the area.
pub fn beside_bar(cx: &Cx<'_>, area: Rect) -> (Rect, Rect) {
    let on_frame = !cx.frame.is_empty() && area.right() + 1 == cx.frame.right();
    let width = if on_frame { area.width } else { area.width.saturating_sub(1) };
    (Rect { width, ..area }, Rect { x: area.x + width, width: 1, ..area })
}

/// Marks the selected row: a tint, and a pointer where the row leaves its first cell free.
pub fn select(cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
    buf.set_style(line, cx.theme.selection(cx.focused));
    if let Some(cell) = buf.cell_mut(line.as_position()).filter(|cell| cell.symbol() == " ") {
        cell.set_symbol(SELECTED).set_style(cx.theme.accent);
    }
}

/// A thumb that says how much there is and where one is in it.
pub fn scrollbar(cx: &Cx<'_>, area: Rect, window: Window, buf: &mut Buffer) {
    let height = usize::from(area.height);
    if area.is_empty() || window.total <= window.rows {
        return;
    }
    let is_frame = !cx.frame.is_empty() && area.x + 1 == cx.frame.right();
    let thumb = (height * window.rows / window.total).clamp(1, height);
    let top = (height - thumb) * window.first / (window.total - window.rows).max(1);
    for (i, y) in (area.y..area.bottom()).enumerate() {
        match ((top..top + thumb).contains(&i), is_frame) {
            // Heavier than any frame.
            (true, true) => _ = buf.set_stringn(area.x, y, SPENT, 1, cx.theme.border),
            (true, false) => _ = buf.set_stringn(area.x, y, "┃", 1, cx.theme.border),
            (false, true) => {}
            (false, false) => _ = buf.set_stringn(area.x, y, "│", 1, cx.theme.border),
        }
    }
}
