//! The tool calls, a lane each: what is in flight first, then the latest. The lanes of one task share a
//! time axis, so that one sees what ran at the same time and what waited.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::row::Row;
use crate::{
    event::Lane,
    id::{CallId, TaskId},
    outcome::ToolErrorKind,
    state::{CallPhase, CallState, Hold, State},
    ui::{
        hits::{Hits, Target},
        pane::{Cx, Move, PaneId},
        text,
        theme::Theme,
        view::View,
        vlist::{self, Find},
    },
};

const PANE: PaneId = PaneId::Calls;
const TIME: usize = 8;
const WORD: usize = 9;
/// The longest piece of a task that an axis shows, in microseconds; older calls lie left of it.
const LONGEST: u64 = 60_000_000;

pub fn title(cx: &Cx<'_>) -> Line<'static> {
    let total = cx.state.calls.len();
    let (held, flying) = cx.state.calls_in_flight().fold((0, 0), |(held, flying), call| {
        let is_held = usize::from(cx.state.control.is_held(Lane::Call(call.id)));
        (held + is_held, flying + 1 - is_held)
    });
    let mut title = format!("{} {total}", PANE.name());
    for (n, word) in [(flying, "in flight"), (held, "held")] {
        if n > 0 {
            title.push_str(&format!(" · {n} {word}"));
        }
    }
    Line::from(title)
}

/// The calls in the order of the list.
struct Order<'a> {
    state: &'a State,
    /// Places of the calls in flight, the latest first.
    flying: Vec<usize>,
}

impl<'a> Order<'a> {
    fn new(state: &'a State) -> Self {
        let mut flying: Vec<usize> =
            state.calls_in_flight().filter_map(|call| at(call.id)).collect();
        flying.sort_unstable_by(|a, b| b.cmp(a));
        Self { state, flying }
    }

    fn call(&self, row: usize) -> Option<&'a CallState> {
        if let Some(i) = self.flying.get(row) {
            return self.state.calls.get(*i);
        }
        // So many from the end, not counting those in flight.
        let mut i = self.state.calls.len().checked_sub(row - self.flying.len() + 1)?;
        for flying in &self.flying {
            if *flying < i {
                break;
            }
            i = i.checked_sub(1)?;
        }
        self.state.calls.get(i)
    }

    fn row(&self, call: CallId) -> Option<usize> {
        let i = at(call).filter(|i| *i < self.state.calls.len())?;
        if let Some(row) = self.flying.iter().position(|flying| *flying == i) {
            return Some(row);
        }
        let before = self.flying.iter().filter(|flying| **flying < i).count();
        Some(self.state.calls.len() - 1 - i + before)
    }
}

/// The place of a call in `State::calls`.
fn at(call: CallId) -> Option<usize> {
    call.0.checked_sub(1).map(|i| i as usize)
}

fn selected(state: &State, view: &View) -> Option<usize> {
    Order::new(state).row(view.call?)
}

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.calls.is_empty() {
        Row::new(area, buf).put("no calls yet", cx.theme.dim);
        return;
    }
    let order = Order::new(cx.state);
    let rows = (cx.state.calls.len(), selected(cx.state, cx.view));
    vlist::draw(cx, PANE, (area, buf, hits), rows, |row, line, buf, hits| {
        if let Some(call) = order.call(row) {
            draw_call(cx, call, line, buf);
            hits.add(line, Target::Call(call.id));
        }
    });
}

fn draw_call(cx: &Cx<'_>, call: &CallState, line: Rect, buf: &mut Buffer) {
    let theme = cx.theme;
    let hold = cx.state.control.held.iter().find(|hold| hold.lane == Lane::Call(call.id));
    let (word, style) = standing(call, hold, theme);
    let mut row = Row::new(line, buf);
    let wide = row.left();
    let digits = cx.state.calls.len().to_string().len();
    row.cell(&format!("#{}", call.id), digits + 2, theme.dim);
    row.cell(if call.injected.is_some() { "⚡" } else { "" }, 2, theme.injected).gap(1);
    let name = (wide / 4).clamp(13, 20);
    row.cell(call.tool.as_str(), name, theme.text).gap(1);
    let arguments = if wide >= 100 { (wide - 76).min(60) } else { 0 };
    let lane = row.left().saturating_sub(TIME + WORD + arguments + 2);
    if lane >= 6 {
        draw_lane(cx, call, hold, lane, style, &mut row);
    }
    let time = match hold {
        Some(hold) => text::span(cx.now.saturating_sub(hold.since)),
        None => time(call, cx.now),
    };
    row.right(&time, TIME, if hold.is_some() { style } else { theme.text }).gap(1);
    row.cell(word, WORD, style);
    if arguments > 0 {
        row.gap(1).put(&super::brief::arguments(&call.arguments, arguments), theme.dim);
    }
}

