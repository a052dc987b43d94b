//! The one path of every effect:
//!
//! ```text
//! requested → stations before, in order → started → the model or the tool → ended → stations after
//! ```
//!
//! The stations after run in reverse order, once the result's event is written: a person who holds the effect there
//! sees only events. An effect that a station answers is not started. An edited outcome is judged again.

use tracing::{Instrument, info, info_span};

use super::{Effect, Outcome, PendingEffect, effect_end, real};
use crate::domain::{EmbeddingEvent, Event, FaultEvent, ModelCallEvent, Origin, ToolCallEvent};
use crate::handle::Handle;
use crate::session::Session;
use crate::station::{Passage, StationVerdict};

/// Runs a requested effect to its end, in its own log span. Returns the outcome, and whether to make it again.
pub async fn perform(handle: &Handle, requested: PendingEffect) -> (Outcome, bool) {
    // Without a log, the names are not computed.
    let PendingEffect { reference, effect, .. } = &requested;
    let span =
        info_span!("effect", id = reference.id.0, kind = effect.kind(), name = effect.name());
    pass(handle, requested).instrument(span).await
}

async fn pass(handle: &Handle, requested: PendingEffect) -> (Outcome, bool) {
    let cancel = requested.cancel.clone();
    let mut passage = Passage::new(handle, requested);
    let actor = passage.actor();
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            let id = passage.reference.id;
            let answer = handle.write(|session| {
                session.let_go(passage.reference.lane());
                session.flight(id)?.answer.take()
            });
            match answer {
                Some(text) => {
                    passage.reference.origin = Origin::Person;
                    passage.effect.answered(text)
                }
                None => passage.effect.cancelled(),
            }
        }
        outcome = reach(handle, &mut passage) => outcome,
    };
    let mut outcome = end(handle, &passage, outcome);
    info!(origin = ?passage.reference.origin, outcome = outcome.name(), "ended");
    let stations = handle.stations();
    let concerned = || stations.iter().rev().filter(|station| station.concerns(actor));
    for station in concerned() {
        station.after(&mut passage, &outcome).await;
    }
    while let Some(edit) =
        handle.write(|session| session.lanes_mut().take_edit(passage.reference.id))
    {
        outcome = outcome.edited(edit);
        for station in concerned() {
            station.after_edit(&mut passage, &outcome).await;
        }
    }
    let is_again = handle.write(|session| {
        let flight = session.lanes_mut().leave(passage.reference.id);
        session.settle();
        flight.is_some_and(|flight| flight.again)
    });
    (outcome, is_again)
}

/// Takes the effect through the stations before the real call, and makes that call. An effect that was held or edited
/// passes the stations again, since the state may have changed.
async fn reach(handle: &Handle, passage: &mut Passage) -> Outcome {
    let stations = handle.stations();
    let mut at = 0;
    while let Some(station) = stations.get(at) {
        if !station.concerns(passage.actor()) {
            at += 1;
            continue;
        }
        match station.before(passage).await {
            StationVerdict::Go => at += 1,
            StationVerdict::Again => at = 0,
            StationVerdict::Answer(outcome, origin) => {
                passage.reference.origin = origin;
                return outcome;
            }
        }
    }
    handle.write(|session| {
        let effect = passage.reference;
        session.emit(match &passage.effect {
            Effect::Model(_) => Event::from(ModelCallEvent::ModelCallStarted { effect }),
            Effect::Tool(_) => ToolCallEvent::ToolCallStarted { effect }.into(),
            Effect::Embedding(_) | Effect::Reading(_) => {
                EmbeddingEvent::EmbeddingStarted { effect }.into()
            }
        });
        if let Some((fault, _)) = &passage.fault {
            passage.reference.origin = Origin::Injected;
            session.emit(FaultEvent::FaultFired { fault: *fault, effect: passage.reference });
        }
    });
    if handle.read(|session| acts_outside(session, &passage.effect)) {
        // The journal must have an event before others see its effects.
        handle.flush();
        handle.journal_copied().await;
        handle.halt_if_journal_failed().await;
    }
    real::run(handle, passage).await
}

/// Whether anybody outside this program sees the effect.
fn acts_outside(session: &Session, effect: &Effect) -> bool {
    match effect {
        Effect::Tool(call) => {
            let tool = session.kit().tools.get(call.tool.as_str());
            call.guest.is_some() || tool.is_none_or(|tool| !tool.is_sample())
        }
        _ => effect.spec().is_none_or(|spec| !spec.simulated),
    }
}

/// Records the outcome of the effect.
fn end(handle: &Handle, passage: &Passage, outcome: Outcome) -> Outcome {
    handle.write(|session| {
        // Discards an edit of the input that came too late for the call.
        session.lanes_mut().take_edit(passage.reference.id);
        let outcome = effect_end::redacted(effect_end::as_told(session, passage, outcome));
        let event = effect_end::event(session, passage, &outcome);
        session.emit(event);
        session.settle_budget(passage.reference.id);
        session
            .recorded_mut()
            .edit(passage.reference.id)
            .into_iter()
            .for_each(|edit| session.intervene(edit));
        outcome
    })
}
