//! What a lane is about, in words: what it waits for, why it says nothing, what it was given.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{label, marks, needs, room, track::Track};
use crate::domain::ToolCallPhase;
use crate::ui::panes::{format, inline_json};
use crate::ui::symbols::INJECTED;
use crate::ui::{cx::Cx, panes::row::Row, text};

/// Cells of arguments that are worth building.
const ARGUMENTS: usize = 160;

/// The selected lane in a line.
pub(super) fn draw(cx: &Cx<'_>, track: &Track<'_>, line: Rect, buf: &mut Buffer) {
    let mut row = Row::new(line, buf);
    let standing = track.standing(cx.theme);
    row.put(&label(track), cx.theme.accent).gap(1);
    row.put(standing.glyph, standing.style).put(" ", standing.style);
    row.put(standing.word, standing.style);
    // While it waits, why says for what.
    let needs = if track.waits_for().is_empty() { needs(track) } else { String::new() };
    let said = joined([why(track), vec![needs, given(track, ARGUMENTS)]]);
    row.put(&format!(" · {said}"), cx.theme.text);
}

/// Beside the lane, where there is room.
pub(super) fn notes(track: &Track<'_>, cells: usize) -> String {
    joined([why(track), vec![given(track, cells)]])
}

fn joined(said: [Vec<String>; 2]) -> String {
    let said: Vec<_> = said.into_iter().flatten().filter(|words| !words.is_empty()).collect();
    said.join(" · ")
}

/// What is special about how it stands.
fn why(track: &Track<'_>) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(hold) = track.hold() {
        let by = match track.is_stopped() {
            true => "by you alone",
            false => "with all others",
        };
        said.push(format!("{by}, {}", hold.boundary.name()));
    }
    let waits = track.waits_for();
    match (track.call, track.begun) {
        (None, None) if !waits.is_empty() => said.push(format!("for {}", marks(&waits))),
        (None, None) if track.task.outcome().is_none() => {
            said.push("all that it needs is there".to_owned());
        }
        (Some(call), _) if call.phase == ToolCallPhase::Requested && track.hold().is_none() => {
            said.push(room(track.state));
        }
        (Some(_), _) | (None, _) => {}
    }
    if let Some(fault) = track.call.and_then(|call| call.injected) {
        let kind = track.state.faults.get(&fault).map_or("fault", |fault| fault.spec.kind.name());
        said.push(format!("{INJECTED} {kind} injected (fault {fault})"));
    }
    said.extend(retries(track));
    if let Some(begun) = track.begun
        && let Some(nulled) = &begun.nulled
    {
        let saved = format::plural(usize::try_from(begun.saved).unwrap_or(usize::MAX), "token");
        said.push(format!("null: {nulled}, {saved} saved"));
    }
    match track.call.map(|call| &call.phase) {
        Some(ToolCallPhase::Failed { error }) => said.push(start(&error.text)),
        Some(ToolCallPhase::Refused { why, .. }) => said.push(start(why)),
        Some(ToolCallPhase::Requested | ToolCallPhase::Running | ToolCallPhase::Done { .. })
        | None => {}
    }
    said
}

/// An endpoint was asked more than once for the same.
fn retries(track: &Track<'_>) -> Option<String> {
    let call = track.model_call.filter(|call| call.retries > 0)?;
    Some(format!("asked {} times", call.retries + 1))
}

/// Its arguments; before it has any, its input as it is written.
fn given(track: &Track<'_>, cells: usize) -> String {
    match (track.call, track.evidence) {
        (Some(call), _) => inline_json::arguments(&call.arguments, cells),
        (None, Some(evidence)) => text::start(&evidence.input, cells * 4).to_owned(),
        (None, None) => String::new(),
    }
}

fn start(said: &str) -> String {
    text::start(said, 400).to_owned()
}
