//! A task's budget, its budget plan and its cost. Planned uses are a line and spent credits a bar, for every tool,
//! for the whole task, and over all tasks of the session.
//!
//! ```text
//! B    20 ███████━━━━━━━━┄┄┄┄·· 12.50 left          selected like a tool: left and right turn it
//! █ spent 7.50 (tools 6, models 1.50)  ━ planned 7 (1 reserved)  ┄ spare 4  · free 1.50
//! τ  0.15 ██··········· estimate smoothed, blacklist protected, judge rules
//! plan 2: 6 of 14 credits, +4 spare, value 1.20 (before: 12, 1.40) · tau: 0.15 → 0.30
//! with 1.50 more credits: value +0.40 (search_web +1)
//!    tool            spent ━ planned    uses  cost spent  was→
//!    search_web      ████━━━━━━━━        1/3     2     2   4→3
//! ```

mod head;
mod rows;
mod sheet;
mod strip;
mod tools;

use std::sync::LazyLock;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use self::rows::{BudgetRows, BudgetTool};
use super::format::credits;
use super::row::{self, Row};
use super::spec::{Opened, PLAIN, PaneSpec};
use super::tasks::not_started;
use crate::action::Action;
use crate::change;
use crate::domain::{Command, Knob, Matter, State, TaskBudget, TaskState};
use crate::hits::{Hits, Target};
use crate::request::{ScreenRequest, World};
use crate::view::{Lever, View};
use crate::{cx::Cx, pane::PaneId};
use crate::{popups::Subject, vlist, vlist::List};

/// The rows above the tools that can be selected like tools.
pub const LEVERS: [Knob; 2] = [Knob::Budget, Knob::Tau];

/// Rows above and below the tools, without the strip of the session.
const PLANNED: usize = 9;
const UNPLANNED: usize = 6;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Budget,
    // Credits are toolyard's own.
    when: |state, _| state.watched.is_none(),
    most: |state, view| {
        let budgets = state.tasks.iter().map(|task| &task.budget);
        let entries = budgets.map(|budget| {
            let planned = budget.plan.as_ref().map_or(0, |plan| plan.tools.len());
            planned.max(budget.tools.len())
        });
        let planned = view.task_of(state).is_some_and(|task| task.budget.plan.is_some());
        let around = if planned { PLANNED } else { UNPLANNED };
        let strip = if strip::has_bars(state) { sheet::STRIP } else { 1 };
        Some(entries.max().unwrap_or(0).max(1) + around + usize::from(strip))
    },
    title,
    draw,
    list,
    filters: |_| Some("row"),
    open,
    why_not_adjust,
    edit,
    turn,
    leave: |view| view.task = None,
    keys: &[Action::Less, Action::More],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(task) = cx.view.task_of(cx.state) else { return Line::default() };
    let limit = limit(cx.state, Some(task));
    let (spent, all) = (credits(task.credits()), credits(limit));
    let mut title = format!(" · task {} · {spent} of {all}", task.id);
    if task.is_over(limit) {
        title.push_str(" · OVER");
    }
    if is_closing(task) {
        title.push_str(" · answering");
    }
    if task.budget.refused > 0 {
        title.push_str(&format!(" · {} refused", task.budget.refused));
    }
    Line::from(title)
}

/// Whether the task is being closed with a summary of what was found; an ended task is not.
fn is_closing(task: &TaskState) -> bool {
    task.budget.closing && task.outcome().is_none()
}

/// The budget of a task in credits: the knob's value, or that of the last budget plan if the task has ended.
fn limit(state: &State, task: Option<&TaskState>) -> f64 {
    let ended = task.filter(|task| task.outcome().is_some());
    let planned = ended.and_then(|task| task.budget.plan.as_ref());
    planned.map_or_else(|| state.knobs.get(Knob::Budget), |plan| *plan.budget)
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let task = cx.view.task_of(cx.state);
    let rows = rows(cx.state, cx.view);
    let selected = selected(cx.view, &rows);
    let sheet = sheet::parts(area, &rows, strip_rows(cx.state), head::is_long(cx, area.width));
    head::draw(cx, &sheet, buf, hits);
    if rows.entries.is_empty() && !sheet.list.is_empty() {
        let said = match task {
            None => not_started(cx.state),
            Some(task) if task.budget.plan.is_some() => "no tools to plan",
            Some(_) => "no tool used yet",
        };
        Row::new(sheet.list, buf).put(&cx.keymap.fill(said), cx.theme.dim);
    }
    tools::draw(cx, &rows, (sheet.columns, sheet.list), selected, buf, hits);
    if let Some(entry) = selected.and_then(|at| rows.entries.get(at)) {
        let words = tools::words(cx, &rows, entry);
        row::wrapped(sheet.detail, &words, cx.theme.dim, buf);
    }
    strip::draw(cx, sheet.strip, buf, hits);
}

