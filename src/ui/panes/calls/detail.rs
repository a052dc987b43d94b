//! The words for a lane: the inputs it waits for, the reason for its status, and its arguments.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{label, needs, room, track::Track};
use crate::domain::{ToolCallPhase, ToolCallState};
use crate::panes::format::{self, gives_up};
use crate::panes::inline_json;
use crate::symbols::INJECTED;
use crate::{cx::Cx, marks, panes::row::Row, text};

/// Cells of arguments that are worth building.
const ARGUMENTS: usize = 160;
/// Bytes of an error that are worth showing.
const SAID: usize = 400;

/// Draws one line about the selected lane.
pub(super) fn draw(cx: &Cx<'_>, track: &Track<'_>, line: Rect, buf: &mut Buffer) {
    let mut row = Row::new(line, buf);
    let standing = track.standing(cx.theme);
    row.put(&label(track), cx.theme.accent).gap(1);
    row.put(standing.glyph, standing.style).put(" ", standing.style);
    row.put(standing.word, standing.style);
    // While the lane waits, `why` says for what.
    let needs = if track.is_waiting() { String::new() } else { needs(track) };
    let said = joined(why(track, cx.now), [needs, given(track, ARGUMENTS)]);
    let between = if track.is_waiting() { " " } else { " · " };
    row.put(&format!("{between}{said}"), cx.theme.text);
}

/// The words beside the lane, where there is room.
pub(super) fn notes(track: &Track<'_>, cells: usize, now: u64) -> String {
    // The lane already shows what it waits for.
    let why = why(track, now).into_iter().skip(usize::from(track.is_waiting()));
    joined(why.collect(), [given(track, cells)])
}

fn joined(mut why: Vec<String>, more: impl IntoIterator<Item = String>) -> String {
    why.extend(more.into_iter().filter(|words| !words.is_empty()));
    why.join(" · ")
}

/// The reasons for the lane's status.
fn why(track: &Track<'_>, now: u64) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(hold) = track.hold() {
        let by = if track.is_stopped() { "only this call, by you" } else { "with the agent" };
        said.push(format!("{by}, {}", hold.boundary.name()));
        said.extend(gives_up(track.state, track.task.id, now.saturating_sub(hold.since)));
    }
    let waits = track.waits_for();
    match (track.call, track.begun) {
        (None, None) if track.is_waiting() => said.push(format!("for {}", super::marks(&waits))),
        (None, None) if track.task.outcome().is_none() => {
            said.push("inputs ready".to_owned());
        }
        (Some(call), _) if call.phase == ToolCallPhase::Requested && track.hold().is_none() => {
            said.push(room(track.state));
        }
        (Some(_), _) | (None, _) => {}
    }
    let is_running = |call: &&ToolCallState| call.phase == ToolCallPhase::Running;
    let progress = track.call.filter(is_running).and_then(|call| call.progress.as_ref());
    said.extend(progress.map(format::progress));
    if let Some(limit) = track.limit() {
        said.push(match (track.hold(), track.own(now)) {
            (None, Some(took)) => {
                format!("timeout in {}", text::span(limit.saturating_sub(took)))
            }
            _ => format!("timeout after {}", text::span(limit)),
        });
    }
    if let Some(fault) = track.call.and_then(|call| call.injected) {
        let kind = track.state.fault_kind(fault);
        said.push(format!("{INJECTED} {kind} injected (fault {fault})"));
    }
    if let Some(call) = track.model_call.filter(|call| call.retries > 0) {
        said.push(format!("called {} times", call.retries + 1));
    }
    let marks = track.model_call.map(|call| track.state.marks(call.id)).unwrap_or_default();
    said.extend(marks.iter().map(marks::short));
    said.extend(track.nulled());
    let is_done = |call: &&ToolCallState| matches!(call.phase, ToolCallPhase::Done { .. });
    // A failed or refused call says why.
    let why = track.call.filter(|call| !is_done(call)).and_then(ToolCallState::observation);
    said.extend(why.map(|why| text::start(why, SAID).to_owned()));
    said
}

/// The arguments of the tool call; before the call is requested, its input in the plan.
fn given(track: &Track<'_>, cells: usize) -> String {
    match (track.call, track.evidence) {
        (Some(call), _) => inline_json::arguments(&call.arguments, cells),
        (None, Some(evidence)) => text::start(&evidence.input, cells * 4).to_owned(),
        (None, None) => String::new(),
    }
}
