//! Drawing: the axis, the task, its lanes, the selected call, and the tasks before.

use std::ops::Range;

use ratatui::{buffer::Buffer, layout::Rect};

use super::columns::{LANE, LaneColumns, indent, short};
use super::rows::{LaneCall, LaneRow, LaneRows};
use super::words::{self, At};
use super::{bar, detail, other_tasks, selected, shown};
use crate::cx::Cx;
use crate::domain::{TaskState, state::What};
use crate::hits::Hits;
use crate::pane::PaneId;
use crate::panes::calls::axis::Axis;
use crate::panes::row::{self, Row, note, split};
use crate::symbols::HELD;
use crate::window::Window;
use crate::{text, vlist, wording};

/// From this height on there is room for the axis and the task, and for the selected call.
const WITH_HEAD: u16 = 5;
const WITH_DETAIL: u16 = 7;
/// The most lines of the selected call: as a share of the pane's height, at least, and of those that lanes do not need.
const DETAIL: (u16, u16, u16) = (3, 2, 12);
/// Lines that arguments may take in a lane.
const LINES: usize = 2;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some((task, rows)) = shown(cx.state, cx.view) else {
        let words = match cx.state.watched {
            Some(_) => "waiting for the first model call",
            None => "no calls yet",
        };
        note(area, words, cx.theme.text, buf);
        return notices(cx, split(area, 2).1, buf);
    };
    // The scrollbar of a long list takes a cell.
    let bar = usize::from(rows.rows.len() > usize::from(area.height));
    let columns = LaneColumns::of(&rows, usize::from(area.width).saturating_sub(bar));
    let axis = Axis::over(rows.span(cx.now), columns.lane, rows.gaps(cx.now));
    let lanes = LaneFrame { cx, rows: &rows, columns: &columns, axis: &axis };
    let (head, rest) = split(area, if area.height >= WITH_HEAD { 2 } else { 0 });
    lanes.head(task, head, buf);
    let selected = selected(&rows, cx.view);
    let chosen = selected.and_then(|at| rows.rows.get(at)).filter(|_| area.height >= WITH_DETAIL);
    let lanes_need = u16::try_from(rows.rows.len()).unwrap_or(u16::MAX);
    let free = rest.height.saturating_sub(lanes_need.saturating_add(1)).min(DETAIL.2);
    let most = (area.height / DETAIL.0).max(DETAIL.1).max(free);
    let detail = chosen.map(|row| detail::lines(cx, &rows, row, rest.width, most));
    let below = detail.as_ref().map_or(0, |lines| lines.len() as u16 + 1);
    let room = rest.height.saturating_sub(below).max(1);
    let taken = lanes.list(selected, split(rest, room).0, buf, hits);
    let (_, rest) = split(rest, taken);
    let (_, rest) = split(rest, u16::from(taken < room || below > 0));
    let (detail_area, rest) = split(rest, below.saturating_sub(1));
    if let (Some(lines), Some(row)) = (detail, chosen) {
        detail::draw(cx, &lines, detail_area, buf);
        hits.add(detail_area, row.target());
    }
    let (_, rest) = split(rest, u16::from(rest.height > 2));
    other_tasks::draw(cx, task, &rows, (&columns, &axis), rest, (buf, hits));
}

/// Writes the last notices in full: before the first call they say what was seen instead.
fn notices(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let told = cx.state.transcript.iter().rev().filter_map(|line| match &line.what {
        What::Told { event } => Some(wording::told(event)),
        _ => None,
    });
    let mut lines = Vec::new();
    for text in told.take(usize::from(area.height)) {
        let room = usize::from(area.height).saturating_sub(lines.len());
        let width = usize::from(area.width).saturating_sub(1);
        let mut block = text::wrap_within(&text, width, room);
        block.extend(lines);
        lines = block;
    }
    row::lines(area, lines, cx.theme.text, buf);
}

/// Data shared by all lanes of a frame.
pub(super) struct LaneFrame<'a> {
    pub cx: &'a Cx<'a>,
    pub rows: &'a LaneRows<'a>,
    pub columns: &'a LaneColumns,
    pub axis: &'a Axis,
}

