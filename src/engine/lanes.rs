//! Which lines of work there are at this moment.

use std::collections::BTreeSet;

use crate::{event::Lane, id::CallId};

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

    /// The agent rests while these calls run.
    pub fn branch(&mut self, calls: &[CallId]) {
        if !calls.is_empty() {
            self.live = calls.iter().copied().map(Lane::Call).collect();
        }
    }
}
