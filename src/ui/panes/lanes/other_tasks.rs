//! Other tasks below the one that is shown: those of other conversations at work, then the earlier ones of this
//! conversation, the latest first. Each has its lanes where there is room, else a line.

use std::collections::BTreeMap;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::columns::LaneColumns;
use super::draw::LaneFrame;
use super::rows::{LaneRows, below, root_of};
use super::{bar, words};
use crate::cx::Cx;
use crate::domain::{Lane, TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::calls::axis::Axis;
use crate::panes::conversations::Stands;
use crate::panes::row::{Row, split};
use crate::panes::tasks;
use crate::text;

/// Tasks that are looked through.
const LOOKED: usize = 512;
/// Cells of a task's words and its lane, if the columns above are narrower.
const WORDS: usize = 44;
/// Lines kept for the tasks after one with its lanes.
const KEPT: usize = 3;

/// Draws as many of them as there is room for; the last line counts those without room.
pub fn draw(
    cx: &Cx<'_>,
    task: &TaskState,
    shown: &LaneRows<'_>,
    (columns, axis): (&LaneColumns, &Axis),
    area: Rect,
    (buf, hits): (&mut Buffer, &mut Hits),
) {
    // A search shows only the task itself.
    if area.is_empty() || cx.view.find.is_some() {
        return;
    }
    let others = others(cx, task, shown);
    let subs = below(cx.state);
    let mut left = area;
    for (at, other) in others.iter().enumerate() {
        let after = others.len() - at - 1;
        if left.height == 1 && after > 0 {
            let said = counts(cx, &others[at..]);
            Row::new(left, buf).gap(1).put(&said, cx.theme.text);
            return;
        }
        let lanes = LaneRows::with(cx.state, other, &subs, true);
        let own = Axis::over(lanes.span(cx.now), columns.lane, lanes.gaps(cx.now));
        let own = own.at_scale_of(axis);
        let rows = lanes.rows.len();
        let needs = rows + 2 + after.min(KEPT);
        let is_whole = rows > 0 && usize::from(left.height) >= needs;
        let (here, rest) = split(left, if is_whole { rows as u16 + 2 } else { 1 });
        left = rest;
        let (head, inside) = split(here, 1);
        let in_line = (!is_whole).then_some(&lanes);
        line(cx, other, (columns, &own), in_line, &mut Row::new(head, buf));
        let frame = LaneFrame { cx, rows: &lanes, columns, axis: &own };
        for (lane, line) in lanes.rows.iter().zip(inside.rows()).filter(|_| is_whole) {
            let beside = words::beside(lane, columns.beside, columns.is_named);
            frame.lane(lane, &text::cut(&beside, columns.beside), &mut Row::new(line, buf));
            hits.add(line, lane.target());
        }
        hits.add(head, Target::Task(other.id));
    }
}

/// The tasks of other conversations at work, then the earlier ones of this conversation.
fn others<'a>(cx: &Cx<'a>, task: &TaskState, shown: &LaneRows<'_>) -> Vec<&'a TaskState> {
    let is_shown = |it: &TaskState| shown.tasks.iter().any(|shown| shown.id == it.id);
    let is_root = |it: &&TaskState| root_of(cx.state, it).id == it.id;
    let at_work = cx.state.at_work.tasks().filter_map(|id| cx.state.task(id));
    let at_work = at_work.filter(|it| !is_shown(it)).filter(is_root);
    let is_before = |it: &&TaskState| it.task.run == task.task.run && it.id < task.id;
    let last = cx.state.tasks.iter().rev().take(LOOKED).map(|it| &**it);
    let foreign = at_work.filter(|_| cx.state.watched.is_some());
    foreign.take(LOOKED).chain(last.filter(is_before)).collect()
}

/// `3 more tasks: 2 answered, 1 failed`
fn counts(cx: &Cx<'_>, tasks: &[&TaskState]) -> String {
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks {
        *ends.entry(tasks::look(cx.state, task, cx.theme).1).or_default() += 1;
    }
    let ends: Vec<String> = ends.into_iter().map(|(end, n)| format!("{n} {end}")).collect();
    format!("{}: {}", counted(tasks.len(), "more task"), ends.join(", "))
}

/// The state of a task: held where one of its calls is.
pub fn stands(cx: &Cx<'_>, task: &TaskState) -> (&'static str, &'static str, Style) {
    let holds = cx.state.control.held.iter();
    let mut held = holds.filter_map(|hold| match hold.lane {
        Lane::Effect(call) => cx.state.effect(call),
        Lane::Run(_) => None,
    });
    match held.any(|call| call.task == task.id) {
        true => Stands::Held.look(cx.theme),
        false => tasks::look(cx.state, task, cx.theme),
    }
}

/// Writes a task: its number and words, its time and its end, and all of its `lanes` in one.
fn line(
    cx: &Cx<'_>,
    task: &TaskState,
    (columns, axis): (&LaneColumns, &Axis),
    lanes: Option<&LaneRows<'_>>,
    row: &mut Row<'_>,
) {
    let theme = cx.theme;
    let whole = columns.before() + columns.lane;
    let wide = if lanes.is_some() { columns.before().max(WORDS.min(whole)) } else { whole };
    let lane = whole.saturating_sub(wide);
    let number = format!(" {} ", task.id);
    row.put(&number, theme.title);
    let asked = task.task.text.lines().next().unwrap_or_default();
    row.cell(asked, wide.saturating_sub(number.len() + 1), theme.text).gap(1);
    if let Some(lanes) = lanes.filter(|_| lane > 0) {
        let mut cells = vec![(" ", theme.dim); lane];
        for one in &lanes.rows {
            for (part, glyph, style) in bar::parts(cx, axis, one) {
                let end = part.end.min(cells.len());
                cells[part.start.min(end)..end].fill((glyph, style));
            }
        }
        bar::put(&cells, row);
    }
    row.gap(1);
    let (sign, word, style) = stands(cx, task);
    if let (Some(from), Some(to)) = (task.started, task.ended) {
        row.put(&format!("{} ", text::span(to.saturating_sub(from))), theme.text);
    }
    row.put(&format!("{sign} {word}"), style);
}
