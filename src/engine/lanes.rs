//! Which lines of work there are at this moment.

use std::collections::BTreeSet;

use crate::domain::{event::Lane, id::EffectId};

/// Which lanes there are, and which one a step lets go on.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Lanes that can come to a boundary. The agent's own lane rests while its calls run.
    pub live: BTreeSet<Lane>,
    /// The lane that a step released; it may pass once.
    pub granted: Option<Lane>,
}

impl Lanes {
    /// The agent begins to work on something.
    pub fn open(&mut self) {
        self.live.insert(Lane::Agent);
    }

    /// The agent has nothing to do.
    pub fn close(&mut self) {
        self.live.clear();
    }

    /// The agent rests while these calls run, beside those that run already.
    pub fn branch(&mut self, calls: &[EffectId]) {
        if !calls.is_empty() {
            self.live.remove(&Lane::Agent);
            self.live.extend(calls.iter().copied().map(Lane::Call));
        }
    }

    /// The agent asks a model, perhaps beside calls that run.
    pub fn ask(&mut self) {
        self.live.insert(Lane::Agent);
    }

    /// It has asked, and rests again if calls still run.
    pub fn asked(&mut self) {
        if self.live.len() > 1 {
            self.live.remove(&Lane::Agent);
        }
    }
}
