//! The queue of tasks: those that are done and whether they were right, the running one, and those to come.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::conversations::Stands;
use super::format;
use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{Outcome, State, TaskId, TaskPhase, TaskState, words::counted};
use crate::filter_states;
use crate::hits::{Hits, Target};
use crate::symbols::{DONE, FAILED, REFUSED, RUNNING, WAITING};
use crate::update::queue;
use crate::vlist::{self, List};
use crate::{action::Action, popups::Subject, table, text, theme::Theme, view::View};
use crate::{cx::Cx, pane::PaneId};

/// Cells reserved for the task's text. In a narrow pane the columns on the left stay longest.
const TEXT: usize = 36;
/// From this width on there is room for the task's name and the answers too.
const WITH_ANSWERS: usize = 100;
const ANSWER: usize = 26;
/// The note for a task that is neither in memory nor in a journal.
const GONE: &str = "gone: this session has no journal";

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Tasks,
    // The tasks of a watched agent stand in its conversations, and below its calls.
    when: |state, _| state.watched.is_none(),
    most: |state, _| Some(state.tasks.len().max(1)),
    title,
    draw,
    list,
    filters: |_| Some("task"),
    open: |state, view| {
        let task = view.task.or_else(|| state.shown_task().map(|task| task.id));
        Opened::subject(task.map(Subject::Task))
    },
    why_not_remove: queue::not_removable,
    remove: queue::remove,
    leave: |view| view.task = None,
    keys: &[
        Action::NewTask,
        Action::RunNext,
        Action::MoveDown,
        Action::MoveUp,
        Action::Remove,
        Action::FollowUp,
    ],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let state = cx.state;
    let (right, judged) = (state.tasks_right, state.tasks_judged);
    let done = format!(" {}/{}", state.tasks_done, state.tasks.len());
    if judged == 0 {
        return Line::from(done);
    }
    // 100 % means all.
    let most = if right == judged { 100 } else { 99 };
    let percent = ((right * 200 + judged) / (2 * judged)).min(most);
    Line::from(format!("{done} · {right} of {judged} right ({percent} %)"))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let tasks = &state.tasks;
    let selected = view.task.or_else(|| state.shown_task().map(|task| task.id));
    let place = |id: TaskId| (id.0 as usize).checked_sub(1).filter(|at| *at < tasks.len());
    let selected = selected.and_then(place);
    List::new(
        (tasks.len(), selected),
        |row| Some((id_of(row), tasks.get(row))),
        |(task, _), view| view.task = Some(task),
        |(_, task)| task.map(|task| words(state, task)).unwrap_or_default(),
    )
    .gone(tasks.gone())
    .of_states(|row, name| {
        tasks.get(row).is_some_and(|task| filter_states::is_of_task(state, task, name))
    })
}

/// The text of a task that a search looks in: status, name, text and answer.
fn words(state: &State, task: &TaskState) -> String {
    let stands = look(state, task, Theme::of_words()).1;
    format!("{stands}\n{}: {}\n{}", task.task.name, task.task.text, answered(task))
}

/// The reason why nothing has happened yet, with the key that changes it.
pub fn not_started(state: &State) -> &'static str {
    match state.tasks.is_empty() {
        true => "no task: <key:new-task> writes one",
        false => "not started: press <key:run-or-pause>",
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tasks.is_empty() {
        let said = match cx.view.read_only {
            Some(_) => "no tasks yet",
            None => "no tasks yet: t writes one",
        };
        return note(area, said, cx.theme.dim, buf);
    }
    let rows = list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        match cx.state.tasks.get(i) {
            Some(task) => draw_task(cx, task, row),
            None => draw_gone(cx, i, row),
        }
        Some(Target::Task(id_of(i)))
    });
}