/// The most rows of the session's strip: where nothing was spent it has no bars.
fn strip_rows(state: &State) -> u16 {
    match (state.tasks.is_empty(), strip::has_bars(state)) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => sheet::STRIP,
    }
}

/// The tools of the task shown; without one there are none.
fn rows<'a>(state: &'a State, view: &View) -> BudgetRows<'a> {
    static NONE: LazyLock<TaskBudget> = LazyLock::new(TaskBudget::default);
    BudgetRows::of(view.task_of(state).map_or(&NONE, |task| &task.budget))
}

/// The index of the selected tool in the list, if the list shows it.
fn selected(view: &View, rows: &BudgetRows<'_>) -> Option<usize> {
    let tool = view.tool.as_ref().filter(|_| view.lever.0.is_none())?;
    rows.entries.iter().position(|entry| entry.tool == tool)
}

/// Opens the budget plan; without one, the selected tool or an entry for the selected lever.
fn open(state: &State, view: &View) -> Opened {
    let planned = view.task_of(state).filter(|task| task.budget.plan.is_some());
    if let Some(task) = planned {
        return Opened::Subject(Subject::Plan(task.id));
    }
    Opened::Act(if view.lever.0.is_some() { Action::Edit } else { Action::InspectTool })
}

fn why_not_adjust(state: &State, view: &View) -> Option<&'static str> {
    match (view.lever.0, selected(view, &rows(state, view))) {
        (Some(knob), _) => state.cannot(Matter::Knob(knob)),
        (None, Some(_)) => change::no_uses_to_set(state, view),
        (None, None) => Some("nothing selected in the budget"),
    }
}

fn edit(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    match view.lever.0 {
        Some(knob) => {
            view.knob = Some(knob);
            change::set_knob(world.live, view)
        }
        None => change::set_uses(world.live, view),
    }
}

fn turn(_: &World<'_>, view: &mut View, up: bool) -> Vec<ScreenRequest> {
    let by = if up { 1 } else { -1 };
    match view.lever.0 {
        Some(knob) => change::turn(knob, by),
        None => change::tool(view, |tool| Command::AddUses { tool, by }),
    }
}

/// Marks a lever if it is selected, and notes the owner of its line.
fn mark(cx: &Cx<'_>, knob: Knob, line: Rect, buf: &mut Buffer, hits: &mut Hits) {
    hits.add(line, Target::Knob(knob));
    if cx.view.lever.0 == Some(knob) {
        vlist::select(cx, line, buf);
    }
}

/// A row that can be selected.
enum BudgetSelection<'a> {
    Lever(Knob),
    Tool(BudgetTool<'a>),
}

/// The levers, then the tools.
fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let rows = rows(state, view);
    let tool = selected(view, &rows).map(|at| at + LEVERS.len());
    let lever = LEVERS.iter().position(|knob| view.lever.0 == Some(*knob));
    let budget = rows.budget;
    List::new(
        (rows.entries.len() + LEVERS.len(), lever.or(tool)),
        move |row| match row.checked_sub(LEVERS.len()) {
            None => LEVERS.get(row).copied().map(BudgetSelection::Lever),
            Some(at) => rows.entries.get(at).copied().map(BudgetSelection::Tool),
        },
        |place, view| match place {
            BudgetSelection::Lever(knob) => {
                (view.lever, view.knob) = (Lever(Some(knob)), Some(knob))
            }
            BudgetSelection::Tool(entry) => {
                (view.lever, view.tool) = (Lever(None), Some(entry.tool.clone()));
            }
        },
        move |place| match place {
            BudgetSelection::Lever(knob) => knob.spec().name.to_owned(),
            BudgetSelection::Tool(entry) => format!("{}\n{}", entry.tool, entry.words(budget)),
        },
    )
}
