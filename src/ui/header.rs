//! The first line: the state of the agent at a glance. If the line is short, the least important pieces are left out
//! first; the mode, and whether the model is real, are never left out.
//!
//! The second line, if few panes are visible, has the vitals: the task's budget and cost, the models that plan and
//! solve, and the calls that run at once.

mod held_calls;
mod watch;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::hits::{Hits, Target};
use super::panes::{format, row::Row};
use super::symbols::{DONE, HELD, INJECTED, RECORDED, REFUSED, RUNNING};
use super::text::{self, number};
use super::{action::Action, view::ReadOnly};
use super::{cx::Cx, pane::PaneId};
use crate::domain::seat::SeatKind;
use crate::domain::{Knob, Mode, ModelErrorKind, Role, Speed, State, TaskState, words::counted};

/// A piece of the line.
struct HeaderPiece {
    text: String,
    style: Style,
    /// 0 is never left out.
    rank: u8,
    /// Action of a click.
    click: Option<Action>,
}

/// Adds a piece: its rank, text and style, and the action of a click.
type Add<'a> = dyn FnMut(u8, String, Style, Option<Action>) + 'a;

/// From this width on there is room for the most used knobs.
const WIDE: u16 = 190;
/// From this width on the budget is in the first line.
const WITH_BUDGET: u16 = 118;
/// Below this width an armed fault is described in short.
const NARROW: u16 = 100;

/// Cells before each piece.
const GAP: usize = 2;
/// Cells of the bar of the budget.
const BAR: usize = 18;

pub fn draw(cx: &Cx<'_>, title: &str, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    buf.set_style(area, cx.theme.header);
    let line = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let (at_right, style, pane) = at_right(cx, line.width);
    let beside = if at_right.is_empty() { 0 } else { text::width(at_right) + GAP };
    let pieces =
        fitting(pieces(cx, title, line.width), usize::from(line.width).saturating_sub(beside));
    let mut row = Row::new(Rect { width: line.width.saturating_sub(beside as u16), ..line }, buf);
    for piece in &pieces {
        let start = row.x();
        row.put(&piece.text, piece.style);
        if let Some(action) = piece.click {
            hits.add(row.since(start), Target::Action(action));
        }
        row.gap(GAP);
    }
    let x = line.right().saturating_sub(text::width(at_right) as u16);
    let end = Rect { x, width: line.right() - x, ..line };
    Row::new(end, buf).put(at_right, style);
    hits.add(end, Target::Action(Action::Pane(pane)));
}

/// The words at the right end, which are never left out: that a model is simulated, else where a watched agent asks.
fn at_right<'a>(cx: &Cx<'a>, width: u16) -> (&'a str, Style, PaneId) {
    let simulated = simulated(cx, width);
    let address = cx.view.address.as_deref().filter(|_| width >= NARROW && simulated.is_empty());
    match address {
        Some(address) => (address, cx.theme.dim, PaneId::Output),
        None => (simulated, cx.theme.simulated, PaneId::Models),
    }
}

/// Returns the mark for a simulated model at the right end, which is never left out.
fn simulated(cx: &Cx<'_>, width: u16) -> &'static str {
    match cx.state.models.any_simulated() {
        true if width >= 98 => "SIMULATED MODEL",
        true => "SIMULATED",
        false => "",
    }
}

/// The pieces that fit into this many cells, the most important first; rank 0 is never left out.
fn fitting(pieces: Vec<HeaderPiece>, room: usize) -> Vec<HeaderPiece> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|at| pieces[*at].rank);
    let mut left = room + GAP;
    let mut kept = vec![false; pieces.len()];
    for at in order {
        let width = text::width(&pieces[at].text) + GAP;
        kept[at] = width <= left || pieces[at].rank == 0;
        left = left.saturating_sub(if kept[at] { width } else { 0 });
    }
    let kept = pieces.into_iter().zip(kept).filter(|(_, kept)| *kept);
    kept.map(|(piece, _)| piece).collect()
}

