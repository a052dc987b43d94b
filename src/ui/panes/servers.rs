//! The servers of tools: the status of each, its number of tools, and its last message.

use std::sync::Arc;

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{ServerStage, ServerState, State, words::counted};
use crate::hits::{Hits, Target};
use crate::symbols::{DONE, EDITED, FAILED, REFUSED, RUNNING};
use crate::theme::Theme;
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, popups::Subject, text, view::View};

/// Columns of a server's key.
const KEY: usize = 14;
/// Columns of the status.
const STAGE: usize = 22;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Servers,
    when: |state, _| !state.servers.is_empty(),
    most: |state, _| Some(state.servers.len().max(3)),
    title,
    draw,
    list,
    filters: |_| Some("server"),
    open: |state, view| {
        let selected = selected(state, view);
        Opened::subject(selected.map(|(key, _)| Subject::Server(key.clone())))
    },
    leave: |view| view.server = None,
    ..PLAIN
};

/// The selected server, else the first with a problem, else the first.
fn selected<'a>(state: &'a State, view: &View) -> Option<(&'a Arc<str>, &'a ServerState)> {
    let chosen = view.server.as_ref().and_then(|key| state.servers.get_key_value(key));
    let is_down = |server: &ServerState| matches!(server.stage, ServerStage::Down { .. });
    let troubled = || state.servers.iter().find(|(_, server)| is_down(server));
    chosen.or_else(troubled).or_else(|| state.servers.iter().next())
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let all = cx.state.servers.len();
    let is_ready = |server: &&ServerState| matches!(server.stage, ServerStage::Ready { .. });
    let ready = cx.state.servers.values().filter(is_ready).count();
    let changed: usize = cx.state.servers.values().map(|server| server.changed.len()).sum();
    let changed = match changed {
        0 => String::new(),
        changed => format!(" · {} changed", counted(changed, "definition")),
    };
    Line::from(format!(" {ready} of {all} ready{changed}"))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let all = &state.servers;
    let selected = selected(state, view).map(|(key, _)| key);
    let place = selected.and_then(|key| all.keys().position(|other| other == key));
    List::new(
        (all.len(), place),
        |row| all.iter().nth(row),
        |(key, _), view| view.server = Some(key.clone()),
        |(key, _)| key.to_string(),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.servers.is_empty() {
        return note(area, "no MCP servers are configured", cx.theme.dim, buf);
    }
    let rows = list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        let (key, server) = cx.state.servers.iter().nth(i)?;
        draw_one(cx, key, server, row);
        Some(Target::Server(key.clone()))
    });
}

fn draw_one(cx: &Cx<'_>, key: &str, server: &ServerState, row: &mut Row<'_>) {
    let (mark, style) = mark(server, cx.theme);
    row.cell(mark, 2, style).cell(key, KEY, cx.theme.text).gap(1);
    row.cell(&stage(server, cx.state.at), STAGE, style).gap(1);
    if !server.changed.is_empty() {
        let changed = format!("{EDITED} {} changed ", counted(server.changed.len(), "definition"));
        row.put(&changed, cx.theme.warn);
    }
    let said = match &server.stage {
        ServerStage::Down { why, .. } | ServerStage::Off { why } => Some(why.as_str()),
        ServerStage::Starting | ServerStage::Ready { .. } => {
            server.lines.back().map(String::as_str)
        }
    };
    row.put(said.unwrap_or(&server.program), cx.theme.dim);
}

fn mark(server: &ServerState, theme: &Theme) -> (&'static str, Style) {
    match &server.stage {
        ServerStage::Starting => (RUNNING, theme.accent),
        ServerStage::Ready { .. } => (DONE, theme.good),
        ServerStage::Down { .. } => (FAILED, theme.bad),
        ServerStage::Off { .. } => (REFUSED, theme.dim),
    }
}

/// The status of a server, with its times where known.
pub fn stage(server: &ServerState, now: u64) -> String {
    match &server.stage {
        ServerStage::Starting => {
            format!("starting for {}", text::span(now.saturating_sub(server.started_at)))
        }
        ServerStage::Ready { micros } => {
            format!("{} in {}", counted(server.tools as usize, "tool"), text::span(*micros))
        }
        ServerStage::Down { at, again_ms, .. } => {
            let due = at + again_ms * 1000;
            format!("down, again in {}", text::span(due.saturating_sub(now)))
        }
        ServerStage::Off { .. } => "not started".to_owned(),
    }
}
