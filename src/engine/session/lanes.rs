//! The current lanes: each run between its effects, and every effect in flight.

use std::{collections::BTreeMap, rc::Rc};

use tokio_util::sync::CancellationToken;

use crate::domain::edit::Edit;
use crate::domain::{EditEvent, EffectId, Lane, RunId};
use crate::model::relay::Relay;

/// The party that waits for the end of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Agent,
    /// The effect runs beside the agent.
    Nobody,
    /// A person made the effect: it is not part of the agent's work, and is not held with it.
    Person,
}

/// An effect from its request until its outcome is handed over: the party that waits for it, its cancellation, and a
/// person's decisions on it.
#[derive(Debug)]
pub struct Flight {
    run: RunId,
    waits: Waits,
    pub cancel: CancellationToken,
    /// Whether the call waits for a free place among the running tool calls.
    pub waits_for_room: bool,
    /// Credits for the time that the effect may still take, where seconds cost any.
    pub allotted: f64,
    /// A person's text in place of the request or the result, until the call takes it.
    pub edit: Option<Edit>,
    /// A person's answer in place of the model's or the tool's.
    pub answer: Option<String>,
    /// A person's decision, if the call asked for consent.
    pub consent: Option<bool>,
    /// Whether the effect is made again: its model could not be used, or a person repeats it.
    pub again: bool,
    /// Whether a person repeats the effect, so that it is not held any more.
    pub repeated: bool,
    /// The relay of a watched agent's request.
    pub relay: Option<Rc<Relay>>,
}

/// The lane of a run.
#[derive(Debug, Default)]
struct RunLane {
    is_at_work: bool,
    /// The number of results that a model is judging.
    verdicts: usize,
    /// The run waits for verdicts, which effects beside it give.
    awaits_verdicts: bool,
    /// The lane of this run that a step released; it may pass one boundary.
    granted: Option<Lane>,
}

/// The lanes that can reach a boundary, and those that a step releases.
#[derive(Debug, Default)]
pub struct Lanes {
    runs: BTreeMap<RunId, RunLane>,
    in_flight: BTreeMap<EffectId, Flight>,
    /// Calls of watched agents whose results a person has changed after their models read them.
    past: Vec<EffectId>,
}

impl Lanes {
    fn of(&mut self, run: RunId) -> &mut RunLane {
        self.runs.entry(run).or_default()
    }

    /// Notes that a run begins to work on something.
    pub fn open(&mut self, run: RunId) {
        self.of(run).is_at_work = true;
    }

    /// Notes that a run has nothing to do.
    pub fn close(&mut self, run: RunId) {
        let lane = self.of(run);
        (lane.is_at_work, lane.awaits_verdicts) = (false, false);
        self.in_flight.retain(|_, flight| flight.run != run || flight.waits == Waits::Person);
    }

    /// Notes that a model begins to judge a result of a run.
    pub fn begin_verdict(&mut self, run: RunId) {
        self.of(run).verdicts += 1;
    }

    pub fn end_verdict(&mut self, run: RunId) {
        let lane = self.of(run);
        lane.verdicts = lane.verdicts.saturating_sub(1);
    }

    /// The number of results of a run that a model is judging.
    pub fn verdicts(&self, run: RunId) -> usize {
        self.runs.get(&run).map_or(0, |lane| lane.verdicts)
    }

    /// Notes whether a run waits for verdicts.
    pub fn await_verdicts(&mut self, run: RunId, waits: bool) {
        self.of(run).awaits_verdicts = waits;
    }

    /// Lets a lane pass one boundary.
    pub fn grant(&mut self, lane: Lane) {
        let run = self.run_of(lane);
        self.of(run).granted = Some(lane);
    }

    /// Whether a step lets this lane pass a boundary.
    pub fn is_granted(&self, lane: Lane) -> bool {
        self.runs.values().any(|run| run.granted == Some(lane))
    }

