//! A sweep: a knob tried at several values beside the session, by copies that go on from where it stands.

use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::{Lap, State};
use crate::papers::resilience::Means;
use crate::papers::sweep::{self, Best, Measure, Scope};

/// Progress of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepNews {
    /// A task was done with the value at this index.
    Lap(usize, Lap),
    Ended,
    Failed(String),
}

/// The sweep as the screen knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    pub scope: Scope,
    /// The tasks that each value has done.
    pub runs: Vec<Vec<Lap>>,
    /// Whether the sweep runs no more.
    pub over: bool,
}

impl Sweep {
    pub fn new(scope: Scope) -> Self {
        let runs = vec![Vec::new(); scope.values.len()];
        Self { scope, runs, over: false }
    }

    /// The index of the value being tried, and the number of tasks that it has done.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let all = self.scope.tasks.len();
        let at = self.runs.iter().position(|laps| laps.len() < all).filter(|_| !self.over)?;
        Some((at, self.runs[at].len()))
    }

    /// The share of right answers for the value at this index, once all its tasks are done.
    pub fn right_share(&self, at: usize) -> Option<f64> {
        let laps: Vec<_> = self.runs[at].iter().collect();
        let is_done = laps.len() == self.scope.tasks.len();
        is_done.then(|| Means::of(&laps).right_share()).flatten()
    }

    /// The best values, once all are known.
    pub fn best(&self, measure: Measure) -> Option<Best> {
        sweep::best(&self.scope, &self.runs, measure)
    }

    /// The value to set the knob to, if it is better than the present one.
    pub fn better(&self, state: &State, measure: Measure) -> Option<f64> {
        let best = self.best(measure)?;
        let now = state.knobs.get(self.scope.knob);
        let is_among = best.places.iter().any(|place| self.scope.values[*place] == now);
        (!is_among).then(|| self.scope.values[best.pick])
    }
}

/// Starts a sweep of the session in this state.
pub type StartSweep =
    Box<dyn FnMut(&Scope, &State) -> Result<UnboundedReceiver<SweepNews>, String> + Send>;
