//! A tool call: arguments and result in full.

use ratatui::style::Modifier;

use super::{Page, evidence};
use crate::domain::{EffectId, State, ToolCallPhase, ToolCallState, ToolErrorKind, UnseenResult};
use crate::panes::calls::status::{self, CallStatus};
use crate::panes::format;
use crate::symbols::{DONE, WAITING};
use crate::text;

pub(super) fn write(state: &State, id: EffectId, page: &mut Page<'_>) {
    let Some(call) = state.tool_call(id) else { return page.not_yet("This call did not exist") };
    page.field_in("tool", call.tool.as_str(), page.theme.accent);
    match call.is_by_hand() {
        true => page.field_in("made by", "you: no budget, score or experience", page.theme.user),
        false => page.field("task", &format!("{}, step {}", call.task, call.step)),
    }
    let hold = state.control.hold_of(call.lane);
    let CallStatus { word, style, .. } = status::of_call(call, hold, page.theme);
    let is_refused = matches!(call.phase, ToolCallPhase::Refused { .. });
    let free = if is_refused { ", free of charge" } else { "" };
    page.field_in("state", &format!("{word}{free}"), style);
    match call.helpful.filter(|_| state.watched.is_none()) {
        Some(true) => page.field_in("judged", &format!("{DONE} it helped"), page.theme.good),
        Some(false) => {
            page.field_in("judged", &format!("{WAITING} it did not help"), page.theme.warn)
        }
        None => {}
    }
    evidence::of_call(state, call, page);
    let spec = state.tools.get(&call.tool).map(|tool| &tool.spec);
    if let Some(request) = spec.and_then(|spec| spec.request.as_ref()) {
        page.field("request", &request.line(&call.arguments));
    }
    times(state, call, page);
    relayed(call, page);
    page.origin(state, call);
    if call.is_skipped {
        let what = "the agent never got this call; its model was asked on";
        page.field("skipped", what);
    }
    match call.unseen {
        Some(UnseenResult::Answer) => {
            page.field("answer", "the arguments are the answer of the task; no result follows");
        }
        Some(UnseenResult::InText) => {
            page.field("result", "the agent sends it back inside a text, which follows here");
        }
        None => {}
    }
    match &call.own {
        Some(own) => {
            page.heading("Arguments, edited by a person");
            page.json(&call.arguments);
            let seen = if call.shows_own { ", visible to it" } else { ", hidden from it" };
            page.heading(&format!("The agent's own arguments{seen}"));
            page.json(own);
        }
        None => {
            page.heading("Arguments");
            page.json(&call.arguments);
        }
    }
    result(call, page);
    withheld(call, page);
}

/// Writes the tool's own result if the model does not read it.
fn withheld(call: &ToolCallState, page: &mut Page<'_>) {
    if let Some(output) = &call.withheld {
        let struck = page.theme.dim.add_modifier(Modifier::CROSSED_OUT);
        page.section("The tool's own result, which the model does not read", &output.text, struck);
    }
}

fn times(state: &State, call: &ToolCallState, page: &mut Page<'_>) {
    page.field("requested", &text::span(call.requested));
    if let (Some(_), Some(ended)) = (call.started, call.ended) {
        page.field("took", &text::span(call.elapsed(ended)));
    }
    if call.held > 0 {
        page.field("held", &format!("{}, not counted in its time", text::span(call.held)));
    }
    let lane = call.lane;
    let stopped = state.control.paused_lanes.contains(&lane);
    if let Some(hold) = state.control.hold_of(lane) {
        let by = if stopped { ", only this call, by you" } else { "" };
        let what = format!("{}, from {}{by}", hold.boundary.name(), text::span(hold.since));
        page.field_in("held", &what, page.theme.paused);
    }
}

/// Writes the path of a watched agent's call through a relay: each part with its time.
fn relayed(call: &ToolCallState, page: &mut Page<'_>) {
    let Some(relayed) = &call.relayed else { return };
    page.field("decided", &text::span(call.requested));
    let sent =
        format!("{}, to the server {}", text::span(relayed.sent), text::clean(&relayed.server));
    page.field("sent", &sent);
    match relayed.ran {
        Some(ran) => page.field("ran", &text::span(ran)),
        None => page.field("ran", "no answer of the server"),
    }
    if let Some(ended) = call.ended {
        page.field("came back", &text::span(ended));
    }
    if let Some(read) = relayed.read {
        page.field("read", &format!("{}, by the model", text::span(read)));
    }
}

fn result(call: &ToolCallState, page: &mut Page<'_>) {
    match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => {
            page.heading("Result: none yet");
            page.field_if_any(
                "progress",
                &call.progress.as_ref().map(format::progress).unwrap_or_default(),
            );
        }
        ToolCallPhase::Refused { why, reason } => {
            page.section(&format!("Refused: {}", reason.name()), why, page.theme.warn);
        }
        ToolCallPhase::Done { output } => {
            let size = output.text.len();
            match output.cut_from {
                Some(whole) => {
                    page.heading(&format!("Result: the first {size} of {whole} bytes"));
                }
                None => page.heading(&format!("Result: {size} bytes")),
            }
            if output.text.trim().is_empty() {
                page.text("(nothing)", page.theme.dim);
            }
            page.text(&output.text, page.theme.text);
        }
        ToolCallPhase::Failed { error } => {
            let heading = match error.kind {
                ToolErrorKind::Failed => "Failed".to_owned(),
                kind => format!("Failed: {}", status::failure(kind)),
            };
            page.section(&heading, &error.text, page.theme.bad);
        }
    }
}
