//! Lists that build only their visible rows, so that 16,000 tools cost as much as 40. Selections are kept by id; this
//! module deals with indices in the list.

use std::rc::Rc;

use ratatui::{buffer::Buffer, layout::Rect};

use super::filter_states;
use super::hits::{Hits, Target};
use super::panes::row::Row;
use super::symbols::{SELECTED, THUMB};
use super::window::{Find, Move, Window, found, moved};
use super::{cx::Cx, needle::Needle, pane::PaneId, view::View};
use crate::domain::breakpoint::When;
use crate::domain::expression::{Evaluator, Resolver};
use crate::domain::{EffectId, Expression, State};
use crate::papers::facts::Facts;

type Select<'a> = dyn Fn(usize, &mut View) + 'a;
type Fits<'a> = dyn Fn(usize, &Expression) -> bool + 'a;
type IsIn<'a> = dyn Fn(usize, &str) -> bool + 'a;

/// Things in rows, one of which can be selected.
pub struct List<'a> {
    /// The number of rows, and the selected row.
    pub place: (usize, Option<usize>),
    /// Selects the thing in a row. The view always has an id of the selected thing.
    select: Box<Select<'a>>,
    text: Box<dyn Fn(usize) -> String + 'a>,
    /// Whether an expression is true of the call in a row; `None`: the rows are not calls.
    fits: Option<Box<Fits<'a>>>,
    /// Whether the thing in a row is in a state; `None`: rows have no states.
    is_in: Option<Box<IsIn<'a>>>,
    /// The number of rows at the start whose text no longer changes.
    pub steady: usize,
    /// The number of rows at the start whose text is not in memory: a search does not find them.
    pub gone: usize,
    /// The rows that a filter keeps, ascending; `None`: all rows.
    kept: Option<Vec<usize>>,
}

impl<'a> List<'a> {
    /// `get` gives the thing in a row, and `text` the text that a search looks in. Both are called only for rows that
    /// are looked at.
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
            fits: None,
            is_in: None,
            steady: 0,
            gone: 0,
            kept: None,
        }
    }

    /// Returns a list without selectable rows.
    pub fn none() -> Self {
        Self::new((0, None), |_| None::<()>, |(), _| {}, |()| String::new())
    }

    /// The texts of this many rows at the beginning are final.
    #[must_use]
    pub fn steady(self, rows: usize) -> Self {
        Self { steady: rows, ..self }
    }

    /// The texts of this many rows at the beginning are not in memory.
    #[must_use]
    pub fn gone(self, rows: usize) -> Self {
        Self { gone: rows, ..self }
    }

    /// Lets a search find rows by the names of their states, too.
    #[must_use]
    pub fn of_states(self, is_in: impl Fn(usize, &str) -> bool + 'a) -> Self {
        Self { is_in: Some(Box::new(is_in)), ..self }
    }

    /// Says which rows are calls. A search finds those by expressions and by states.
    #[must_use]
    pub fn of_calls(self, state: &'a State, call: impl Fn(usize) -> Option<EffectId> + 'a) -> Self {
        let call = Rc::new(call);
        let of_row = Rc::clone(&call);
        let is_in = move |row: usize, name: &str| {
            of_row(row).is_some_and(|call| filter_states::is(state, call, name))
        };
        let fits = move |row: usize, condition: &Expression| {
            call(row).is_some_and(|call| {
                let facts = Facts::of_call(state, call, When::After);
                let resolver = Resolver(&facts);
                Evaluator::new(&resolver).holds(condition)
            })
        };
        Self { fits: Some(Box::new(fits)), ..self.of_states(is_in) }
    }

    /// Keeps only the rows that match.
    #[must_use]
    pub fn narrowed(self, needle: &Needle) -> Self {
        let kept = (0..self.place.0).filter(|row| self.holds(*row, needle)).collect();
        Self { kept: Some(kept), ..self }
    }

    /// Whether this row matches.
    pub fn holds(&self, row: usize, needle: &Needle) -> bool {
        match needle.expression() {
            None => match (needle.state(), &self.is_in) {
                (Some(state), Some(is_in)) => is_in(row, state),
                _ => needle.is_in(&(self.text)(row)),
            },
            Some(Err(_)) => false,
            Some(Ok(condition)) => self.fits.as_ref().is_some_and(|fits| fits(row, condition)),
        }
    }

    /// Selects the row that a movement leads to; a page has `page` rows.
    pub fn go(&self, view: &mut View, to: Move, page: usize) {
        let (total, selected) = self.place;
        let row = match &self.kept {
            None => moved(total, selected, to, page),
            Some(kept) => {
                let at = selected.and_then(|row| kept.binary_search(&row).ok());
                moved(kept.len(), at, to, page).and_then(|at| kept.get(at).copied())
            }
        };
        if let Some(row) = row {
            (self.select)(row, view);
        }
    }

    /// Selects the next row that matches; false if none does.
    pub fn find(&self, view: &mut View, needle: &Needle, how: Find) -> bool {
        let (total, selected) = self.place;
        let hit = found(total, selected, how, |row| self.holds(row, needle));
        if let Some(row) = hit {
            (self.select)(row, view);
        }
        hit.is_some()
    }
}

