//! The pieces of the first lines where foreign agents act.

use super::Add;
use crate::action::Action;
use crate::domain::words::counted;
use crate::domain::{Lane, passed, state::Watched};
use crate::panes::{output, row::Row};
use crate::symbols::HELD;
use crate::{cx::Cx, pane::PaneId, text};

/// From this width on the command of the agent is in the first line; below it, in the second.
const WITH_COMMAND: u16 = 118;
/// From this width on model calls and tool calls are counted apart.
const WITH_KINDS: u16 = 90;
/// From this width on both counts are written in full words.
const WITH_WORDS: u16 = 140;
/// The most cells of a command.
const COMMAND: usize = 32;

/// The number of conversations and calls, the held calls, and the requests that were not read.
pub(super) fn pieces(cx: &Cx<'_>, watched: &Watched, width: u16, add: &mut Add<'_>) {
    let (state, theme) = (cx.state, cx.theme);
    let talks = Some(Action::Pane(PaneId::Conversations));
    let conversations = counted(state.runs.len(), "conversation");
    // Like all panes, counts only calls that have ended.
    let models = state.model_calls.len() - state.model_calls_in_flight().count();
    let tools = state.tool_calls.len() - state.tool_calls_in_flight().count();
    let calls = match width {
        WITH_WORDS.. => {
            format!("{} · {}", counted(models, "model call"), counted(tools, "tool call"))
        }
        WITH_KINDS.. => format!("{models} model + {tools} tool calls"),
        _ => counted(models + tools, "call"),
    };
    add(1, format!("{conversations} · {calls}"), theme.text, talks);
    let held = state.control.held.len();
    if held > 0 {
        let text = match countdown(cx) {
            Some(countdown) if width >= WITH_KINDS => format!("{HELD} {held} held, {countdown}"),
            // The mode says how long.
            _ if state.control.stop.is_some() => format!("{HELD} {held} held"),
            _ => {
                let since = state.control.held.iter().map(|hold| hold.since).min();
                let long = cx.now.saturating_sub(since.unwrap_or(cx.now));
                format!("{HELD} {held} held {}", text::whole_seconds(long))
            }
        };
        add(0, text, theme.paused, Some(Action::Pane(PaneId::Calls)));
    }
    if watched.not_understood > 0 {
        let text = format!("{} not understood", watched.not_understood);
        add(0, text, theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    for text in passed::told(&watched.unread).0 {
        add(1, text, theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    if width >= WITH_COMMAND {
        let (text, style) = output::agent(watched, COMMAND, theme);
        if !text.is_empty() {
            add(2, text, style, Some(Action::Pane(PaneId::Output)));
        }
    }
}

/// How long the most impatient client has been held, and how long it waits.
fn countdown(cx: &Cx<'_>) -> Option<String> {
    let state = cx.state;
    let waits = state.control.held.iter().filter_map(|hold| {
        let Lane::Effect(effect) = hold.lane else { return None };
        let run = state.run_of(state.effect(effect)?.task);
        let guest = state.runs.get(&run)?.guest.as_ref()?;
        let since = cx.now.saturating_sub(hold.since);
        Some((guest.patience_ms?.saturating_mul(1000), since, guest.is_of_tools()))
    });
    let (patience, since, is_of_tools) =
        waits.min_by_key(|(patience, since, _)| patience.saturating_sub(*since))?;
    let held = text::whole_seconds(since);
    Some(match since < patience {
        true => format!("{held} of {}", text::whole_seconds(patience)),
        // A client of tools that has not asked for progress cannot be kept waiting.
        false if is_of_tools => format!("{held}, given up"),
        false => format!("{held}, kept alive"),
    })
}

/// Writes the credits spent and the state of the agent, where the first line has no room for them.
pub(super) fn vitals(cx: &Cx<'_>, watched: &Watched, row: &mut Row<'_>) {
    row.put(&super::spent(cx.state), cx.theme.text).gap(super::GAP);
    let (text, style) = output::agent(watched, usize::MAX, cx.theme);
    match text.as_str() {
        "" => row.put("no agent was started with this session", cx.theme.dim),
        text => row.put(text, style),
    };
}
