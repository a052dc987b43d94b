//! The status of a lane, as a word and a glyph. All panes take it from here, so that the same status has
//! the same name everywhere.

use ratatui::style::Style;

use super::track::Track;
use crate::domain::{
    Hold, ModelErrorKind, NullReason, ToolCallPhase, ToolCallState, ToolErrorKind, UnseenResult,
};
use crate::symbols::{DONE, EMPTY, FAILED, HELD, INJECTED, REFUSED, RUNNING, WAITING};
use crate::theme::Theme;

/// The status of a lane as shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallStatus {
    pub glyph: &'static str,
    /// At most nine letters.
    pub word: &'static str,
    pub style: Style,
}

const fn standing(glyph: &'static str, word: &'static str, style: Style) -> CallStatus {
    CallStatus { glyph, word, style }
}

/// The status of a call.
pub fn of_call(call: &ToolCallState, hold: Option<&Hold>, theme: &Theme) -> CallStatus {
    if hold.is_some() {
        return standing(HELD, "held", theme.paused);
    }
    match &call.phase {
        ToolCallPhase::Requested => queued(theme),
        // The call runs, but a fault decides its end.
        ToolCallPhase::Running if call.injected.is_some() => {
            standing(INJECTED, "injected", theme.injected)
        }
        ToolCallPhase::Running => standing(RUNNING, "running", theme.running),
        ToolCallPhase::Refused { .. } => standing(REFUSED, "refused", theme.warn),
        ToolCallPhase::Done { .. } => match call.unseen {
            None => standing(DONE, "ok", theme.good),
            Some(UnseenResult::Answer) => standing(DONE, "answer", theme.good),
            Some(UnseenResult::InText) => standing(DONE, "in text", theme.good),
        },
        ToolCallPhase::Failed { error } => standing(FAILED, failure(error.kind), theme.bad),
    }
}

pub fn failure(kind: ToolErrorKind) -> &'static str {
    match kind {
        ToolErrorKind::Arguments => "bad args",
        ToolErrorKind::Timeout => "timed out",
        ToolErrorKind::Unavailable => "missing",
        ToolErrorKind::Failed => "failed",
        ToolErrorKind::NotRecorded => "no record",
        ToolErrorKind::OverBudget => "over time",
        ToolErrorKind::Cancelled => "cancelled",
    }
}

/// The failure of a model call, in at most twelve letters.
pub fn model_failure(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Connection => "unreachable",
        ModelErrorKind::Timeout => "timed out",
        ModelErrorKind::RateLimited => "rate limit",
        ModelErrorKind::Auth => "key refused",
        ModelErrorKind::Quota => "no credit",
        ModelErrorKind::ContextOverflow => "too long",
        ModelErrorKind::Endpoint => "failed",
        ModelErrorKind::Refused => "refused",
        ModelErrorKind::Filtered => "filtered",
        ModelErrorKind::BadAnswer => "bad answer",
        ModelErrorKind::TooLong => "over limit",
        ModelErrorKind::OverBudget => "over budget",
        ModelErrorKind::Cancelled => "cancelled",
    }
}

pub(super) fn of(track: &Track<'_>, theme: &Theme) -> CallStatus {
    let (held, stopped) = (track.hold().is_some(), track.is_stopped());
    match (track.call, track.begun) {
        _ if stopped && held => standing(HELD, "stopped", theme.user),
        // The call goes on to its next boundary.
        _ if stopped && track.over().is_none() => standing(HELD, "stopping", theme.user),
        (Some(call), begun) => {
            let plain = of_call(call, track.hold(), theme);
            let done = matches!(call.phase, ToolCallPhase::Done { .. }) && !held;
            let nulled = begun.is_some_and(|begun| begun.nulled.is_some());
            if done && nulled { null(theme) } else { plain }
        }
        (None, Some(_)) if held => standing(HELD, "held", theme.paused),
        (None, Some(begun)) => match &begun.nulled {
            _ if begun.found.is_none() && track.ran().is_none() => queued(theme),
            _ if begun.found.is_none() => standing(RUNNING, "asked", theme.running),
            Some(NullReason::Failed) => standing(FAILED, "failed", theme.bad),
            Some(_) => null(theme),
            None => standing(DONE, "ok", theme.good),
        },
        (None, None) if track.task.outcome().is_some() => standing(WAITING, "not run", theme.dim),
        (None, None) if track.waits_for().is_empty() => queued(theme),
        (None, None) => standing(WAITING, "waits", theme.dim),
    }
}

fn queued(theme: &Theme) -> CallStatus {
    standing(WAITING, "queued", theme.warn)
}

fn null(theme: &Theme) -> CallStatus {
    standing(EMPTY, "null", theme.warn)
}