/// The status of a task: a glyph, a word, and their style.
pub(super) fn look(
    state: &State,
    task: &TaskState,
    theme: &Theme,
) -> (&'static str, &'static str, Style) {
    let outcome = match task.phase {
        TaskPhase::Running if Stands::is_of_agent(state, task) => return Stands::Agent.look(theme),
        TaskPhase::Queued => return (WAITING, "queued", theme.dim),
        TaskPhase::Running => return (RUNNING, "running", theme.running),
        TaskPhase::Done { outcome } => outcome,
    };
    match (outcome, task.correct) {
        (_, Some(true)) => (DONE, "right", theme.good),
        (Outcome::Answered, Some(false)) => (FAILED, "wrong", theme.bad),
        (Outcome::Answered, None) => (DONE, "answered", theme.text),
        (Outcome::GaveUp, _) => (FAILED, "gave up", theme.warn),
        (Outcome::OutOfSteps, _) => (FAILED, "out of steps", theme.warn),
        (Outcome::OutOfBudget, _) => (FAILED, "out of budget", theme.warn),
        (Outcome::Failed, _) => (FAILED, "failed", theme.bad),
        (Outcome::Stopped, _) => (REFUSED, "stopped", theme.dim),
    }
}

/// The usage of a task as columns of words with their widths; empty before the task starts.
/// A watched agent has neither steps nor credits.
pub(super) fn columns(state: &State, task: &TaskState, now: u64) -> Vec<(String, usize)> {
    if task.started.is_none() {
        return Vec::new();
    }
    let micros = task.ended.unwrap_or(now).saturating_sub(task.started.unwrap_or(now));
    let dollars = format::dollars(*task.dollars, task.unpriced, task.listed);
    let own = [
        (counted(task.steps.len(), "step"), 8),
        (counted(task.tool_calls.len(), "call"), 8),
        (format!("{} cr", format::credits(task.credits())), 8),
    ];
    let watched = [
        (counted(task.model_calls.len(), "model call"), 14),
        (counted(task.tool_calls.len(), "tool call"), 13),
    ];
    let first: &[_] = if state.watched.is_some() { &watched } else { &own };
    let rest = [
        (format!("{} tok", text::count(task.tokens())), 10),
        (dollars, 10),
        (text::span(micros), 9),
    ];
    first.iter().cloned().chain(rest).collect()
}

/// The task of a row. Task numbers count from 1.
fn id_of(row: usize) -> TaskId {
    TaskId(u32::try_from(row + 1).unwrap_or(u32::MAX))
}

/// Draws a task that is no longer listed and could not be read back.
fn draw_gone(cx: &Cx<'_>, at: usize, row: &mut Row<'_>) {
    let digits = cx.state.tasks.len().to_string().len();
    row.right(&id_of(at).to_string(), digits, cx.theme.dim).gap(3);
    row.cell(GONE, row.left(), cx.theme.dim);
}

fn draw_task(cx: &Cx<'_>, task: &TaskState, row: &mut Row<'_>) {
    let theme = cx.theme;
    let (glyph, word, style) = look(cx.state, task, theme);
    let digits = cx.state.tasks.len().to_string().len();
    row.right(&task.id.to_string(), digits, theme.dim).gap(1);
    row.cell(glyph, 2, style);
    let wide = row.left();
    if wide >= 34 {
        row.cell(word, 13, style);
    }
    let columns = columns(cx.state, task, cx.now);
    let room = row.left().saturating_sub(TEXT);
    let (shown, taken) = table::fitting(columns.iter().map(|(_, width)| *width), room);
    let text = match task.task.name.as_str() {
        name if wide >= WITH_ANSWERS && !name.is_empty() => format!("{name}: {}", task.task.text),
        _ => task.task.text.clone(),
    };
    let emphasis = match task.phase {
        TaskPhase::Running => theme.accent,
        TaskPhase::Queued => theme.dim,
        TaskPhase::Done { .. } => theme.text,
    };
    let left = row.left().saturating_sub(taken);
    let answer = if wide >= WITH_ANSWERS { ANSWER } else { 0 };
    row.cell(&text, left.saturating_sub(answer), emphasis);
    if answer > 0 {
        row.gap(1).cell(&answered(task), answer - 1, style);
    }
    for (words, width) in &columns[..shown] {
        row.gap(1).right(words, *width, theme.dim);
    }
}

/// The answer, followed by the right one if they differ.
fn answered(task: &TaskState) -> String {
    match (&task.answer, task.task.expected(), task.correct) {
        (Some(answer), Some(expected), Some(false)) => format!("{answer}, expected {expected}"),
        (None, Some(expected), Some(false)) => format!("not {expected}"),
        (Some(answer), _, _) => match task.caveats.as_slice() {
            [] => answer.clone(),
            [caveat, ..] => format!("({}) {answer}", caveat.name()),
        },
        (None, _, _) => String::new(),
    }
}
