//! The tasks of the conversation before the one that is shown: a line each, the latest first.

use std::collections::BTreeMap;

use ratatui::{buffer::Buffer, layout::Rect};

use super::bar;
use super::columns::LaneColumns;
use super::rows::LaneRows;
use crate::cx::Cx;
use crate::domain::{TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::calls::axis::Axis;
use crate::panes::row::Row;
use crate::panes::tasks;
use crate::text;

/// Tasks that are looked through.
const LOOKED: usize = 512;

/// Cells of a task's words and its lane, if the columns above are narrower.
const WORDS: usize = 44;

/// Draws as many of them as there is room for; the last line counts those without room.
pub fn draw(
    cx: &Cx<'_>,
    task: &TaskState,
    (columns, axis): (&LaneColumns, &Axis),
    area: Rect,
    (buf, hits): (&mut Buffer, &mut Hits),
) {
    // A search shows only the task itself.
    if area.is_empty() || cx.view.find.is_some() {
        return;
    }
    let is_before = |it: &&TaskState| it.task.run == task.task.run && it.id < task.id;
    let last = cx.state.tasks.iter().rev().take(LOOKED).map(|it| &**it);
    let before: Vec<&TaskState> = last.filter(is_before).collect();
    let lines = usize::from(area.height);
    let shown = if before.len() > lines { lines - 1 } else { before.len() };
    let mut rows = area.rows();
    for (other, line) in before.iter().take(shown).zip(&mut rows) {
        earlier(cx, other, (columns, axis), &mut Row::new(line, buf));
        hits.add(line, Target::Task(other.id));
    }
    let rest = before.get(shown..).filter(|rest| !rest.is_empty());
    if let Some((rest, line)) = rest.zip(rows.next()) {
        Row::new(line, buf).gap(1).put(&counts(cx, rest), cx.theme.text);
    }
}

/// `3 earlier tasks: 2 answered, 1 failed`
fn counts(cx: &Cx<'_>, tasks: &[&TaskState]) -> String {
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks {
        *ends.entry(tasks::look(cx.state, task, cx.theme).1).or_default() += 1;
    }
    let ends: Vec<String> = ends.into_iter().map(|(end, n)| format!("{n} {end}")).collect();
    format!("{}: {}", counted(tasks.len(), "earlier task"), ends.join(", "))
}

/// Writes a task: its number and words, its lane from its own beginning, its time and its end.
fn earlier(
    cx: &Cx<'_>,
    task: &TaskState,
    (columns, axis): (&LaneColumns, &Axis),
    row: &mut Row<'_>,
) {
    let theme = cx.theme;
    let wide = columns.before().max(WORDS.min(columns.before() + columns.lane));
    let lane = (columns.before() + columns.lane).saturating_sub(wide);
    let number = format!(" {} ", task.id);
    row.put(&number, theme.title);
    let asked = task.task.text.lines().next().unwrap_or_default();
    row.cell(asked, wide.saturating_sub(number.len() + 1), theme.text).gap(1);
    if lane > 0 {
        let lanes = LaneRows::of(cx.state, task, true);
        let own = Axis::over(lanes.span(cx.now), lane, lanes.gaps(cx.now)).at_scale_of(axis);
        let mut cells = vec![(" ", theme.dim); lane];
        for one in &lanes.rows {
            for (part, glyph, style) in bar::parts(cx, &own, one) {
                let end = part.end.min(cells.len());
                cells[part.start.min(end)..end].fill((glyph, style));
            }
        }
        bar::put(&cells, row);
        row.gap(1);
    }
    let (sign, word, style) = tasks::look(cx.state, task, theme);
    if let (Some(from), Some(to)) = (task.started, task.ended) {
        row.put(&format!("{} ", text::span(to.saturating_sub(from))), theme.text);
    }
    row.put(&format!("{sign} {word}"), style);
}
