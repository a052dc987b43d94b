//! From a set of faults that fails to a smallest one: fewer faults, milder kinds, narrower triggers.

use super::{FaultSearch, FaultSet, Seen, Trials};
use crate::domain::FaultSpec;

/// A set of faults that fails, and passes without any one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Smallest {
    pub faults: Vec<FaultSpec>,
    /// The outcome with all of them.
    pub seen: Seen,
}

impl<T: Trials> FaultSearch<T> {
    /// A part of this set that fails, no fault of which can be left out. `fired`: the faults that hit a call.
    pub(super) fn shrunk(&mut self, set: FaultSet, fired: FaultSet) -> Result<FaultSet, T::Error> {
        // The runs that are left limit the search, not what is made of its result.
        let runs = std::mem::replace(&mut self.plan.runs, usize::MAX);
        let mut now = if self.fails(&fired)? { fired } else { set };
        loop {
            let before = now.len();
            for tool in now.clone().into_keys() {
                let mut less = now.clone();
                less.remove(&tool);
                if self.fails(&less)? {
                    now = less;
                }
            }
            if now.len() == before {
                self.plan.runs = runs;
                return Ok(now);
            }
        }
    }

    /// The set with the mildest kinds and the narrowest triggers under which it still fails.
    pub(super) fn smallest(&mut self, mut set: FaultSet) -> Result<Smallest, T::Error> {
        let runs = std::mem::replace(&mut self.plan.runs, usize::MAX);
        for (tool, kind) in set.clone() {
            for milder in 0..kind {
                let mut with = set.clone();
                with.insert(tool.clone(), milder);
                if self.fails(&with)? {
                    set = with;
                    break;
                }
            }
        }
        let mut faults = self.specs(&set);
        for at in 0..faults.len() {
            let mut with = faults.clone();
            // Only the first call is hit.
            with[at].trigger.nth = Some(1);
            if !self.outcome(&with)?.passed {
                faults = with;
            }
        }
        // Milder and narrower faults may need fewer of the others.
        let mut at = 0;
        while at < faults.len() && faults.len() > 1 {
            let mut less = faults.clone();
            less.remove(at);
            if self.outcome(&less)?.passed { at += 1 } else { (faults, at) = (less, 0) }
        }
        let seen = self.outcome(&faults)?;
        self.plan.runs = runs;
        Ok(Smallest { faults, seen })
    }

    fn fails(&mut self, set: &FaultSet) -> Result<bool, T::Error> {
        Ok(self.try_one(set)?.is_some_and(|seen| !seen.passed))
    }

    fn outcome(&mut self, faults: &[FaultSpec]) -> Result<Seen, T::Error> {
        self.made += 1;
        let outcomes = self.trials.outcomes(&[faults.to_vec()])?;
        Ok(outcomes.into_iter().next().unwrap_or_default())
    }
}
