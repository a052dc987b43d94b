//! Held calls and lanes, for the first line: which call, where, why, and for how long.

use crate::cx::Cx;
use crate::domain::state::Control;
use crate::domain::{BreakpointStop, Hold, Lane, State, breakpoint::When};
use crate::symbols::{CHOSEN, HELD};
use crate::text;

/// Below this width only the call is named, not the boundary.
const NARROW: u16 = 100;
/// Cells of a tool's name, and of the reason for a stop.
const NAME: usize = 24;
const WHY: usize = 40;

/// Where a breakpoint has stopped the agent, and which one.
pub(super) fn stopped(state: &State, stop: &BreakpointStop, width: u16) -> String {
    let hold = stop.lane.and_then(|lane| state.control.hold_of(lane));
    let place = hold.map(|hold| at(state, hold, width));
    let why = if stop.text.is_empty() { &stop.place } else { &stop.text };
    let why = text::cut(why, WHY);
    match (stop.was_sought, place) {
        (true, Some(place)) => format!("{place}: {why}"),
        (true, None) => format!("at {why}"),
        (false, place) => {
            let place = place.map_or_else(String::new, |place| format!("{place} "));
            format!("{place}{CHOSEN} breakpoint {}: {why}", stop.breakpoint)
        }
    }
}

/// The boundary, and the call that is held there.
pub(super) fn at(state: &State, hold: &Hold, width: u16) -> String {
    let Lane::Effect(call) = hold.lane else { return hold.boundary.name().to_owned() };
    let tool = state.tool_call(call).map(|call| text::cut(call.tool.as_str(), NAME));
    match (tool, width < NARROW) {
        (Some(tool), true) => format!("{tool} #{call}"),
        (Some(tool), false) => format!("{} ({tool} #{call})", hold.boundary.name()),
        (None, _) => format!("{} (#{call})", hold.boundary.name()),
    }
}

/// Where a watched agent is held, in plain words: `before search_flights #13`.
pub(super) fn place(state: &State, hold: &Hold, most: usize) -> String {
    let side = if hold.boundary.side() == When::Before { "before" } else { "after" };
    let Lane::Effect(id) = hold.lane else { return hold.boundary.name().to_owned() };
    match state.tool_call(id) {
        Some(call) => format!("{side} {} #{id}", text::cut_middle(call.tool.as_str(), most)),
        None => format!("{side} the model call #{id}"),
    }
}

/// Why a breakpoint has stopped the agent.
pub(super) fn why(stop: &BreakpointStop) -> String {
    let why = if stop.text.is_empty() { &stop.place } else { &stop.text };
    match stop.was_sought {
        true => String::new(),
        false => format!(" {CHOSEN} {}: {}", stop.breakpoint, text::cut(why, WHY / 2)),
    }
}

/// Returns the hold that keys mean while the agent is held, else the longest hold of any lane.
fn first(control: &Control) -> Option<&Hold> {
    let stopped = control.stop.as_ref().and_then(|stop| stop.lane);
    stopped
        .and_then(|lane| control.hold_of(lane))
        .or_else(|| control.held.iter().min_by_key(|hold| hold.since))
}

/// How long a call has been held, or the agent by a breakpoint.
pub(super) fn how_long(cx: &Cx<'_>) -> Option<String> {
    let control = &cx.state.control;
    let is_call = |hold: &&Hold| matches!(hold.lane, Lane::Effect(_));
    let hold = first(control).filter(|hold| is_call(hold) || control.stop.is_some())?;
    Some(format!("held {}", text::whole_seconds(cx.now.saturating_sub(hold.since))))
}

/// Calls that are held while the agent goes on.
pub(super) fn alone(cx: &Cx<'_>) -> Option<String> {
    let control = &cx.state.control;
    let hold = first(control)?;
    let Lane::Effect(id) = hold.lane else { return None };
    let which = match (control.held.len(), cx.state.tool_call(id)) {
        (1, Some(call)) => format!("{} #{id}", text::cut(call.tool.as_str(), NAME)),
        (1, None) => format!("#{id}"),
        (n, _) => format!("{n} calls"),
    };
    let long = text::whole_seconds(cx.now.saturating_sub(hold.since));
    Some(format!("{HELD} {which} held {long}"))
}