/// Rows of a pane's list that are drawn one below the other: all, or a part.
#[derive(Clone, Copy, Debug)]
pub struct ListSection {
    /// The index in the list of the part's first row.
    pub first: usize,
    pub total: usize,
    /// The selected row, counted from the first row of the part.
    pub selected: Option<usize>,
}

impl From<(usize, Option<usize>)> for ListSection {
    fn from((total, selected): (usize, Option<usize>)) -> Self {
        Self { first: 0, total, selected }
    }
}

/// The visible rows of a part: all of them, or those that a filter keeps.
#[derive(Clone, Copy, Debug)]
pub struct VisibleRows<'a> {
    part: ListSection,
    kept: Option<&'a [usize]>,
}

impl<'a> VisibleRows<'a> {
    pub fn of(view: &'a View, pane: PaneId, part: impl Into<ListSection>) -> Self {
        let part = part.into();
        let kept = view.kept(pane).map(|kept| {
            let start = kept.partition_point(|row| *row < part.first);
            let end = kept.partition_point(|row| *row < part.first + part.total);
            &kept[start..end]
        });
        Self { part, kept }
    }

    /// The number of visible rows.
    pub fn count(&self) -> usize {
        self.kept.map_or(self.part.total, <[usize]>::len)
    }

    /// The index in the part of a visible row.
    pub fn at(&self, shown: usize) -> usize {
        match self.kept {
            None => shown,
            Some(kept) => kept.get(shown).map_or(usize::MAX, |row| row - self.part.first),
        }
    }

    /// The indices of the rows that fit into these lines, always with the selected one, and whether each is that: for a
    /// part without its own window.
    pub fn around_selected(self, lines: u16) -> impl Iterator<Item = (usize, bool)> {
        let window = Window::default().next(self.count(), usize::from(lines), self.selected());
        window.range().map(move |i| (self.at(i), self.selected() == Some(i)))
    }

    /// Index of the selected row among the shown rows.
    pub fn selected(&self) -> Option<usize> {
        let selected = self.part.selected?;
        match self.kept {
            None => Some(selected),
            Some(kept) => kept.binary_search(&(selected + self.part.first)).ok(),
        }
    }
}

/// The window on a pane's list that [`draw`] will show.
pub fn window(cx: &Cx<'_>, pane: PaneId, area: Rect, part: impl Into<ListSection>) -> Window {
    let rows = VisibleRows::of(cx.view, pane, part);
    cx.view.windows[pane as usize].next(rows.count(), usize::from(area.height), rows.selected())
}

/// The indices of the rows that [`draw`] will show: for code that prepares them all at once.
pub fn visible(cx: &Cx<'_>, pane: PaneId, area: Rect, part: impl Into<ListSection>) -> Vec<usize> {
    let part = part.into();
    let rows = VisibleRows::of(cx.view, pane, part);
    window(cx, pane, area, part).range().map(|shown| rows.at(shown)).collect()
}

/// Draws the visible rows of a pane's list in order, marks the selected one, and notes the window. `row` gets the row's
/// index in the part, writes its line, and returns the target of a click.
pub fn draw(
    cx: &Cx<'_>,
    pane: PaneId,
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    part: impl Into<ListSection>,
    row: impl FnMut(usize, &mut Row<'_>) -> Option<Target>,
) {
    let part = part.into();
    let rows = VisibleRows::of(cx.view, pane, part);
    let window = window(cx, pane, area, part);
    hits.window(pane, window);
    let (lines, bar) = match window.total > window.rows && area.width > 4 {
        true => beside_bar(cx, area),
        false => (area, Rect::ZERO),
    };
    let shown = window.range().map(|i| (rows.at(i), rows.selected() == Some(i)));
    draw_rows(cx, (lines, buf, hits), shown, row);
    scrollbar(cx, bar, window, buf);
}

/// Draws rows one below the other: their indices, and whether each is the selected one.
pub fn draw_rows(
    cx: &Cx<'_>,
    (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    rows: impl Iterator<Item = (usize, bool)>,
    mut row: impl FnMut(usize, &mut Row<'_>) -> Option<Target>,
) {
    for (line, (place, is_selected)) in area.rows().zip(rows) {
        if let Some(target) = row(place, &mut Row::new(line, buf)) {
            hits.add(line, target);
        }
        if is_selected {
            select(cx, line, buf);
        }
    }
}

/// Splits an area into the part for its rows and the column for a scroll bar: on the frame if the area reaches that,
/// else its last column.
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

/// Draws a thumb with the size and the position of the window in the list.
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
            (true, true) => _ = buf.set_stringn(area.x, y, THUMB, 1, cx.theme.border),
            (true, false) => _ = buf.set_stringn(area.x, y, "┃", 1, cx.theme.border),
            (false, true) => {}
            (false, false) => _ = buf.set_stringn(area.x, y, "│", 1, cx.theme.border),
        }
    }
}
