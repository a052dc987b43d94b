//! The current lanes: the agent between its effects, and every effect in flight.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use crate::domain::edit::Edit;
use crate::domain::{EditEvent, EffectId, Lane};

/// Who waits for the end of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Agent,
    /// It runs beside the agent.
    Nobody,
    /// A person made it: it is no part of the agent's work, and is not held with it.
    Person,
}

/// An effect from its request until its outcome is handed over: who waits for it, how it is cancelled, and a person's
/// decisions on it.
#[derive(Debug)]
pub struct Flight {
    waits: Waits,
    pub cancel: CancellationToken,
    /// It waits for a free place among the running tool calls.
    pub waits_for_room: bool,
    /// Credits of the time that it may still take, where seconds cost any.
    pub allotted: f64,
    /// A person's text in place of what goes out, or of what came back, until the call takes it.
    pub edit: Option<Edit>,
    /// A person's answer in place of its model or tool.
    pub answer: Option<String>,
    /// A person's decision, if it asked for consent.
    pub consent: Option<bool>,
    /// It is made again: its model could not be used, or a person repeats it.
    pub again: bool,
    /// A person repeats it, so that it is not held any more.
    pub repeated: bool,
}

/// The lanes that can reach a boundary, and the one that a step releases.
#[derive(Debug, Default)]
pub struct Lanes {
    is_at_work: bool,
    /// The number of results that a model is judging.
    verdicts: usize,
    /// The agent waits for verdicts, which effects beside it give.
    awaits_verdicts: bool,
    in_flight: BTreeMap<EffectId, Flight>,
    /// The lane that a step released; it may pass one boundary.
    pub granted: Option<Lane>,
}

impl Lanes {
    /// The agent begins to work on something.
    pub fn open(&mut self) {
        self.is_at_work = true;
    }

    /// The agent has nothing to do.
    pub fn close(&mut self) {
        (self.is_at_work, self.awaits_verdicts) = (false, false);
        self.in_flight.retain(|_, flight| flight.waits == Waits::Person);
    }

    /// A model begins to judge a result.
    pub fn begin_verdict(&mut self) {
        self.verdicts += 1;
    }

    pub fn end_verdict(&mut self) {
        self.verdicts = self.verdicts.saturating_sub(1);
    }

    /// The number of results that a model is judging.
    pub fn verdicts(&self) -> usize {
        self.verdicts
    }

    /// Notes whether the agent waits for verdicts.
    pub fn await_verdicts(&mut self, waits: bool) {
        self.awaits_verdicts = waits;
    }

    /// Takes away the step that was granted to this lane.
    pub fn spend_step(&mut self, lane: Lane) {
        self.granted.take_if(|granted| *granted == lane);
    }

    /// An effect was requested; the token cancels it.
    pub fn enter(&mut self, effect: EffectId, waits: Waits) -> CancellationToken {
        let cancel = CancellationToken::new();
        let flight = Flight {
            waits,
            cancel: cancel.clone(),
            waits_for_room: false,
            allotted: 0.0,
            edit: None,
            answer: None,
            consent: None,
            again: false,
            repeated: false,
        };
        self.in_flight.insert(effect, flight);
        cancel
    }

    /// An effect has ended. After the last one that it waited for, the agent continues.
    pub fn leave(&mut self, effect: EffectId) -> Option<Flight> {
        self.in_flight.remove(&effect)
    }

    pub fn flight(&self, effect: EffectId) -> Option<&Flight> {
        self.in_flight.get(&effect)
    }

    pub fn flight_mut(&mut self, effect: EffectId) -> Option<&mut Flight> {
        self.in_flight.get_mut(&effect)
    }

    /// Takes a person's edit of an effect.
    pub fn take_edit(&mut self, effect: EffectId) -> Option<Edit> {
        self.flight_mut(effect)?.edit.take()
    }

    /// Notes a person's edit, answer or repetition of an effect.
    pub fn apply_edit(&mut self, event: EditEvent) {
        let (EditEvent::CallEdited { effect, .. }
        | EditEvent::CallAnswered { effect, .. }
        | EditEvent::CallRepeated { effect, .. }) = &event;
        let Some(flight) = self.flight_mut(effect.id) else { return };
        match event {
            EditEvent::CallEdited { edit, .. } => flight.edit = Some(*edit),
            EditEvent::CallAnswered { text, .. } => {
                flight.answer = Some(text);
                flight.cancel.cancel();
            }
            EditEvent::CallRepeated { .. } => (flight.again, flight.repeated) = (true, true),
        }
    }

    /// A person's decision on an effect.
    pub fn consent(&self, effect: EffectId) -> Option<bool> {
        self.flight(effect)?.consent
    }

    /// The tool call that gets the next free place.
    pub fn next_for_room(&self) -> Option<EffectId> {
        let mut waiting = self.in_flight.iter().filter(|(_, flight)| flight.waits_for_room);
        waiting.next().map(|(effect, _)| *effect)
    }

    /// Credits of the time that all running calls may still take.
    pub fn allotted(&self) -> f64 {
        self.in_flight.values().map(|flight| flight.allotted).sum()
    }

    /// Who waits for an effect in flight.
    pub fn waits(&self, effect: EffectId) -> Option<Waits> {
        self.flight(effect).map(|flight| flight.waits)
    }

    /// Whether a person made the effect of this lane.
    pub fn is_by_hand(&self, lane: Lane) -> bool {
        matches!(lane, Lane::Effect(effect) if self.waits(effect) == Some(Waits::Person))
    }

    /// Whether a person repeats the effect of this lane.
    pub fn is_repeated(&self, lane: Lane) -> bool {
        let Lane::Effect(effect) = lane else { return false };
        self.flight(effect).is_some_and(|flight| flight.repeated)
    }

    /// The lanes that can reach a boundary.
    pub fn live(&self) -> impl Iterator<Item = Lane> {
        // The agent rests while it waits for an effect.
        let rests = self.awaits_verdicts
            || self.in_flight.values().any(|flight| flight.waits == Waits::Agent);
        let agent = (self.is_at_work && !rests).then_some(Lane::Agent);
        agent.into_iter().chain(self.in_flight.keys().copied().map(Lane::Effect))
    }

    /// Those of them that belong to the agent's work.
    pub fn of_agent(&self) -> impl Iterator<Item = Lane> {
        self.live().filter(|lane| !self.is_by_hand(*lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_made_goes_on_when_the_agent_has_nothing_to_do() {
        let mut lanes = Lanes::default();
        lanes.open();
        for (id, waits) in [(1, Waits::Agent), (2, Waits::Person), (3, Waits::Nobody)] {
            lanes.enter(EffectId(id), waits);
        }
        lanes.close();
        assert!(!lanes.is_at_work);
        assert_eq!(lanes.in_flight.keys().collect::<Vec<_>>(), [&EffectId(2)]);
    }

    #[test]
    fn room_is_given_in_the_order_of_requests() {
        let mut lanes = Lanes::default();
        for id in [3, 1, 2] {
            lanes.enter(EffectId(id), Waits::Agent);
        }
        assert_eq!(lanes.next_for_room(), None);
        for id in [3, 2] {
            lanes.flight_mut(EffectId(id)).unwrap().waits_for_room = true;
        }
        assert_eq!(lanes.next_for_room(), Some(EffectId(2)));
        lanes.leave(EffectId(2));
        assert_eq!(lanes.next_for_room(), Some(EffectId(3)));
    }
}
