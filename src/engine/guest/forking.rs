//! A session of watched agents that comes to the moment of its fork.

use bytes::Bytes;

use super::conversation_data::{RequestPlace, SharedTalks, Talks};
use crate::domain::{Messages, SessionEvent};
use crate::handle::Handle;
use crate::session::Session;
use crate::wire::{IncomingRequest, WireFormat, with_model};

/// Lets the session go its own way, if it comes to the moment with this request. `is_answered`: the record has its answer,
/// whose calls come next.
pub(super) fn fork_here(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    is_answered: bool,
) {
    handle.write(|session| talks.borrow_mut().fork_here(session, place, is_answered));
}

impl Talks {
    pub fn fork_here(&mut self, session: &mut Session, place: RequestPlace, is_answered: bool) {
        let Some(again) = self.again.as_mut() else { return };
        let at = again.past.place_of(place.at);
        let Some(point) = again.past.point.as_mut() else { return };
        if !point.comes(at, is_answered) {
            return;
        }
        let at = again.fork.at;
        let faults = std::mem::take(&mut again.fork.faults);
        let breakpoints = std::mem::take(&mut again.fork.breakpoints);
        let text = match point.is_left {
            true => format!("its conversation has left the record before event {at}"),
            false => format!("event {at} of the record: from here on its conversation is live"),
        };
        session.emit(SessionEvent::Noticed { text });
        session.begin_with_all(faults, breakpoints);
    }

    /// A request and its body for the model of a fork; `None`: it keeps the agent's.
    ///
    /// # Errors
    /// For a person: why it keeps it against their wish.
    pub fn of_other_model(
        &self,
        place: RequestPlace,
        (format, body): (WireFormat, &Bytes),
        fixed: Option<&str>,
    ) -> Result<Option<(IncomingRequest, Bytes)>, String> {
        let again = self.again.as_ref();
        let point = again.and_then(|again| again.past.point.as_ref()).filter(|point| point.is_past);
        let is_there = point.is_some_and(|point| point.talk == Some(place.at));
        let model = again.and_then(|again| again.fork.model.as_deref()).filter(|_| is_there);
        let Some(model) = model else { return Ok(None) };
        let kept = |why: &str| format!("the request is not for {model}: {why}");
        if let Some(why) = fixed {
            return Err(kept(why));
        }
        let other = with_model(body, model);
        let other = other.ok_or_else(|| kept("on this wire the address names the model"))?;
        let asked = format.read_request(&other).map_err(|why| kept(&why.to_string()))?;
        Ok(Some((asked, other.into())))
    }

    /// The messages that the model reads in place of those of this request.
    pub fn changed_prompt(&self, place: RequestPlace) -> Option<Messages> {
        let past = &self.again.as_ref()?.past;
        let point = past.point.as_ref()?;
        let (conversation, next) = past.place_of(place.at)?;
        let is_there = conversation == point.conversation && next + 1 == point.requests;
        point.prompt.clone().filter(|_| is_there)
    }
}
