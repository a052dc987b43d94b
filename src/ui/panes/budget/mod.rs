//! What a task may cost, what was planned for it and what it has cost: planned uses as outline, spent as
//! fill, for every tool and for the whole task, and over all tasks of the session.
//!
//! ```text
//! B    20 ▕████▓▓▒░░░░░░░═······▏ 7.50 spent        selected like a tool: left and right turn it
//! █ tools 6 ▓ models 1.50 ░ ahead 6 ═ kept 1 · free 5.50
//! τ  0.15 ━━●────────── smoothed · protected · rules
//! plan 2 · tau: 0.15 → 0.30 · value 1.20 for 9 of 14 (was 1.40 for 12)
//! 1.50 more would buy +0.40: search_web +1
//!    tool            spent ▏ planned    uses  cost spent  plan
//!    search_web      ████░░░░░░░░        1/3     2     2   4→3
//! ```

mod head;
mod rows;
mod sheet;
mod strip;
mod tools;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use self::rows::Rows;
use super::{format::credits, row::Row};
use crate::domain::{Knob, State, TaskBudget, TaskState};
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move, PaneId};
use crate::ui::text;
use crate::ui::view::{Lever, View};
use crate::ui::vlist::{self, Find};

const PANE: PaneId = PaneId::Budget;
/// The rows above the tools that can be selected like them.
const LEVERS: [(Lever, Knob); 2] = [(Lever::Budget, Knob::Budget), (Lever::Tau, Knob::Tau)];

pub fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(task) = cx.view.task_of(cx.state) else { return Line::from(PANE.name()) };
    let limit = limit(cx.state, task);
    let (spent, all) = (credits(task.credits()), credits(limit));
    let mut title = format!("{} · task {} · {spent} of {all}", PANE.name(), task.id);
    if task.is_over(limit) {
        title.push_str(" · OVER");
    }
    if is_closing(task) {
        title.push_str(" · closing");
    }
    if task.budget.refused > 0 {
        title.push_str(&format!(" · {} refused", task.budget.refused));
    }
    Line::from(title)
}

/// Whether it sums up what was found; what has ended did so.
fn is_closing(task: &TaskState) -> bool {
    task.budget.closing && task.outcome().is_none()
}

/// What the task may cost: of one that has ended, what it was last planned for.
fn limit(state: &State, task: &TaskState) -> f64 {
    let planned = task.budget.plan.as_ref().filter(|_| task.outcome().is_some());
    planned.map_or_else(|| state.knobs.get(Knob::Budget), |plan| plan.budget)
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let none = TaskBudget::default();
    let task = cx.view.task_of(cx.state);
    let rows = Rows::of(task.map_or(&none, |task| &task.budget));
    let selected = selected(cx.view, &rows);
    let sheet = sheet::parts(area, &rows, cx.state.tasks.len());
    head::draw(cx, task, &sheet, buf, hits);
    if rows.entries.is_empty() && !sheet.list.is_empty() {
        let said = match task {
            None => "no task was started yet",
            Some(task) if task.budget.plan.is_some() => "no tool to plan for",
            Some(_) => "no tool was used yet",
        };
        Row::new(sheet.list, buf).put(said, cx.theme.dim);
    }
    tools::draw(cx, &rows, (sheet.columns, sheet.list), selected, buf, hits);
    if let Some(entry) = selected.and_then(|at| rows.entries.get(at)) {
        let words = tools::words(cx, &rows, entry);
        let area = sheet.detail;
        let lines = text::wrap_within(&words, usize::from(area.width), usize::from(area.height));
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            let line_area = Rect { y, height: 1, ..area };
            Row::new(line_area, buf).put(&line, cx.theme.dim);
        }
    }
    strip::draw(cx, task, sheet.strip, buf, hits);
}

/// The place of the selected tool in the list.
fn selected(view: &View, rows: &Rows<'_>) -> Option<usize> {
    let tool = view.tool.as_ref().filter(|_| view.lever == Lever::Tool)?;
    rows.place(tool)
}

/// What is selected; `None` where that is a tool that the list does not show.
pub fn lever(state: &State, view: &View) -> Option<Lever> {
    match view.lever {
        Lever::Budget | Lever::Tau => Some(view.lever),
        Lever::Tool => {
            let task = view.task_of(state)?;
            selected(view, &Rows::of(&task.budget)).map(|_| Lever::Tool)
        }
    }
}

/// Marks a lever that is selected, and notes who owns it.
fn mark(cx: &Cx<'_>, (lever, knob): (Lever, Knob), line: Rect, buf: &mut Buffer, hits: &mut Hits) {
    hits.add(line, Target::Knob(knob));
    if cx.view.lever == lever {
        buf.set_style(line, cx.theme.selection(cx.focused));
    }
}

pub fn go(state: &State, view: &mut View, to: Move) {
    let none = TaskBudget::default();
    let task = view.task_of(state);
    let rows = Rows::of(task.map_or(&none, |task| &task.budget));
    let at = match LEVERS.iter().position(|(lever, _)| *lever == view.lever) {
        Some(at) => Some(at),
        None => selected(view, &rows).map(|at| at + LEVERS.len()),
    };
    let total = rows.entries.len() + LEVERS.len();
    let Some(row) = vlist::moved(total, at, to, view.page(PANE)) else { return };
    match LEVERS.get(row) {
        Some((lever, knob)) => {
            view.lever = *lever;
            view.knob = Some(*knob);
        }
        None => select(view, &rows, row - LEVERS.len()),
    }
}

fn select(view: &mut View, rows: &Rows<'_>, at: usize) {
    if let Some(entry) = rows.entries.get(at) {
        let tool = entry.tool.clone();
        view.lever = Lever::Tool;
        view.tool = Some(tool);
    }
}

pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    let Some(task) = view.task_of(state) else { return false };
    let rows = Rows::of(&task.budget);
    let hit = vlist::found(rows.entries.len(), selected(view, &rows), how, |at| {
        rows.entries.get(at).is_some_and(|entry| {
            let words = entry.words(rows.budget).to_lowercase();
            entry.tool.as_str().to_lowercase().contains(needle) || words.contains(needle)
        })
    });
    if let Some(at) = hit {
        select(view, &rows, at);
    }
    hit.is_some()
}
