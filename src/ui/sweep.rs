//! A sweep: a knob tried at several values beside the session, by copies that go on from where it stands.

use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::{Lap, State};
use crate::papers::noise::Difference;
use crate::papers::resilience::Means;
use crate::papers::sweep::{self, Best, Measure, SEEDS, Scope};

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
    /// The tasks that each value has done, seed by seed.
    pub runs: Vec<Vec<Lap>>,
    /// Whether the sweep runs no more.
    pub over: bool,
}

impl Sweep {
    pub fn new(scope: Scope) -> Self {
        let runs = vec![Vec::new(); scope.values.len()];
        Self { scope, runs, over: false }
    }

    /// The seed and the value being tried, from 0, and the number of tasks done with both.
    pub fn progress(&self) -> Option<[usize; 3]> {
        let all = self.scope.tasks.len();
        let seed = self.runs.iter().map(|laps| laps.len() / all.max(1)).min()?;
        let at = self.runs.iter().position(|laps| laps.len() < (seed + 1) * all)?;
        (!self.over && seed < SEEDS).then(|| [seed, at, self.runs[at].len() - seed * all])
    }

    /// The means of the value at this index, over the seeds that are done.
    pub fn means(&self, at: usize) -> Option<Means> {
        let all = self.scope.tasks.len().max(1);
        let laps = &self.runs[at];
        let done: Vec<_> = laps.iter().take(laps.len() / all * all).collect();
        (!done.is_empty()).then(|| Means::of(&done))
    }

    /// The 95 % interval of that mean over the seeds that are done; `None` for one seed.
    pub fn interval(&self, at: usize, measure: Measure) -> Option<(f64, f64)> {
        let all = self.scope.tasks.len().max(1);
        let seeds = self.runs[at].chunks_exact(all);
        let mean = |laps: &[Lap]| measure.mean(&Means::of(&laps.iter().collect::<Vec<_>>()));
        Difference::over(seeds.map(mean)).interval()
    }

    /// The result, once all is known.
    pub fn best(&self, measure: Measure) -> Option<Best> {
        sweep::best(&self.scope, &self.runs, measure)
    }

    /// The value to set the knob to: clearly better than that at the start of the sweep.
    pub fn better(&self, state: &State, measure: Measure) -> Option<f64> {
        let (place, _) = self.best(measure)?.better?;
        let value = self.scope.values[place];
        (value != state.knobs.get(self.scope.knob)).then_some(value)
    }
}

/// Starts a sweep of the session in this state.
pub type StartSweep =
    Box<dyn FnMut(&Scope, &State) -> Result<UnboundedReceiver<SweepNews>, String> + Send>;
