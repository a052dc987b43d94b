//! Limits the number of parallel tool calls of the agent to the knob `concurrency`. A held call takes no room.
//! Room is given in the order in which calls were requested, so that runs repeat.

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, later, now};
use crate::domain::{EffectId, Knob};
use crate::session::Session;

pub(super) struct Room;

impl Station for Room {
    /// A person's call does not wait, and the calls of a guest run elsewhere.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let id = passage.reference.id;
        let needs_room = matches!(&passage.effect, Effect::Tool(_));
        if !needs_room || passage.handle.read(|session| has_room(session, id)) {
            return now(StationVerdict::Go);
        }
        later(async move {
            let waits = |waits: bool| {
                passage.handle.write(|session| {
                    if let Some(flight) = session.flight(id) {
                        flight.waits_for_room = waits;
                    }
                });
            };
            waits(true);
            passage.handle.until(|session| has_room(session, id)).await;
            waits(false);
            // The state may have changed while it waited, and a pause may have started: the end of another call must
            // not start a call during a pause.
            passage.was_released = false;
            StationVerdict::Again
        })
    }
}

/// Whether a call may start in addition to the running ones, and before the waiting ones.
fn has_room(session: &Session, id: EffectId) -> bool {
    if session.lanes().next_for_room().is_some_and(|first| first < id) {
        return false;
    }
    let running = session.state().tool_calls_in_flight();
    let running = running.filter(|call| call.started.is_some() && !call.is_by_hand()).count();
    running < session.state().knobs.count(Knob::Concurrency)
}