fn pieces(cx: &Cx<'_>, title: &str, width: u16) -> Vec<HeaderPiece> {
    let (state, theme) = (cx.state, cx.theme);
    let mut pieces = Vec::new();
    let mut add = |rank, text: String, style: Style, click| {
        pieces.push(HeaderPiece { text, style, rank, click });
    };
    mode_pieces(cx, title, width, &mut add);
    let is_paused = state.shown_mode() == Mode::Paused;
    if state.watched.is_some() {
        // The pieces of watched agents say how long.
    } else if let Some(text) =
        held_calls::how_long(cx).filter(|_| is_paused && unusable(state).is_none())
    {
        add(1, text, theme.paused, Some(Action::Pane(PaneId::Calls)));
    } else if let Some(text) = held_calls::alone(cx).filter(|_| !is_paused) {
        add(0, text, theme.paused, Some(Action::Pane(PaneId::Calls)));
    }
    if let Some(call) = state.control.asks.first().and_then(|id| state.tool_call(*id)) {
        let key = cx.keymap.key(Action::Consent).map(|key| format!(": {key}")).unwrap_or_default();
        let asks = format!("{HELD} {} #{} asks{key}", text::cut(call.tool.as_str(), 24), call.id);
        add(0, asks, theme.warn, Some(Action::Consent));
    }
    if let Some(watched) = state.watched.as_deref() {
        watch::pieces(cx, watched, width, &mut add);
    } else if !state.tasks.is_empty() {
        let at = state.shown_task().map_or(0, |task| task.id.0);
        let tasks = Some(Action::Pane(PaneId::Tasks));
        add(2, format!("task {at}/{}", state.tasks.len()), theme.text, tasks);
        let step = state.shown_task().map_or(0, |task| task.steps.len());
        if step > 0 {
            let steps = Some(Action::Pane(PaneId::Transcript));
            add(4, format!("step {step}"), theme.text, steps);
        }
    }
    // Where an agent is watched, the line says nothing of toolyard's own.
    let is_own = state.watched.is_none();
    if state.n > 0 && is_own {
        let acting = state.acting().to_string();
        add(3, text::cut(&acting, 24).into_owned(), theme.text, Some(Action::Strategy));
    }
    let knob = |knob: Knob| {
        let spec = knob.spec();
        format!("{} {}", spec.symbol, spec.show(state.knobs.get(knob)))
    };
    if state.strategy.btp && is_own {
        // In a shorter line the budget would be shown twice: the vitals have it.
        if width >= WITH_BUDGET {
            let (text, style) = budget(cx);
            add(2, text, style, Some(Action::Pane(PaneId::Budget)));
        }
        add(4, knob(Knob::Tau), theme.text, Some(Action::Pane(PaneId::Budget)));
    }
    let speed = state.knobs.choice::<Speed>().sign();
    if !speed.is_empty() && is_own {
        add(4, speed.to_owned(), theme.text, Some(Action::Faster));
    }
    if width >= WIDE && is_own {
        let weights = format!("{}  {}", knob(Knob::Alpha), knob(Knob::Beta));
        add(5, weights, theme.text, Some(Action::Pane(PaneId::Knobs)));
    }
    if !state.knobs.is_on(Knob::Learn) && is_own {
        add(2, "FROZEN".to_owned(), theme.warn, Some(Action::Learning));
    }
    if is_own {
        add(5, spent(state), theme.text, Some(Action::Pane(PaneId::Models)));
    }
    fault_piece(cx, width, &mut add);
    if cx.view.moment.is_some() && cx.view.read_only.is_none_or(ReadOnly::is_live) {
        let ahead = cx.live.n.saturating_sub(state.n);
        let ahead = format!("live is {} ahead", counted(number(ahead), "event"));
        add(1, ahead, theme.past, Some(Action::Live));
    }
    if let Some(key) = cx.keymap.key(Action::Quit).filter(|_| cx.view.hides_live) {
        let back = format!("{key}: return to the live session");
        add(1, back, theme.running, Some(Action::Quit));
    }
    // The title of a watched session is the command, which the line shows already.
    let is_told = title.is_empty() || state.watched.is_some();
    if !is_told && cx.view.read_only != Some(ReadOnly::Replay) {
        add(7, text::cut(title, 32).into_owned(), theme.dim, None);
    }
    pieces
}

/// The mode of the session; for a replay, the position in the record.
fn mode_pieces(cx: &Cx<'_>, title: &str, width: u16, add: &mut Add<'_>) {
    let (state, theme) = (cx.state, cx.theme);
    match (cx.view.read_only, cx.view.moment) {
        (Some(ReadOnly::Replay), _) => {
            add(0, format!("{RECORDED} REPLAY"), theme.past, None);
            add(2, text::cut_middle(file_name(title), 28), theme.past, None);
            let event = format!("event {}/{}", number(state.n), number(cx.live.n));
            add(0, event, theme.past, cx.view.moment.map(|_| Action::Live));
        }
        (read_only, moment) => {
            if let Some(moment) = moment {
                let (at, last) = (number(moment), number(cx.live.n));
                add(0, format!("{RECORDED} PAST"), theme.past, Some(Action::Live));
                add(0, format!("event {at} of {last}"), theme.past, Some(Action::Live));
            }
            match read_only {
                // A session that broke off has no mode, although its last event gave one.
                Some(read_only) => {
                    add(0, read_only.name().to_owned(), theme.past, None);
                    if read_only.is_live() && moment.is_none() {
                        let (mode, style) = mode(cx, width);
                        add(0, mode, style, None);
                    }
                }
                None if moment.is_none() => {
                    let is_over = state.control.mode == Mode::Ended;
                    if cx.view.seat == Some(SeatKind::Attached) && !is_over {
                        add(0, "CONTROLLING".to_owned(), theme.running, Some(Action::Control));
                    }
                    let (mode, style) = mode(cx, width);
                    add(0, mode, style, Some(Action::RunOrPause));
                }
                None => {}
            }
        }
    }
}

