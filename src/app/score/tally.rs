//! The arithmetic of a score: from the ends of runs to one number and its parts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::papers::noise::Difference;
use crate::papers::share::{interval, of_clusters};

/// The price of a task, on average: each of [`MEASURES`] that is known.
pub type RunPrice = BTreeMap<&'static str, f64>;

pub const MEASURES: [&str; 4] = ["tool calls", "tokens", "credits", "dollars"];

/// A run that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredRun {
    pub seed: u64,
    /// The kind of fault and the fault that hit it; empty without faults.
    pub names: [String; 2],
    /// Whether all expectations were met.
    pub passed: bool,
    pub price: RunPrice,
}

/// The runs that passed, among some.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunShare {
    pub passed: usize,
    pub runs: usize,
    /// The interval of 95 %, from 0 to 1; `None` where the spread between seeds is unknown.
    pub interval: Option<(f64, f64)>,
    /// The two numbers for each seed that counts.
    pub by_seed: Vec<(usize, usize)>,
}

/// The part of a kind of fault, or of one fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartScore {
    pub name: String,
    /// Of the runs that it hit, and whose seed passes without faults, those that passed.
    pub recovered: RunShare,
    /// The price of the runs that it hit, and of the same seeds without faults.
    pub with: RunPrice,
    pub without: RunPrice,
}

/// The number and its parts: 100 times the mean, over the kinds of fault, of the share that recovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResilienceScore {
    /// From 0 to 100; `None` if no run counts.
    pub score: Option<f64>,
    /// The interval of 95 %: Student's t over the values of the seeds. `None` where their spread is unknown.
    pub interval: Option<(f64, f64)>,
    pub without: RunShare,
    pub with: RunShare,
    pub all: PartScore,
    pub kinds: Vec<PartScore>,
    /// Each fault, first those from which fewest runs recovered.
    pub faults: Vec<PartScore>,
    /// The value of each seed, whose mean is the score; `None` if the seed fails without faults.
    pub seeds: BTreeMap<u64, Option<f64>>,
}

impl ResilienceScore {
    /// The score of these runs: one for each seed without faults, and those that a fault hit.
    pub fn of(alone: &[ScoredRun], hit: &[ScoredRun]) -> Self {
        let passing: Vec<_> = alone.iter().filter(|run| run.passed).cloned().collect();
        let part = |name: &str, own: &[&ScoredRun]| {
            let beside = own.iter().filter_map(|run| alone.iter().find(|it| it.seed == run.seed));
            PartScore {
                name: name.to_owned(),
                recovered: RunShare::of(own, &passing),
                with: mean(own),
                without: mean(&beside.collect::<Vec<_>>()),
            }
        };
        let parts = |at: usize| -> Vec<PartScore> {
            let mut groups: Vec<(&str, Vec<&ScoredRun>)> = Vec::new();
            for run in hit {
                match groups.iter_mut().find(|group| group.0 == run.names[at]) {
                    Some(group) => group.1.push(run),
                    None => groups.push((&run.names[at], vec![run])),
                }
            }
            groups.iter().map(|(name, own)| part(name, own)).collect()
        };
        let (kinds, mut faults) = (parts(0), parts(1));
        let rank = |fault: &PartScore| fault.recovered.share().unwrap_or(f64::INFINITY);
        faults.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let shares = kinds.iter().filter_map(|kind| of_clusters(&kind.recovered.by_seed));
        let shares: Vec<Vec<f64>> = shares.collect();
        let value = |at| {
            let sum: f64 = shares.iter().map(|kind| kind[at]).sum();
            (!shares.is_empty()).then_some(100.0 * sum / shares.len() as f64)
        };
        let at = |run: &ScoredRun| passing.iter().position(|it| it.seed == run.seed);
        let seeds: BTreeMap<_, _> =
            alone.iter().map(|run| (run.seed, at(run).and_then(value))).collect();
        let all = Difference::over(seeds.values().copied().flatten());
        let hit: Vec<&ScoredRun> = hit.iter().collect();
        Self {
            score: (all.pairs > 0).then_some(all.mean),
            interval: interval_of(all).map(|it| within(100.0, it)),
            without: RunShare::of(&alone.iter().collect::<Vec<_>>(), alone),
            with: RunShare::of(&hit, alone),
            all: part("all kinds", &hit),
            kinds,
            faults,
            seeds,
        }
    }
}

impl RunShare {
    /// Runs of these seeds. Those of one seed are not independent.
    fn of(runs: &[&ScoredRun], seeds: &[ScoredRun]) -> Self {
        let of_seed = |seed: &ScoredRun| {
            let own = runs.iter().filter(|run| run.seed == seed.seed);
            (own.clone().filter(|run| run.passed).count(), own.count())
        };
        let by_seed: Vec<_> = seeds.iter().map(of_seed).collect();
        let (passed, runs) = by_seed.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let interval = match by_seed.iter().all(|seed| seed.1 <= 1) {
            true => (runs > 0).then(|| interval(passed, runs)),
            false => interval_of(Difference::over(of_clusters(&by_seed).unwrap_or_default()))
                .map(|it| within(1.0, it)),
        };
        Self { passed, runs, interval, by_seed }
    }

    /// From 0 to 1; `None` without runs.
    pub fn share(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.passed as f64 / self.runs as f64)
    }
}

