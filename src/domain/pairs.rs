//! Results per planner/solver pair over all sessions, so that a person can choose models (the paper
//! on concurrent workers, table 4). Without a planner, the pair is the one model that acts.

use serde::{Deserialize, Serialize};

use crate::finite::Finite;
use crate::{id::ModelName, strategy::Strategy};

/// A model in a role, as it was configured at the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    pub model: ModelName,
    /// Where it ran, for people. The same name with another source is another player.
    pub source: String,
    pub simulated: bool,
}

/// The models of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    pub strategy: Strategy,
    /// `None` without a planner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<Player>,
    /// The model that wrote the answer: the solver, or without a planner the actor.
    pub solver: Player,
}

/// Results of a pair's tasks. Failed tasks count as wrong, at their actual cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairTally {
    #[serde(flatten)]
    pub pair: Pair,
    pub tasks: u64,
    /// Tasks with a known right answer.
    pub with_gold: u64,
    pub correct: u64,
    /// Tokens of all roles together.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Plans and the answer with a planner, else decisions.
    pub steps: u64,
    /// US dollars, without calls of unknown price; `None` if an earlier version could not count an amount that large.
    #[serde(default)]
    pub dollars: Option<Finite>,
    /// Tasks with any call of unknown price; if above 0, `dollars` is a lower bound.
    pub unpriced: u64,
}

/// The cost of 1,000 tasks, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    Known(f64),
    /// The price of some calls is unknown.
    AtLeast(f64),
    Unknown,
}

impl Pair {
    /// Whether any role was played by the built-in simulated model, which is not a language model.
    pub fn is_simulated(&self) -> bool {
        self.solver.simulated || self.planner.as_ref().is_some_and(|planner| planner.simulated)
    }
}

impl PairTally {
    /// The share of right answers from 0 to 1, among tasks with a known right answer.
    pub fn accuracy(&self) -> Option<f64> {
        (self.with_gold > 0).then(|| self.correct as f64 / self.with_gold as f64)
    }

    /// Tokens per task on average, in and out together.
    pub fn tokens(&self) -> f64 {
        self.tokens_in.saturating_add(self.tokens_out) as f64 / self.tasks.max(1) as f64
    }

    /// Steps per task on average.
    pub fn steps(&self) -> f64 {
        self.steps as f64 / self.tasks.max(1) as f64
    }

    pub fn cost(&self) -> Cost {
        let Some(dollars) = self.dollars else { return Cost::Unknown };
        let dollars = 1000.0 * dollars / self.tasks.max(1) as f64;
        match self.unpriced {
            0 => Cost::Known(dollars),
            _ if dollars == 0.0 => Cost::Unknown,
            _ => Cost::AtLeast(dollars),
        }
    }

    fn add(&mut self, more: &PairTally) {
        self.tasks = self.tasks.saturating_add(more.tasks);
        self.with_gold = self.with_gold.saturating_add(more.with_gold);
        self.correct = self.correct.saturating_add(more.correct);
        self.tokens_in = self.tokens_in.saturating_add(more.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(more.tokens_out);
        self.steps = self.steps.saturating_add(more.steps);
        let both = self.dollars.zip(more.dollars);
        self.dollars = both.map(|(one, other)| (one + other).into());
        self.unpriced = self.unpriced.saturating_add(more.unpriced);
    }
}

/// All pairs that were tried, in order of their first task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pairs(Vec<PairTally>);

impl Pairs {
    pub fn all(&self) -> &[PairTally] {
        &self.0
    }

    /// Adds the results of more tasks.
    pub fn add(&mut self, more: &PairTally) {
        match self.0.iter_mut().find(|tally| tally.pair == more.pair) {
            Some(tally) => tally.add(more),
            None => self.0.push(more.clone()),
        }
    }

    /// The highest accuracy, and the lowest cost among pairs whose cost is fully known.
    pub fn best(&self) -> (Option<f64>, Option<f64>) {
        let accuracy = self.0.iter().filter_map(PairTally::accuracy).max_by(f64::total_cmp);
        let costs = self.0.iter().filter_map(|tally| match tally.cost() {
            Cost::Known(dollars) => Some(dollars),
            Cost::AtLeast(_) | Cost::Unknown => None,
        });
        (accuracy, costs.min_by(f64::total_cmp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Base;

    fn player(model: &str) -> Player {
        Player { model: model.into(), source: "there".to_owned(), simulated: false }
    }

    fn one(planner: &str, correct: bool, dollars: Option<f64>) -> PairTally {
        let pair = Pair {
            strategy: Base::Workers.into(),
            planner: Some(player(planner)),
            solver: player("big"),
        };
        PairTally {
            pair,
            tasks: 1,
            with_gold: 1,
            correct: u64::from(correct),
            tokens_in: 900,
            tokens_out: 100,
            steps: 4,
            dollars: Some(dollars.map(Into::into).unwrap_or_default()),
            unpriced: u64::from(dollars.is_none()),
        }
    }

    #[test]
    fn tasks_are_averaged_and_a_failed_one_counts() {
        let mut pairs = Pairs::default();
        for tally in [
            one("small", true, Some(0.002)),
            one("small", false, Some(0.004)),
            one("big", true, Some(0.01)),
        ] {
            pairs.add(&tally);
        }
        let [small, big] = pairs.all() else { panic!("two pairs") };
        assert_eq!((small.tasks, small.accuracy()), (2, Some(0.5)));
        assert_eq!((small.tokens(), small.steps()), (1000.0, 4.0));
        assert_eq!((small.cost(), big.cost()), (Cost::Known(3.0), Cost::Known(10.0)));
        assert_eq!(pairs.best(), (Some(1.0), Some(3.0)));
    }

    #[test]
    fn a_sum_that_was_too_large_to_write_is_unknown() {
        let whole = serde_json::to_string(&one("small", true, Some(0.5))).unwrap();
        let old = whole.replace("\"dollars\":0.5", "\"dollars\":null");
        let mut old: PairTally = serde_json::from_str(&old).unwrap();
        assert_eq!((old.dollars, old.cost()), (None, Cost::Unknown));
        old.add(&one("small", true, Some(0.5)));
        assert_eq!((old.tasks, old.cost()), (2, Cost::Unknown));
    }

    #[test]
    fn what_has_no_price_is_never_the_cheapest() {
        let mut pairs = Pairs::default();
        pairs.add(&one("free?", true, None));
        assert_eq!((pairs.all()[0].cost(), pairs.best()), (Cost::Unknown, (Some(1.0), None)));
        pairs.add(&one("free?", true, Some(0.002)));
        assert_eq!((pairs.all()[0].cost(), pairs.best().1), (Cost::AtLeast(1.0), None));
    }

    #[test]
    fn a_name_that_means_another_model_is_another_pair() {
        let (mut pairs, first) = (Pairs::default(), one("mine", true, None));
        let mut other = first.clone();
        other.pair.solver.source = "elsewhere".to_owned();
        pairs.add(&first);
        pairs.add(&other);
        assert_eq!(pairs.all().len(), 2);
    }
}
