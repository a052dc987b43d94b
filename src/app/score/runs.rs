//! The runs of a score: each seed without faults, and then with each fault of the suite.

use super::ScoredRun;
use crate::domain::FaultSpec;
use crate::fault_search::{ScenarioTrials, TrialError, TrialRun};

/// The number of a seed behind the first one, the kind of fault and the fault in words, and the fault, if there is one.
pub type PlannedRun = (u64, [String; 2], Option<FaultSpec>);

/// Runs all of these, several at once.
///
/// # Errors
/// A session cannot run, or the runs are to end.
pub fn run(
    trials: &ScenarioTrials<'_>,
    runs: &[PlannedRun],
) -> Result<Vec<(ScoredRun, TrialRun)>, TrialError> {
    let one = |at: usize| {
        let (apart, names, fault) = &runs[at];
        let ran = trials.run(fault.as_slice(), *apart)?;
        let (tasks, sums) = (ran.tasks.max(1) as f64, &ran.sums);
        let known = [
            ("tool calls", Some(sums.calls() as f64)),
            ("tokens", Some(sums.tokens as f64)),
            ("credits", Some(sums.credits)),
            ("dollars", (!sums.is_unpriced).then_some(sums.dollars)),
        ];
        let price = known.into_iter().filter_map(|(measure, sum)| Some((measure, sum? / tasks)));
        let scored = ScoredRun {
            seed: trials.seed.wrapping_add(*apart),
            names: names.clone(),
            passed: ran.seen.passed,
            price: price.collect(),
        };
        Ok((scored, ran))
    };
    let mut done = Vec::new();
    trials.runner.each(runs.len(), one, |ran| {
        (trials.tell)(1);
        done.push(ran);
    })?;
    Ok(done)
}