/// The interval of 95 %; `None` where the spread is unknown: of one value, or of values that are all equal.
pub(super) fn interval_of(all: Difference) -> Option<(f64, f64)> {
    all.interval().filter(|(low, high)| high - low > 1e-9)
}

/// The part of an interval from 0 to this number.
fn within(most: f64, interval: (f64, f64)) -> (f64, f64) {
    (interval.0.max(0.0), interval.1.min(most))
}

fn mean(runs: &[&ScoredRun]) -> RunPrice {
    let mean = |measure: &&'static str| {
        let sum: Option<f64> = runs.iter().map(|run| run.price.get(*measure).copied()).sum();
        Some((*measure, sum? / runs.len().max(1) as f64))
    };
    MEASURES.iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(seed: u64, kind: &str, fault: usize, passed: bool) -> ScoredRun {
        let price = [("tool calls", if kind.is_empty() { 1.0 } else { 3.0 })].into();
        ScoredRun { seed, names: [kind.to_owned(), format!("{kind} {fault}")], passed, price }
    }

    fn alone(passed: &[bool]) -> Vec<ScoredRun> {
        (0..).zip(passed).map(|(seed, passed)| run(seed, "", 0, *passed)).collect()
    }

    #[test]
    fn each_kind_weighs_the_same_and_a_seed_that_fails_alone_does_not_count() {
        let hit = [
            run(0, "a", 1, true),
            run(0, "a", 2, true),
            run(0, "b", 1, false),
            run(1, "a", 1, true),
            run(1, "a", 2, false),
            run(1, "b", 1, true),
            run(2, "b", 1, false),
        ];
        let score = ResilienceScore::of(&alone(&[true, true, false]), &hit);
        // Of a 3 of 4 recovered, of b 1 of 2.
        assert_eq!(score.score, Some(62.5));
        assert_eq!(score.seeds, [(0, Some(50.0)), (1, Some(75.0)), (2, None)].into());
        assert_eq!((score.all.recovered.passed, score.all.recovered.runs), (4, 6));
        assert_eq!((score.with.passed, score.with.runs), (4, 7));
        assert_eq!((score.without.passed, score.without.runs), (2, 3));
        assert_eq!(score.without.interval, Some(interval(2, 3)));
        // Two seeds: 12.5 points of error, and a bound of 12.7 errors.
        assert_eq!(score.interval, Some((0.0, 100.0)));
        assert_eq!(score.kinds[0].recovered.by_seed, [(2, 2), (1, 2)]);
        let faults = score.faults.iter().map(|fault| (fault.name.as_str(), fault.recovered.passed));
        assert_eq!(faults.collect::<Vec<_>>(), [("a 2", 1), ("b 1", 1), ("a 1", 2)]);
        assert_eq!(score.all.with, [("tool calls", 3.0)].into());
        assert_eq!(score.all.without, [("tool calls", 1.0)].into());
    }

    #[test]
    fn without_a_run_that_counts_there_is_no_score_and_with_one_seed_no_interval() {
        let score = ResilienceScore::of(&alone(&[true]), &[]);
        assert_eq!((score.score, score.interval, score.kinds.len()), (None, None, 0));
        let score = ResilienceScore::of(&alone(&[false]), &[run(0, "a", 1, true)]);
        assert_eq!((score.score, score.seeds), (None, [(0, None)].into()));
        let score = ResilienceScore::of(&alone(&[true]), &[run(0, "a", 1, true)]);
        assert_eq!((score.score, score.interval), (Some(100.0), None));
    }

    #[test]
    fn a_price_that_one_run_does_not_know_is_unknown() {
        let known = run(0, "a", 1, true);
        let unknown = ScoredRun { price: RunPrice::new(), ..known.clone() };
        assert_eq!(mean(&[&known, &known]), known.price);
        assert!(mean(&[&known, &unknown]).is_empty());
    }

    proptest! {
        #[test]
        fn the_number_is_the_mean_of_its_kinds_and_lies_in_its_interval(
            passed in prop::collection::vec(any::<bool>(), 1..6),
            ends in prop::collection::vec((0_u64..6, 0_usize..4, 0_usize..3, any::<bool>()), 0..60),
        ) {
            let kinds = ["a", "b", "c", "d"];
            let of = |(seed, kind, fault, passed): &(u64, usize, usize, bool)| run(*seed, kinds[*kind], *fault, *passed);
            let mut hit: Vec<_> = ends.iter().map(of).filter(|run| run.seed < passed.len() as u64).collect();
            let score = ResilienceScore::of(&alone(&passed), &hit);
            let shares: Vec<_> =
                score.kinds.iter().filter_map(|kind| kind.recovered.share()).collect();
            prop_assert_eq!(score.score.is_some(), !shares.is_empty());
            if let Some(number) = score.score {
                prop_assert!((number - 100.0 * shares.iter().sum::<f64>() / shares.len() as f64).abs() < 1e-9);
                prop_assert!((-1e-9..=100.0 + 1e-9).contains(&number));
                let (low, high) = score.interval.unwrap_or((0.0, 100.0));
                prop_assert!(low <= number + 1e-9 && number - 1e-9 <= high);
            }
            hit.reverse();
            let again = ResilienceScore::of(&alone(&passed), &hit);
            prop_assert!((again.score.unwrap_or(-1.0) - score.score.unwrap_or(-1.0)).abs() < 1e-9);
        }
    }
}
