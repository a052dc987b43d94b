//! Holds a run. Every lane passes the gate at every boundary; a pause or a step makes it wait
//! there. Holding never kills: running effects continue to their next boundary.

use super::{Effect, Outcome, Passage, Passing, Station, StationVerdict, ToolCall, later, now};
use crate::domain::{Boundary, ControlEvent, Lane};
use crate::effect::ModelCall;
use crate::handle::Handle;
use crate::model::relay::Holds;
use crate::session::Session;

pub(super) struct Gate;

impl Station for Gate {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let (lane, boundary) = (passage.reference.lane(), passage.effect.before());
        if passage.take_edit() {
            return now(StationVerdict::Again);
        }
        let was_released = std::mem::take(&mut passage.was_released);
        if !std::mem::replace(&mut passage.was_met, true) {
            passage.handle.meet(lane, boundary);
        }
        if was_released || passage.handle.read(|session| session.is_open(lane, boundary)) {
            return now(StationVerdict::Go);
        }
        later(async move {
            match passage.handle.checkpoint(lane, boundary).await {
                true => {
                    passage.take_edit();
                    passage.was_released = true;
                    StationVerdict::Again
                }
                false => StationVerdict::Go,
            }
        })
    }

    fn after<'a>(&'a self, passage: &'a mut Passage, outcome: &'a Outcome) -> Passing<'a, ()> {
        if passage.is_of_record || is_gone(&passage.effect, outcome) {
            return now(());
        }
        let (lane, boundary) = (passage.reference.lane(), passage.effect.after());
        if !passage.has_its_stops {
            passage.handle.meet(lane, boundary);
        }
        if passage.handle.read(|session| session.is_open(lane, boundary)) {
            return now(());
        }
        later(async move {
            passage.handle.checkpoint(lane, boundary).await;
        })
    }
}

/// Whether a watched agent no longer waits for this: it has hung up, or it got the whole answer as the last text
/// arrived. Calls are always kept back, and the rest only if the request said so when it was sent.
fn is_gone(effect: &Effect, outcome: &Outcome) -> bool {
    let holds = match effect {
        Effect::Model(ModelCall { guest: Some(relay), .. }) => relay.holds(),
        Effect::Tool(ToolCall { guest: Some(_), .. }) => return outcome.is_cancelled(),
        _ => return false,
    };
    match outcome {
        Outcome::Reply(Ok(reply)) => reply.calls.is_empty() && holds == Holds::Calls,
        _ => outcome.is_cancelled() || holds == Holds::Calls,
    }
}

impl Handle {
    /// Looks for breakpoints at a boundary. Usually there are none.
    fn meet(&self, lane: Lane, boundary: Boundary) {
        if self.read(|session| !session.state().breakpoints.is_empty()) {
            self.write(|session| session.meet(lane, boundary));
        }
    }

    /// Lets a lane pass a boundary, at once or on the user's command; returns whether it was held.
    pub async fn checkpoint(&self, lane: Lane, boundary: Boundary) -> bool {
        self.halt_if_journal_failed().await;
        if matches!(lane, Lane::Run(_)) {
            self.meet(lane, boundary);
        }
        if !self.read(|session| session.holds(lane, boundary)) {
            return false;
        }
        self.write(|session| {
            session.emit(ControlEvent::Held { lane, boundary });
            session.settle();
        });
        // A person's own pause lasts until a person ends it.
        let is_stop = self.read(|session| session.state().control.stop.is_some());
        let left = self.read(Session::left);
        tokio::select! {
            biased;
            () = self.until(|session| session.releases(lane)) => {}
            was_taken = left, if is_stop => self.write(|session| session.end_hold(lane, was_taken)),
        }
        self.write(|session| {
            session.lanes_mut().spend_step(lane);
            if let Lane::Effect(effect) = lane
                && let Some(flight) = session.flight(effect)
            {
                flight.repeated = false;
            }
            session.emit(ControlEvent::Released { lane });
        });
        true
    }
}
