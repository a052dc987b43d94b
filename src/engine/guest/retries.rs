//! A watched agent that waits for its answer, or hangs up and asks once more: one effect, one answer.

use std::{rc::Rc, time::Duration};

use futures::FutureExt;
use tokio::time::timeout;

use super::conversation_data::{RequestPlace, SharedTalks};
use crate::domain::{ModelError, ModelErrorKind};
use crate::effect::{Outcome, PendingEffect, perform};
use crate::handle::Handle;
use crate::model::relay::{Arrival, Relay, RelayResult};
use crate::session::Session;

/// How long a request is held after its client has hung up. Clients try again after at most a few seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// The most answers that each conversation keeps for clients that have hung up and may ask again.
const UNGIVEN: usize = 4;

/// Makes the call. An agent that hangs up ends it, unless it is held: then the agent may ask again.
pub async fn ask(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    requested: PendingEffect,
    relay: &Relay,
) -> RelayResult {
    let (cancel, lane) = (requested.cancel.clone(), requested.reference.lane());
    let given_up = async {
        while !relay.is_waited_for() {
            // The agent's next try may be recognised only by its equal body, if the client does not mark it as a retry.
            talks.borrow_mut().conversations.failed(place.at);
            let is_held = |session: &Session| session.state().control.is_held(lane);
            let goes_on = handle.until(|session| !is_held(session) || relay.is_waited_for());
            let _ = timeout(PATIENCE, goes_on).await;
            if !relay.is_waited_for() {
                return;
            }
            relay.hung_up().await;
        }
    };
    let given_up = relay.hung_up().then(|()| given_up);
    let mut performed = std::pin::pin!(perform(handle, requested));
    let (outcome, _) = tokio::select! {
        biased;
        performed = &mut performed => performed,
        () = given_up => {
            cancel.cancel();
            performed.await
        }
    };
    match outcome {
        Outcome::Reply(said) => said,
        _ => Err(ModelError::new(ModelErrorKind::BadAnswer, "not the outcome of a model call")),
    }
}

/// Gives an agent that asks again the answer to a request that is already at work. Returns the request if it is a
/// different one.
pub fn adopt(talks: &SharedTalks, place: RequestPlace, arrival: Arrival) -> Option<Arrival> {
    let mut talks = talks.borrow_mut();
    let Some(talk) = talks.talk(place) else { return Some(arrival) };
    let mut pending = talk.pending.iter().filter(|(body, _)| *body == arrival.body);
    let is_retry = arrival.caller.retries > 0;
    let known =
        pending.find(|(_, relay)| relay.can_be_adopted() && (is_retry || !relay.is_waited_for()));
    let Some((_, relay)) = known else { return Some(arrival) };
    let (relay, ungiven) = (Rc::clone(relay), relay.ungiven());
    relay.adopt(arrival.way);
    if let Some(given) = ungiven {
        talk.pending.retain(|(_, pending)| !Rc::ptr_eq(pending, &relay));
        given.iter().for_each(|reply| talks.conversations.answered(place.at, reply, None));
    }
    None
}

/// Notes that a request has its answer. If the agent did not get it, its next try does.
pub fn conclude(talks: &SharedTalks, place: RequestPlace, relay: &Rc<Relay>, is_given: bool) {
    let mut talks = talks.borrow_mut();
    if !is_given {
        talks.conversations.failed(place.at);
    }
    if let Some(talk) = talks.talk(place) {
        talk.pending
            .retain(|(_, pending)| !Rc::ptr_eq(pending, relay) || relay.ungiven().is_some());
        // The client may never try again.
        let surplus = talk.pending.len().saturating_sub(UNGIVEN);
        let mut dropped = 0;
        talk.pending.retain(|(_, pending)| {
            let is_old = pending.ungiven().is_some() && dropped < surplus;
            dropped += usize::from(is_old);
            !is_old
        });
    }
}
