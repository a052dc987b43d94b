//! The current lanes: the agent between its effects, and every effect in flight.

use std::collections::BTreeSet;

use crate::domain::{EffectId, Lane};

/// The lanes that can reach a boundary, and the one that a step releases.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    is_at_work: bool,
    /// The number of effects that the agent waits for; it rests while there are any.
    awaited: usize,
    effects: BTreeSet<EffectId>,
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
        *self = Self { granted: self.granted, ..Self::default() };
    }

    /// An effect was requested; the agent may wait for it.
    pub fn enter(&mut self, effect: EffectId, is_awaited: bool) {
        self.effects.insert(effect);
        self.awaited += usize::from(is_awaited);
    }

    /// An effect has ended. After the last one that it waited for, the agent continues.
    pub fn leave(&mut self, effect: EffectId, is_awaited: bool) {
        self.effects.remove(&effect);
        self.awaited = self.awaited.saturating_sub(usize::from(is_awaited));
    }

    /// The lanes that can reach a boundary.
    pub fn live(&self) -> impl Iterator<Item = Lane> {
        let agent = (self.is_at_work && self.awaited == 0).then_some(Lane::Agent);
        agent.into_iter().chain(self.effects.iter().copied().map(Lane::Effect))
    }
}
