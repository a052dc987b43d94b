//! The pieces of the first lines where foreign agents act.

use ratatui::style::Style;

use crate::action::Action;
use crate::domain::state::Watched;
use crate::domain::words::counted;
use crate::panes::row::Row;
use crate::symbols::HELD;
use crate::theme::Theme;
use crate::{cx::Cx, pane::PaneId, text};

/// Adds a piece: its rank, text and style, and what a click does.
type Add<'a> = dyn FnMut(u8, String, Style, Option<Action>) + 'a;

/// From this width on the command of the agent is in the first line; below it, in the second.
const WITH_COMMAND: u16 = 118;
/// The most cells of a command.
const COMMAND: usize = 32;

/// How many conversations and calls there were, what is held, and what was not understood.
pub(super) fn pieces(cx: &Cx<'_>, watched: &Watched, width: u16, add: &mut Add<'_>) {
    let (state, theme) = (cx.state, cx.theme);
    let talks = Some(Action::Pane(PaneId::Conversations));
    let conversations = counted(state.runs.len(), "conversation");
    let models = counted(state.model_calls.len(), "model call");
    let tools = counted(state.tool_calls.len(), "tool call");
    add(1, format!("{conversations} · {models} · {tools}"), theme.text, talks);
    let held = state.control.held.len();
    if held > 0 {
        add(1, format!("{HELD} {held} held"), theme.paused, Some(Action::Pane(PaneId::Calls)));
    }
    if watched.not_understood > 0 {
        let text = format!("{} not understood", watched.not_understood);
        add(0, text, theme.warn, Some(Action::Pane(PaneId::Transcript)));
    }
    if width >= WITH_COMMAND {
        let (text, style) = agent(watched, theme);
        if !text.is_empty() {
            add(2, text, style, Some(Action::Pane(PaneId::Output)));
        }
    }
}

/// The command of the agent and how it ended: `python my_agent.py · exit 0`.
fn agent(watched: &Watched, theme: &Theme) -> (String, Style) {
    let command =
        watched.command.as_deref().map(|command| text::cut(command, COMMAND).into_owned());
    let (end, style) = match watched.ended {
        None => (None, theme.text),
        Some(Some(0)) => (Some("exit 0".to_owned()), theme.text),
        Some(Some(code)) => (Some(format!("exit {code}")), theme.bad),
        Some(None) => (Some("ended by a signal".to_owned()), theme.bad),
    };
    let parts: Vec<String> = command.into_iter().chain(end).collect();
    (parts.join(" · "), style)
}

/// The agent, where the first line has no room for it.
pub(super) fn vitals(cx: &Cx<'_>, watched: &Watched, row: &mut Row<'_>) {
    let (text, style) = agent(watched, cx.theme);
    match text.as_str() {
        "" => row.put("no agent was started with this session", cx.theme.dim),
        text => row.put(text, style),
    };
}
