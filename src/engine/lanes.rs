//! The current lanes: the agent between its effects, and every effect in flight.

use std::collections::BTreeMap;

use crate::domain::{EffectId, Lane};

/// Who waits for the end of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    Agent,
    /// It runs beside the agent.
    Nobody,
    /// A person made it: it is no part of the agent's work, and is not held with it.
    Person,
}

/// The lanes that can reach a boundary, and the one that a step releases.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    is_at_work: bool,
    /// The agent waits for verdicts, which effects beside it give.
    pub awaits_verdicts: bool,
    effects: BTreeMap<EffectId, Waits>,
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
        self.effects.retain(|_, waits| *waits == Waits::Person);
    }

    /// An effect was requested.
    pub fn enter(&mut self, effect: EffectId, waits: Waits) {
        self.effects.insert(effect, waits);
    }

    /// An effect has ended. After the last one that it waited for, the agent continues.
    pub fn leave(&mut self, effect: EffectId) {
        self.effects.remove(&effect);
    }

    /// Who waits for an effect in flight.
    pub fn waits(&self, effect: EffectId) -> Option<Waits> {
        self.effects.get(&effect).copied()
    }

    /// Whether a person made the effect of this lane.
    pub fn is_by_hand(&self, lane: Lane) -> bool {
        matches!(lane, Lane::Effect(effect) if self.waits(effect) == Some(Waits::Person))
    }

    /// The lanes that can reach a boundary.
    pub fn live(&self) -> impl Iterator<Item = Lane> {
        // The agent rests while it waits for an effect.
        let rests =
            self.awaits_verdicts || self.effects.values().any(|waits| *waits == Waits::Agent);
        let agent = (self.is_at_work && !rests).then_some(Lane::Agent);
        agent.into_iter().chain(self.effects.keys().copied().map(Lane::Effect))
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
        assert_eq!(lanes.effects, BTreeMap::from([(EffectId(2), Waits::Person)]));
    }
}
