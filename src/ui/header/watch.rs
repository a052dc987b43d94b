//! The first line where watched agents act: whose turn it is, the command, the calls, and what they cost.

use ratatui::style::Style;

use super::{Add, held_calls};
use crate::action::Action;
use crate::cx::Cx;
use crate::domain::words::counted;
use crate::domain::{Lane, Mode, Outcome, State, api_requests, state::Watched};
use crate::pane::PaneId;
use crate::panes::{conversations::Stands, output};
use crate::symbols::{DONE, FAILED, HELD, REFUSED, RUNNING, WAITING};
use crate::text;

/// From this width on counts are written in full words.
const WITH_WORDS: u16 = 130;
/// Below this width names and commands are short.
const NARROW: u16 = 100;
/// The most cells of a command.
const COMMAND: usize = 40;
const SHORT: usize = 18;

/// The words for what happens now, and whose turn it is.
pub(super) fn turn(cx: &Cx<'_>, width: u16) -> (String, Style) {
    let (state, theme) = (cx.state, cx.theme);
    let stopped = state.control.stop.as_ref().and_then(|stop| stop.lane);
    let stopped = stopped.and_then(|lane| state.control.hold_of(lane));
    let hold = stopped.or_else(|| state.shown_hold());
    if let Some(hold) = hold.filter(|_| state.control.mode != Mode::Ended) {
        let most = if width < NARROW { 20 } else { 40 };
        let stop = state.control.stop.as_ref();
        let why = stop.map(held_calls::why).unwrap_or_default();
        return (
            format!("{HELD} HELD {}{why}", held_calls::place(state, hold, most)),
            theme.paused,
        );
    }
    match state.shown_mode() {
        Mode::Paused => (format!("{HELD} PAUSED"), theme.paused),
        Mode::Opening | Mode::Pausing => {
            (format!("{HELD} {} at the next call", state.shown_mode().name()), theme.paused)
        }
        Mode::Running | Mode::Stepping | Mode::SteppingTask if state.has_work() => {
            let of_agent = state.shown_task().is_some_and(|task| Stands::is_of_agent(state, task));
            let whose = if of_agent { "AGENT'S TURN" } else { "MODEL'S TURN" };
            (format!("{RUNNING} {whose}"), theme.running)
        }
        Mode::Ended if state.has_work() => (format!("{REFUSED} STOPPED"), theme.dim),
        _ => over(state, cx),
    }
}

/// The words for a session without a task at work.
fn over(state: &State, cx: &Cx<'_>) -> (String, Style) {
    let theme = cx.theme;
    let ended = state.watched.as_ref().and_then(|watched| watched.ended);
    let last = state.shown_task().and_then(|task| task.outcome());
    match (ended, last) {
        (Some(Some(0)), _) => (format!("{DONE} DONE"), theme.good),
        // The agent may ask again, and leaving now would end it with its last lines unprinted.
        (None, Some(Outcome::Answered)) => (format!("{DONE} ANSWERED"), theme.good),
        (Some(Some(code)), _) => (format!("{FAILED} FAILED, exit {code}"), theme.bad),
        (Some(None), _) => (format!("{FAILED} FAILED, by a signal"), theme.bad),
        (None, Some(_)) => (format!("{FAILED} FAILED"), theme.bad),
        (None, None) => (format!("{WAITING} WAITING for the first request"), theme.text),
    }
}

/// The command, the number of calls and conversations, their cost, the held calls, and the requests that were not read.
pub(super) fn pieces(cx: &Cx<'_>, watched: &Watched, width: u16, add: &mut Add<'_>) {
    let (state, theme) = (cx.state, cx.theme);
    let is_short = width < NARROW;
    let most = if is_short { SHORT } else { COMMAND };
    let (mut command, style) = output::agent(watched, most, theme);
    if !state.has_work() {
        // The words before it say how the agent ended.
        let own = watched.command.as_deref().unwrap_or_default();
        command = text::cut(own, most).into_owned();
    }
    if !command.is_empty() {
        add(2, command, style, Some(Action::Pane(PaneId::Output)));
    }
    if let Some(text) = waits(cx, is_short) {
        add(1, text, theme.paused, Some(Action::Pane(PaneId::Calls)));
    }
    // Like all panes, counts only calls that have ended.
    let models = state.model_calls.len() - state.model_calls_in_flight().count();
    let tools = state.tool_calls.len() - state.tool_calls_in_flight().count();
    let calls = match width {
        WITH_WORDS.. => {
            format!("{} · {}", counted(models, "model call"), counted(tools, "tool call"))
        }
        _ => format!("{models} model {}", counted(tools, "tool call")),
    };
    add(3, calls, theme.text, Some(Action::Pane(PaneId::Calls)));
    if state.runs.len() > 1 {
        let talks = Some(Action::Pane(PaneId::Conversations));
        add(5, counted(state.runs.len(), "conversation"), theme.text, talks);
    }
    add(4, super::spent(state), theme.text, Some(Action::Pane(PaneId::Models)));
    let problems = state.problems.count();
    if problems > 0 {
        let text = format!("{FAILED} {}", text::count(problems));
        add(1, text, theme.bad, Some(Action::Pane(PaneId::Problems)));
    }
    if watched.not_understood > 0 {
        let text = format!("{} not understood", watched.not_understood);
        add(0, text, theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    if watched.intercepts {
        add(0, "INTERCEPTING".to_owned(), theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    let told = api_requests::told(&watched.unread);
    for text in told.of_apis {
        add(1, text, theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    for text in told.of_services {
        add(5, text, theme.text, Some(Action::Pane(PaneId::Models)));
    }
}

/// How long the held calls wait, and how long their most impatient client does.
fn waits(cx: &Cx<'_>, is_short: bool) -> Option<String> {
    let state = cx.state;
    let held = &state.control.held;
    let since = held.iter().map(|hold| hold.since).min()?;
    let more = if held.len() > 1 { format!("{} held ", held.len()) } else { String::new() };
    let waits = held.iter().filter_map(|hold| {
        let Lane::Effect(effect) = hold.lane else { return None };
        let run = state.run_of(state.effect(effect)?.task);
        let guest = state.runs.get(&run)?.guest.as_ref()?;
        let since = cx.now.saturating_sub(hold.since);
        Some((guest.patience_ms?.saturating_mul(1000), since, guest.is_of_tools()))
    });
    let first = waits.min_by_key(|(patience, since, _)| patience.saturating_sub(*since));
    let long = text::whole_seconds(cx.now.saturating_sub(since));
    let client = if is_short { "" } else { "its client " };
    let end = match first {
        None => String::new(),
        Some((patience, since, _)) if since < patience => {
            format!(" · {client}waits {}", text::whole_seconds(patience))
        }
        // A client of tools that has not asked for progress cannot be kept waiting.
        Some((.., true)) => format!(" · {client}has given up"),
        Some((.., false)) => format!(" · {client}kept alive"),
    };
    Some(format!("{more}{long}{end}"))
}
