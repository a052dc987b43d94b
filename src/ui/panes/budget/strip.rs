//! The session so far: for every task the cost planned at its start as a line, and its cost as a bar.
//! Many tasks share a column, which then shows their mean.

use ratatui::{buffer::Buffer, layout::Rect};

use super::limit;
use crate::domain::{State, TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::{format, glyph};
use crate::symbols::{PLANNED, SPENT, WAITING};
use crate::{cx::Cx, panes::row::Row, text};

/// The widest bar of one task, with the gap behind it.
const WIDEST: usize = 4;

/// Tasks side by side that share a column.
#[derive(Clone, Debug, Default)]
struct StripColumn {
    /// Means over the column's tasks, in credits; `planned` only over planned tasks.
    spent: f64,
    planned: f64,
    /// Whether any of the tasks cost more than its budget.
    over: bool,
    /// Whether one of the tasks is the one that the pane shows.
    here: bool,
}

pub(super) fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.is_empty() {
        return;
    }
    let tasks = &*started(cx.state);
    let mut row = Row::new(Rect { height: 1, ..area }, buf);
    row.put(&heading(cx.state, tasks), cx.theme.dim);
    if tasks.is_empty() {
        return;
    }
    if area.height < 3 {
        let room = row.gap(1).left();
        let spent = tasks.iter().map(|task| finite(task.credits()));
        let most = spent.clone().fold(0.0, f64::max);
        row.put(&glyph::spark(spent, room, (0.0, most)), cx.theme.bar_fill);
        return;
    }
    let shown = cx.view.task_of(cx.state);
    let width = usize::from(area.width);
    let per = tasks.len().div_ceil(width);
    let columns: Vec<StripColumn> =
        tasks.chunks(per).map(|some| column(cx.state, some, shown)).collect();
    let wide = (width / columns.len()).clamp(1, WIDEST);
    let chart = Rect { y: area.y + 1, height: area.height - 2, ..area };
    bars(cx, &columns, wide, chart, buf);
    marks(cx, &columns, wide, Rect { y: chart.bottom(), height: 1, ..area }, buf);
    for (x, some) in (area.x..).step_by(wide).zip(tasks.chunks(per)) {
        hits.add(Rect { x, width: wide as u16, ..chart }, Target::Task(some[0].id));
    }
}

/// Whether any task has spent or planned something.
pub(super) fn has_bars(state: &State) -> bool {
    state.tasks.iter().any(|task| task.credits() > 0.0 || planned(task).is_some_and(|it| it > 0.0))
}

/// The tasks that were started: tasks are taken in order.
fn started(state: &State) -> Vec<&TaskState> {
    state.tasks.iter().map(|task| &**task).take_while(|task| task.started.is_some()).collect()
}

fn planned(task: &TaskState) -> Option<f64> {
    task.budget.first.as_ref().map(|plan| finite(plan.needed().1))
}

fn is_over(state: &State, task: &TaskState) -> bool {
    task.is_over(limit(state, Some(task)))
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// `5 tasks: 33 spent, 41 planned, 0 over`.
fn heading(state: &State, tasks: &[&TaskState]) -> String {
    let spent: f64 = tasks.iter().map(|task| finite(task.credits())).sum();
    let over = tasks.iter().filter(|task| is_over(state, task)).count();
    let planned: Option<f64> = tasks.iter().filter_map(|task| planned(task)).reduce(|a, b| a + b);
    let planned = planned.map(|sum| format!("{PLANNED} {} planned, ", format::credits(sum)));
    let planned = planned.unwrap_or_default();
    let spent = format::credits(spent);
    let gone = if state.tasks.gone() > 0 { "the last " } else { "" };
    format!("{gone}{}: {planned}{SPENT} {spent} spent, {over} over", counted(tasks.len(), "task"))
}

fn column(state: &State, tasks: &[&TaskState], shown: Option<&TaskState>) -> StripColumn {
    let mean = |of: Vec<f64>| of.iter().sum::<f64>() / of.len().max(1) as f64;
    StripColumn {
        spent: mean(tasks.iter().map(|task| finite(task.credits())).collect()),
        planned: mean(tasks.iter().filter_map(|task| planned(task)).collect()),
        over: tasks.iter().any(|task| is_over(state, task)),
        here: tasks.iter().any(|task| shown.is_some_and(|shown| shown.id == task.id)),
    }
}

fn bars(cx: &Cx<'_>, columns: &[StripColumn], wide: usize, area: Rect, buf: &mut Buffer) {
    let most = columns.iter().map(|column| column.spent.max(column.planned)).fold(0.0, f64::max);
    let rows = f64::from(area.height);
    let height = |value: f64| if most > 0.0 { value / most * rows } else { 0.0 };
    // The last cell of a wide column stays empty, so that bars are separate.
    let filled = wide.max(2) - 1;
    for (from_bottom, line) in area.rows().rev().enumerate() {
        let floor = from_bottom as f64;
        let mut row = Row::new(line, buf);
        for column in columns {
            let (spent, planned) = (height(column.spent) - floor, height(column.planned) - floor);
            // The outline is at its height if the bar does not reach that.
            let outline = match planned {
                0.0..=1.0 if planned > 0.0 => PLANNED,
                // The cell is planned, but not spent.
                _ if planned > 1.0 => WAITING,
                _ => " ",
            };
            let glyph = glyph::height(spent).map_or(outline.to_owned(), String::from);
            let spent_style = if column.over { cx.theme.bad } else { cx.theme.bar_fill };
            let style = if glyph == outline { cx.theme.planned } else { spent_style };
            row.put(&glyph.repeat(filled), style).gap(wide - filled);
        }
    }
}

/// Marks the tasks that cost more than their budget, and the task that the pane shows.
fn marks(cx: &Cx<'_>, columns: &[StripColumn], wide: usize, line: Rect, buf: &mut Buffer) {
    let mut row = Row::new(line, buf);
    for column in columns {
        let (mark, style) = match (column.over, column.here) {
            (true, true) => ("^!", cx.theme.bad),
            (true, false) => ("!", cx.theme.bad),
            (false, true) => ("^", cx.theme.accent),
            (false, false) => ("", cx.theme.text),
        };
        // If one cell must do for both marks, only `!` is shown.
        let mark = if text::width(mark) > wide { "!" } else { mark };
        row.cell(mark, wide, style);
    }
}