impl LaneFrame<'_> {
    /// Draws the times of the axis, and the task.
    fn head(&self, task: &TaskState, area: Rect, buf: &mut Buffer) {
        let theme = self.cx.theme;
        let (times, line) = split(area, 1);
        if line.is_empty() {
            return;
        }
        if self.columns.lane >= LANE {
            ticks(self.axis, |cell, label, is_gap| {
                let style = if is_gap { theme.paused } else { theme.dim };
                Row::new(times, buf).gap(self.columns.before() + cell).put(label, style);
            });
        }
        let asked = task.task.text.lines().next().unwrap_or_default();
        let mut row = Row::new(line, buf);
        let number = format!("{} ", task.id);
        row.gap(1).put(&number, theme.title);
        let room = self.columns.before() + self.columns.lane;
        let room = room.saturating_sub(1 + number.len());
        row.cell(&text::cut(asked, room), room, theme.accent).gap(1);
        let (sign, word, style) = other_tasks::stands(self.cx, task);
        row.put(&format!("{sign} {word}"), style);
    }

    /// Draws the lanes; returns the rows that they take.
    fn list(&self, selected: Option<usize>, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> u16 {
        let (cx, rows) = (self.cx, &self.rows.rows);
        let heights = self.heights(usize::from(area.height));
        let Some(heights) = heights.filter(|_| cx.view.kept(PaneId::Calls).is_none()) else {
            vlist::draw(cx, PaneId::Calls, (area, buf, hits), (rows.len(), selected), |at, row| {
                let lane = rows.get(at)?;
                let beside = words::beside(lane, self.columns.beside, self.columns.is_named);
                self.lane(lane, &text::cut(&beside, self.columns.beside), row);
                Some(lane.target())
            });
            return area.height.min(u16::try_from(rows.len()).unwrap_or(u16::MAX));
        };
        hits.window(
            PaneId::Calls,
            Window { rows: rows.len(), total: rows.len(), ..Window::default() },
        );
        let mut left = area;
        for (at, (lane, lines)) in rows.iter().zip(&heights).enumerate() {
            let (here, below) = split(left, lines.len().max(1) as u16);
            left = below;
            let (first, second) = split(here, 1);
            self.lane(lane, lines.first().map_or("", String::as_str), &mut Row::new(first, buf));
            if let Some(more) = lines.get(1) {
                let before = 2 + self.columns.name + 1;
                Row::new(second, buf).gap(before).put(more, cx.theme.dim);
            }
            hits.add(here, lane.target());
            if selected == Some(at) {
                vlist::select(cx, first, buf);
            }
        }
        area.height - left.height
    }

    /// The lines beside each name, if all fit below each other; else one line each, or `None` if those do not fit.
    fn heights(&self, room: usize) -> Option<Vec<Vec<String>>> {
        let rows = &self.rows.rows;
        if rows.len() > room {
            return None;
        }
        let cells = self.columns.beside;
        let wrapped = |lines: usize| -> Vec<Vec<String>> {
            let lines_of = |row: &LaneRow<'_>| {
                let lines = if matches!(row.call, LaneCall::Tool(_)) { lines } else { 1 };
                let beside = words::beside(row, cells * lines, self.columns.is_named);
                text::wrap_within(&beside, cells, lines)
            };
            rows.iter().map(lines_of).collect()
        };
        let tall = wrapped(LINES);
        let fits = tall.iter().map(|lines| lines.len().max(1)).sum::<usize>() <= room;
        Some(if fits { tall } else { wrapped(1) })
    }

    /// Writes a lane; `beside`: what stands beside its name.
    pub fn lane(&self, lane: &LaneRow<'_>, beside: &str, row: &mut Row<'_>) {
        let (cx, columns, theme) = (self.cx, self.columns, self.cx.theme);
        row.gap(2);
        let indent = indent(self.rows, lane).min(columns.name);
        let bars = format!("  {}", "│ ".repeat(lane.nested));
        row.cell(if lane.nested > 0 { &bars } else { "" }, indent, theme.dim);
        let name = short(words::name(cx.state, lane), &columns.prefix);
        let style = match lane.call {
            _ if !lane.effect().is_over() => theme.running,
            LaneCall::Model(_) => theme.text,
            LaneCall::Tool(_) => theme.accent,
        };
        let width = columns.name - indent;
        row.cell(&text::cut_middle(name, width), width, style).gap(1);
        row.cell(beside, columns.beside, theme.text).gap(1);
        if columns.lane > 0 {
            bar::draw(cx, self.axis, lane, row);
            row.gap(1);
        }
        let mut used = 0;
        for (text, style) in words::state(At::of(cx), lane) {
            used += text::width(&text);
            row.put(&text, style);
        }
        if columns.note > 0 {
            row.gap(columns.state.saturating_sub(used).max(1));
            row.put(&words::note(lane, columns.note), theme.text);
        }
    }
}

/// Calls `put` with the cell, the words and the kind of each mark of an axis: gaps of held time first, then times. Words
/// that would run into others are left out.
fn ticks(axis: &Axis, mut put: impl FnMut(usize, &str, bool)) {
    let mut taken: Vec<Range<usize>> = Vec::new();
    let mut place = |cell: usize, mark: &str, words: &str, is_gap: bool| {
        let is_free = |label: &str| {
            let end = cell + text::width(label);
            taken.iter().all(|it| end < it.start || it.end < cell)
        };
        let label = format!("{mark}{words}");
        let fitting = [label.as_str(), mark].into_iter().find(|label| is_free(label));
        let Some(label) = fitting else { return };
        put(cell, label, is_gap);
        taken.push(cell..cell + text::width(label));
    };
    for (cells, length) in axis.gaps() {
        place(cells.start, HELD, &text::span(length), true);
    }
    // The last one names the unit.
    for (cell, time) in axis.ticks().collect::<Vec<_>>().into_iter().rev() {
        place(cell, "┊", &time, false);
    }
}