/// The armed faults and how often they fired.
fn fault_piece(cx: &Cx<'_>, width: u16, add: &mut Add<'_>) {
    let (state, theme) = (cx.state, cx.theme);
    let mut armed = state.faults.values().filter(|fault| fault.armed);
    if let Some(first) = armed.next() {
        let what = match armed.count() {
            0 if width < NARROW => first.spec.target.to_string(),
            0 => first.spec.to_string(),
            more => counted(more + 1, "fault"),
        };
        let hits: u32 = state.faults.values().filter(|it| it.armed).map(|it| it.fired).sum();
        let hits = if hits > 0 { format!(" hit {hits}") } else { String::new() };
        let what =
            format!("{INJECTED} {}{hits}", text::cut(&what, if width < NARROW { 20 } else { 32 }));
        add(1, what, theme.injected, Some(Action::Faults));
    }
}

/// Cost of the task and its limit: `B 8/20`.
fn budget(cx: &Cx<'_>) -> (String, Style) {
    let (spent, limit, is_over) = spent_of(cx.state);
    let text = format!("B {}/{}", format::credits(spent), format::credits(limit));
    match is_over {
        true => (format!("{text} OVER"), cx.theme.bad),
        false => (text, cx.theme.text),
    }
}

/// Returns the cost of the task, its limit, and whether the cost is over the limit.
fn spent_of(state: &State) -> (f64, f64, bool) {
    let (task, limit) = (state.shown_task(), state.knobs.get(Knob::Budget));
    (task.map_or(0.0, TaskState::credits), limit, task.is_some_and(|task| task.is_over(limit)))
}

/// The mode, with its symbol and what it waits for.
fn mode(cx: &Cx<'_>, width: u16) -> (String, Style) {
    let (control, theme, mode) = (&cx.state.control, cx.theme, cx.state.shown_mode());
    let name = mode.name();
    if let Some(text) = unusable(cx.state) {
        return (format!("{HELD} {name} · {text}"), theme.bad.add_modifier(Modifier::REVERSED));
    }
    if cx.state.watched.is_some() {
        return watch::turn(cx, width);
    }
    match mode {
        Mode::Running | Mode::Stepping | Mode::SteppingTask if cx.state.has_work() => {
            (format!("{RUNNING} {name}"), theme.running)
        }
        // A running mode without a task to run.
        Mode::Running | Mode::Stepping | Mode::SteppingTask => (done(cx.state), theme.paused),
        Mode::Opening | Mode::Pausing | Mode::Paused => {
            let calls = cx.state.effects_in_flight().count();
            let what = match (mode, cx.state.shown_hold()) {
                (Mode::Pausing, _) if calls > 0 => {
                    format!(" ({} in flight)", counted(calls, "call"))
                }
                (Mode::Paused, Some(hold)) => {
                    format!(" · {}", held_calls::at(cx.state, hold, width))
                }
                _ => String::new(),
            };
            match control.stop.as_ref().filter(|_| mode == Mode::Paused) {
                Some(stop) => {
                    let stopped = held_calls::stopped(cx.state, stop, width);
                    (format!("{HELD} HELD {stopped}"), theme.paused)
                }
                None => (format!("{HELD} {name}{what}"), theme.paused),
            }
        }
        Mode::Ended if cx.state.has_work() => (format!("{REFUSED} STOPPED"), theme.dim),
        Mode::Ended => (done(cx.state), theme.dim),
    }
}

