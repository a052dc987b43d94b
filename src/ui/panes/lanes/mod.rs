//! A lane for each model call and tool call of a conversation, in the order of the wire, with what it was asked and how
//! it ended; below them the selected call in full, and the tasks before.

mod bar;
mod columns;
mod detail;
mod draw;
mod other_tasks;
pub mod rows;
mod words;

use std::rc::Rc;

use ratatui::text::Line;

use self::rows::{LaneCall, LaneRows, root_of};
use crate::cx::Cx;
use crate::domain::{EffectId, State, TaskState};
use crate::view::{LanesView, View};
use crate::vlist::List;

pub use draw::draw;

/// The task whose lanes are shown, and those lanes; `None` before the first task, or if the pane shows only tools.
pub fn shown<'a>(state: &'a State, view: &View) -> Option<(&'a TaskState, LaneRows<'a>)> {
    let task = root_of(state, view.task_of(state)?);
    let with_models = view.lanes_of(state) == LanesView::All;
    Some((task, LaneRows::of(state, task, with_models)))
}

/// The row of the chosen call; without a choice of the held one, else of the last one.
pub fn selected(rows: &LaneRows<'_>, view: &View) -> Option<usize> {
    let held = || rows.state.shown_held().map(|held| held.id);
    let chosen = view.call.and_then(|call| rows.row_of(call));
    chosen.or_else(|| rows.row_of(held()?)).or(rows.rows.len().checked_sub(1))
}

/// The call of the selected row.
pub fn selected_call(state: &State, view: &View) -> Option<EffectId> {
    let (_, rows) = shown(state, view)?;
    let row = rows.rows.get(selected(&rows, view)?)?;
    Some(row.effect().id)
}

pub fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some((task, rows)) = shown(cx.state, cx.view) else { return Line::default() };
    let mut title = String::new();
    if cx.state.watched.is_some() {
        title.push_str(&format!(" · conversation {}", task.task.run));
    }
    title.push_str(&format!(" · task {}", task.id));
    let (mut held, mut away) = (0, 0);
    for row in rows.rows.iter().filter(|row| !row.effect().is_over()) {
        let is_held = row.hold(cx.state).is_some() || row.waits_for(cx.state).is_some();
        held += usize::from(is_held);
        away += usize::from(!is_held && matches!(row.call, LaneCall::Tool(_)));
    }
    let whose = if cx.state.watched.is_some() { "with the agent" } else { "running" };
    for (n, word) in [(held, "held"), (away, whose)] {
        if n > 0 {
            title.push_str(&format!(" · {n} {word}"));
        }
    }
    let prefix = columns::LaneColumns::of(&rows, 80).prefix;
    if !prefix.is_empty() {
        title.push_str(&format!(" · {prefix}…"));
    }
    Line::from(title)
}

/// The lanes as a list.
pub fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some((_, rows)) = shown(state, view) else { return List::none() };
    let place = (rows.rows.len(), selected(&rows, view));
    let rows = Rc::new(rows);
    let calls = Rc::clone(&rows);
    List::new(
        place,
        move |at| rows.rows.get(at).map(|row| (row.effect().id, row.clone())),
        |(id, _), view| {
            view.choose_call(state, id);
        },
        move |(_, row)| words::text(state, &row),
    )
    .of_calls(state, move |at| calls.rows.get(at).map(|row| row.effect().id))
}

/// Rows that the lanes of the tasks so far can use.
pub fn most(state: &State) -> usize {
    let lanes = |task: &TaskState| task.model_calls.len() + task.tool_calls.len();
    let longest = state.tasks.iter().rev().take(64).map(|task| lanes(task)).max().unwrap_or(0);
    let at_work = state.at_work.tasks().take(64).filter_map(|id| state.task(id));
    let at_work: usize = at_work.map(|task| lanes(task) + 2).sum();
    // Axis, task, a blank line, details, and the tasks before.
    longest.max(at_work) + 8
}