    /// Whether a granted step of this run has not been taken yet.
    pub fn has_step(&self, run: RunId) -> bool {
        self.runs.get(&run).is_some_and(|lane| lane.granted.is_some())
    }

    /// Takes away the step that was granted to this lane.
    pub fn spend_step(&mut self, lane: Lane) {
        for run in self.runs.values_mut() {
            run.granted.take_if(|granted| *granted == lane);
        }
    }

    /// Takes away the steps of these runs that no lane has taken yet.
    pub fn revoke_steps(&mut self, of: impl Fn(RunId) -> bool) {
        self.runs.iter_mut().filter(|(run, _)| of(**run)).for_each(|(_, lane)| lane.granted = None);
    }

    /// The run that a lane belongs to.
    pub fn run_of(&self, lane: Lane) -> RunId {
        match lane {
            Lane::Run(run) => run,
            Lane::Effect(effect) => self.flight(effect).map_or(RunId::FIRST, |flight| flight.run),
        }
    }

    /// Notes that an effect of this run was requested; the token cancels it.
    pub fn enter(&mut self, effect: EffectId, run: RunId, waits: Waits) -> CancellationToken {
        let cancel = CancellationToken::new();
        let flight = Flight {
            run,
            waits,
            cancel: cancel.clone(),
            waits_for_room: false,
            allotted: 0.0,
            edit: None,
            answer: None,
            consent: None,
            again: false,
            repeated: false,
            relay: None,
        };
        self.in_flight.insert(effect, flight);
        cancel
    }

    /// Notes that an effect has ended. After the last one that the agent waited for, it continues.
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

    /// Takes the calls whose results a person has changed after their models read them.
    pub fn take_past(&mut self) -> Vec<EffectId> {
        std::mem::take(&mut self.past)
    }

    /// Notes a person's edit, answer or repetition of an effect.
    pub fn apply_edit(&mut self, event: EditEvent) {
        let (EditEvent::CallEdited { effect, .. }
        | EditEvent::CallAnswered { effect, .. }
        | EditEvent::CallRepeated { effect, .. }) = &event;
        if matches!(event, EditEvent::CallEdited { past: true, .. }) {
            return self.past.push(effect.id);
        }
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

    /// Credits of the time that all running calls of a run may still take.
    pub fn allotted(&self, run: RunId) -> f64 {
        let flights = self.in_flight.values().filter(|flight| flight.run == run);
        flights.map(|flight| flight.allotted).sum()
    }

    /// The party that waits for an effect in flight.
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
        // A run is not live while it waits for an effect.
        let waits = |run: RunId| {
            self.in_flight.values().any(|it| it.run == run && it.waits == Waits::Agent)
        };
        let runs = self
            .runs
            .iter()
            .filter(move |(run, lane)| lane.is_at_work && !lane.awaits_verdicts && !waits(**run));
        let runs = runs.map(|(run, _)| Lane::Run(*run));
        runs.chain(self.in_flight.keys().copied().map(Lane::Effect))
    }

    /// The live lanes that belong to the work of a run.
    pub fn at_work(&self) -> impl Iterator<Item = Lane> {
        self.live().filter(|lane| !self.is_by_hand(*lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_made_goes_on_when_the_agent_has_nothing_to_do() {
        let mut lanes = Lanes::default();
        lanes.open(RunId::FIRST);
        for (id, waits) in [(1, Waits::Agent), (2, Waits::Person), (3, Waits::Nobody)] {
            lanes.enter(EffectId(id), RunId::FIRST, waits);
        }
        lanes.close(RunId::FIRST);
        assert_eq!(lanes.at_work().count(), 0);
        assert_eq!(lanes.in_flight.keys().collect::<Vec<_>>(), [&EffectId(2)]);
    }

    #[test]
    fn room_is_given_in_the_order_of_requests() {
        let mut lanes = Lanes::default();
        for id in [3, 1, 2] {
            lanes.enter(EffectId(id), RunId::FIRST, Waits::Agent);
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
