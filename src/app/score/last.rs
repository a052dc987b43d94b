//! The comparison with the last run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ScoreReport, tally::interval_of};
use crate::papers::noise::{Difference, clear};

/// The parts of an earlier report that a comparison needs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LastScore {
    suite: String,
    test: String,
    seeds: BTreeMap<u64, Option<f64>>,
}

/// Points of a score more than those of the last run, seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreChange {
    pub points: f64,
    /// The interval of 95 %; `None` where the spread between seeds is unknown.
    pub interval: Option<(f64, f64)>,
    /// The seeds that count in both.
    pub seeds: usize,
    /// Whether it is more than chance.
    pub is_clear: bool,
}

impl LastScore {
    /// The change since then.
    ///
    /// # Errors
    /// The reason why the two cannot be compared.
    pub fn change(&self, now: &ScoreReport) -> Result<ScoreChange, String> {
        if self.suite != now.suite {
            return Err(format!("it is by {}", self.suite));
        }
        if self.test != now.test {
            return Err("its scenario has other tasks, faults or expectations".to_owned());
        }
        let seeds = &now.score.seeds;
        if !self.seeds.keys().eq(seeds.keys()) {
            return Err("it has other seeds".to_owned());
        }
        let pairs = self.seeds.values().zip(seeds.values());
        let all = Difference::over(pairs.filter_map(|(was, is)| Some((*is)? - (*was)?)));
        if all.pairs == 0 {
            return Err("no seed passes without faults in both".to_owned());
        }
        let interval = interval_of(all);
        let is_clear = clear(&[all]) == [true];
        Ok(ScoreChange { points: all.mean, interval, seeds: all.pairs, is_clear })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{ResilienceScore, ScoredRun};

    fn report(passes: &[bool]) -> ScoreReport {
        let run = |seed: usize, passed| {
            let names = ["error", "a:error"].map(str::to_owned);
            ScoredRun { seed: seed as u64, names, passed, price: Default::default() }
        };
        let alone: Vec<_> = (0..passes.len()).map(|seed| run(seed, true)).collect();
        let hit: Vec<_> =
            passes.iter().enumerate().map(|(seed, passed)| run(seed, *passed)).collect();
        ScoreReport {
            suite: "resilience-1".to_owned(),
            scenario: "s".to_owned(),
            test: "t".to_owned(),
            simulated: false,
            not_hit: 0,
            score: ResilienceScore::of(&alone, &hit),
            since: None,
        }
    }

    fn last(report: &ScoreReport) -> LastScore {
        serde_json::from_str(&serde_json::to_string(report).unwrap()).unwrap()
    }

    #[test]
    fn a_change_is_that_of_the_number_and_only_what_is_alike_is_compared() {
        let (was, now) = (report(&[false, false, true]), report(&[true, true, true]));
        let change = last(&was).change(&now).unwrap();
        assert!((change.points - (100.0 - 100.0 / 3.0)).abs() < 1e-9, "{change:?}");
        assert!(!change.is_clear && change.seeds == 3, "{change:?}");
        let worse = last(&now).change(&report(&[false, false, false])).unwrap();
        assert!(worse.is_clear && worse.points == -100.0 && worse.interval.is_none(), "{worse:?}");
        for (why, other) in [
            ("it is by resilience-2", LastScore { suite: "resilience-2".to_owned(), ..last(&was) }),
            ("its scenario has other", LastScore { test: "u".to_owned(), ..last(&was) }),
            ("it has other seeds", last(&report(&[true, true]))),
        ] {
            assert!(other.change(&now).unwrap_err().starts_with(why), "{why}");
        }
    }
}
