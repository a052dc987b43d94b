//! The second line where few panes are seen: what the task may cost and has cost, who plans and who solves, and what
//! runs at once.

use ratatui::{buffer::Buffer, layout::Rect};

use super::panes::{format, row::Row};
use super::symbols::RUNNING;
use super::{cx::Cx, text};
use crate::domain::{Knob, Role, State, TaskState};

/// Cells of the bar.
const BAR: usize = 18;

/// Cells between two pieces.
const GAP: usize = 2;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let line = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let at_once = at_once(cx.state);
    let right = text::width(&at_once);
    let x = line.right().saturating_sub(right as u16);
    Row::new(Rect { x, width: line.right() - x, ..line }, buf).put(&at_once, cx.theme.running);
    let mut row = Row::new(Rect { width: x.saturating_sub(line.x + GAP as u16), ..line }, buf);
    budget(cx, &mut row);
    roles(cx, &mut row);
}

/// What was spent of what may be, as a bar; without a limit only what was spent.
fn budget(cx: &Cx<'_>, row: &mut Row<'_>) {
    let spent = cx.state.shown_task().map_or(0.0, TaskState::credits);
    let limit = cx.state.knobs.get(Knob::Budget);
    if !cx.state.strategy.btp || limit <= 0.0 {
        row.put(&format!("spent {}", format::credits(spent)), cx.theme.text).gap(GAP);
        return;
    }
    let is_over = cx.state.shown_task().is_some_and(|task| task.is_over(limit));
    let (bar, words) = match is_over {
        true => (cx.theme.bad, cx.theme.bad),
        false => (cx.theme.bar_fill, cx.theme.text),
    };
    row.put("B ", cx.theme.text).bar(spent / limit, BAR, (bar, cx.theme.bar_empty)).gap(1);
    row.put(&format!("{}/{}", format::credits(spent), format::credits(limit)), words).gap(GAP);
}

/// The models that plan and solve; one that does both or acts alone is named once.
fn roles(cx: &Cx<'_>, row: &mut Row<'_>) {
    let spec = cx.state.strategy.base.spec();
    for role in [Role::Planner, Role::Solver, Role::Actor] {
        let is_used = match role {
            Role::Planner | Role::Solver => spec.closes == Role::Solver,
            _ => spec.closes == Role::Actor,
        };
        let bound = cx.state.models.roles.get(&role).filter(|_| is_used);
        let Some(bound) = bound else { continue };
        row.put(&format!("{} ", role.name()), cx.theme.dim);
        row.put(bound.model.as_str(), cx.theme.accent).gap(GAP);
    }
}

/// How many calls run, and how many wait.
fn at_once(state: &State) -> String {
    let (running, waiting): (Vec<_>, Vec<_>) =
        state.effects_in_flight().partition(|effect| effect.started.is_some());
    match (running.len(), waiting.len()) {
        (0, 0) => String::new(),
        (running, 0) => format!("{RUNNING} {running}"),
        (running, waiting) => format!("{RUNNING} {running} · {waiting} waiting"),
    }
}