/// How a call stands, in a word, and how that looks.
pub(super) fn standing(
    call: &CallState,
    hold: Option<&Hold>,
    theme: &Theme,
) -> (&'static str, Style) {
    if hold.is_some() {
        return ("held", theme.paused);
    }
    match &call.phase {
        CallPhase::Requested => ("waiting", theme.warn),
        CallPhase::Running => ("running", theme.running),
        CallPhase::Refused { .. } => ("refused", theme.warn),
        CallPhase::Done { .. } => ("ok", theme.good),
        CallPhase::Failed { error } => (failure(error.kind), theme.bad),
    }
}

fn failure(kind: ToolErrorKind) -> &'static str {
    match kind {
        ToolErrorKind::Arguments => "bad args",
        ToolErrorKind::Timeout => "timed out",
        ToolErrorKind::Unavailable => "not there",
        ToolErrorKind::Failed => "failed",
        ToolErrorKind::NotRecorded => "no record",
        ToolErrorKind::OverBudget => "over time",
        ToolErrorKind::Cancelled => "cancelled",
    }
}

/// The call's own time; nothing while it has not started.
fn time(call: &CallState, now: u64) -> String {
    call.started.map_or(String::new(), |_| text::span(call.elapsed(now)))
}

/// When a task's calls began, and when they ended or now.
fn axis(state: &State, task: TaskId, now: u64) -> (u64, u64) {
    let calls = state.task(task).map_or(&[][..], |task| &task.calls);
    let calls = || calls.iter().filter_map(|call| state.call(*call));
    let start = calls().map(|call| call.requested).min().unwrap_or(0);
    let end = calls().map(|call| call.ended.unwrap_or(now)).max().unwrap_or(now).max(start + 1);
    (start.max(end.saturating_sub(LONGEST)), end)
}

/// The call on its task's axis: light while it waits, full while it runs.
fn draw_lane(
    cx: &Cx<'_>,
    call: &CallState,
    hold: Option<&Hold>,
    width: usize,
    style: Style,
    row: &mut Row<'_>,
) {
    let (start, end) = axis(cx.state, call.task, cx.now);
    let inner = width - 2;
    let column = |at: u64| {
        let share = at.saturating_sub(start) as f64 / (end - start) as f64;
        ((share * inner as f64).floor() as usize).min(inner)
    };
    let ended = call.ended.unwrap_or(cx.now);
    let from = column(call.requested).min(inner - 1);
    let runs = column(call.started.unwrap_or(ended)).max(from);
    let to = column(ended).clamp(from + 1, inner);
    let waits = if call.started.is_none() { to } else { runs.min(to - 1) };
    let held = hold.map_or(to, |hold| column(hold.since).clamp(waits, to));
    row.put("▕", cx.theme.dim).gap(from);
    row.put(&"░".repeat(waits - from), cx.theme.warn);
    row.put(&"█".repeat(held - waits), style);
    row.put(&"░".repeat(to - held), cx.theme.paused);
    row.gap(inner - to).put("▏", cx.theme.dim);
}

pub fn go(state: &State, view: &mut View, to: Move) {
    let order = Order::new(state);
    let at = selected(state, view);
    let row = vlist::moved(state.calls.len(), at, to, view.page(PANE));
    select(view, row.and_then(|row| order.call(row)));
}

/// Selects a call, and its tool with it.
fn select(view: &mut View, call: Option<&CallState>) -> bool {
    if let Some(call) = call {
        view.call = Some(call.id);
        view.tool = Some(call.tool.clone());
    }
    call.is_some()
}

pub fn find(state: &State, view: &mut View, needle: &str, how: Find) -> bool {
    let order = Order::new(state);
    let hit = vlist::found(state.calls.len(), selected(state, view), how, |row| {
        let call = order.call(row);
        call.is_some_and(|call| {
            format!("{} {}", call.tool, call.arguments).to_lowercase().contains(needle)
        })
    });
    select(view, hit.and_then(|row| order.call(row)))
}
