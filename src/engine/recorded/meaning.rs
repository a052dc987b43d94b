//! The meaning of recorded events for a session that runs over them: which requests are equal, what ended an effect, and
//! what a person did. Pure.

use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use serde_json::Value;

use crate::domain::difference::of_values;
use crate::domain::event::json_of;
use crate::domain::{
    BreakpointEvent, By, ControlEvent, EmbeddingEvent, Event, FaultEvent, Lane, ModelCallEvent,
    Record, SessionEvent, ToolCallEvent, ToolErrorKind,
};

/// The fields of a request that number it.
const NUMBERS: [&str; 2] = ["effect", "task"];
/// The fields that say where in its task it was made.
const PLACES: [&str; 2] = ["step", "evidence"];

/// Whether an effect has ended in these events.
pub fn has_end(events: &[Record]) -> bool {
    events.iter().any(|record| record.event.is_end())
}

/// Whether the model or the tool itself gave the outcome, and nobody changed it.
pub fn is_own_outcome(events: &[Record]) -> bool {
    let is_own = |event: &Event| match event {
        Event::ModelCall(ModelCallEvent::ModelCallFinished { .. })
        | Event::ToolCall(ToolCallEvent::ToolCallFinished { .. })
        | Event::Embedding(EmbeddingEvent::EmbeddingFinished { .. }) => true,
        Event::ToolCall(ToolCallEvent::ToolCallFailed { error, .. }) => {
            error.kind != ToolErrorKind::Cancelled
        }
        Event::Edit(_) | Event::Fault(FaultEvent::FaultFired { .. }) => false,
        event => !event.is_end(),
    };
    has_end(events) && events.iter().all(|record| is_own(&record.event))
}

/// A request without these fields.
fn without(event: &Event, fields: &[&str]) -> Value {
    let mut value = json_of(event);
    if let Some(data) = value.get_mut("data").and_then(Value::as_object_mut) {
        data.retain(|key, _| !fields.contains(&key.as_str()));
    }
    value
}

/// A request without its numbers.
fn unnumbered(event: &Event) -> Value {
    without(event, &NUMBERS)
}

/// A request without its numbers and its place in the task.
fn unplaced(event: &Event) -> Value {
    without(event, &[NUMBERS, PLACES].concat())
}

/// The same number for equal requests, wherever they were made.
pub fn hash(request: &Event) -> u64 {
    FixedState::default().hash_one(unplaced(request).to_string())
}

/// The first field in which two requests differ.
pub fn difference(one: &Event, other: &Event) -> Option<String> {
    let [one, other] = [one, other].map(unnumbered);
    Some(of_values(&mut Vec::new(), &one, &other, &mut |_| false)?.field)
}

/// Whether two requests are equal wherever they were made.
pub fn is_alike(one: &Event, other: &Event) -> bool {
    unplaced(one) == unplaced(other)
}

/// The lane that an event holds or releases.
pub fn stopped(event: &Event) -> Option<Lane> {
    match event {
        Event::Control(ControlEvent::Held { lane, .. } | ControlEvent::Released { lane })
        | Event::Breakpoint(BreakpointEvent::BreakpointHit { lane: Some(lane), .. }) => Some(*lane),
        _ => None,
    }
}

/// Whether a person caused an event.
pub fn is_by_a_person(event: &Event) -> bool {
    match event {
        // Only a person causes these events.
        Event::Session(
            SessionEvent::CommandRefused { .. }
            | SessionEvent::ModelsProbed { .. }
            | SessionEvent::ModelReached { .. },
        ) => true,
        event => event.by().is_some_and(|by| by != By::Engine),
    }
}