/// The text for a session without a task left.
fn done(state: &State) -> String {
    format!("{DONE} DONE {}/{}", state.tasks_done, state.tasks.len())
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Why a paused session cannot go on, and what to do; `None` if its models can be used.
fn unusable(state: &State) -> Option<String> {
    let (model, error) = state.unusable_model()?;
    let (why, cure) = match error.kind {
        ModelErrorKind::Auth => ("refuses its key", "set the key"),
        ModelErrorKind::Quota => ("has no credit left", "add credit"),
        ModelErrorKind::Connection | ModelErrorKind::Timeout => ("does not answer", "start it"),
        _ => ("refuses the call", "check its settings"),
    };
    let is_held = matches!(state.control.mode, Mode::Pausing | Mode::Paused);
    let model = text::cut(model.as_str(), 24);
    is_held.then(|| format!("{model} {why}: {cure} or choose another model, then run"))
}

/// The money spent, marked as a lower bound where a price is unknown and as list prices; its limit, and the tokens.
fn spent(state: &State) -> String {
    let (mut sum, mut unpriced, mut listed, mut tokens) = (0.0, 0, false, 0u64);
    for model in state.models.known.values() {
        sum += model.tally.dollars;
        unpriced += model.tally.unpriced;
        listed |= model.tally.listed;
        tokens = tokens.saturating_add(model.tally.tokens());
    }
    let dollars = format::dollars(sum, unpriced, listed);
    let limit = state.dollar_limit().map(|most| format!(" of ${most}")).unwrap_or_default();
    format!("{dollars}{limit} {} tok", text::count(tokens))
}

/// Draws the vitals.
pub fn vitals(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if area.is_empty() {
        return;
    }
    let line = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let at_once = at_once(cx.state);
    let right = text::width(&at_once);
    let x = line.right().saturating_sub(right as u16);
    let end = Rect { x, width: line.right() - x, ..line };
    Row::new(end, buf).put(&at_once, cx.theme.running);
    let mut click = |area, pane| hits.add(area, Target::Action(Action::Pane(pane)));
    click(end, PaneId::Calls);
    let mut row = Row::new(Rect { width: x.saturating_sub(line.x + GAP as u16), ..line }, buf);
    let start = row.x();
    budget_bar(cx, &mut row);
    click(row.since(start), PaneId::Budget);
    let start = row.x();
    roles(cx, &mut row);
    click(row.since(start), PaneId::Models);
    let start = row.x();
    if let Some(task) = cx.state.shown_task() {
        row.put(&text::cut(&task.task.text, row.left()), cx.theme.dim);
    }
    click(row.since(start), PaneId::Tasks);
}

/// Draws the spent part of the budget as a bar; without a limit, only the credits spent.
fn budget_bar(cx: &Cx<'_>, row: &mut Row<'_>) {
    let (spent, limit, is_over) = spent_of(cx.state);
    if !cx.state.strategy.btp || limit <= 0.0 {
        row.put(&format!("spent {}", format::credits(spent)), cx.theme.text).gap(GAP);
        return;
    }
    let (bar, words) = match is_over {
        true => (cx.theme.bad, cx.theme.bad),
        false => (cx.theme.bar_fill, cx.theme.text),
    };
    row.put("B ", cx.theme.text).bar(spent / limit, BAR, (bar, cx.theme.bar_empty)).gap(1);
    row.put(&format!("{}/{}", format::credits(spent), format::credits(limit)), words).gap(GAP);
}

/// The models that plan and solve, act or write programs; one that plans and solves is named once.
fn roles(cx: &Cx<'_>, row: &mut Row<'_>) {
    let spec = cx.state.strategy.base.spec();
    let roles: &[Role] = match spec.closes {
        Role::Solver => &[Role::Planner, Role::Solver],
        _ => std::slice::from_ref(&spec.closes),
    };
    let bound = |role: &Role| Some((role.name(), &cx.state.models.roles.get(role)?.model));
    let mut bound: Vec<_> = roles.iter().filter_map(bound).collect();
    if let [(planner, one), (solver, other)] = bound[..]
        && one == other
    {
        row.put(&format!("{planner}, "), cx.theme.dim);
        bound = vec![(solver, one)];
    }
    for (role, model) in bound {
        row.put(&format!("{role} "), cx.theme.dim);
        row.put(model.as_str(), cx.theme.accent).gap(GAP);
    }
}

/// How many calls run, and how many wait.
fn at_once(state: &State) -> String {
    let (running, waiting): (Vec<_>, Vec<_>) =
        state.effects_in_flight().partition(|effect| effect.started.is_some());
    match (running.len(), waiting.len()) {
        (0, 0) => String::new(),
        (0, waiting) => format!("{waiting} waiting"),
        (running, 0) => format!("{RUNNING} {}", counted(running, "call")),
        (running, waiting) => format!("{RUNNING} {} · {waiting} waiting", counted(running, "call")),
    }
}
