//! The plan: how often each tool may be used.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{knapsack, reduce, scale::Units};

/// A tool that a plan may use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Credits for one use, at least 0.
    pub cost: f64,
    /// The value of one use, at least 0: v(q, t) of equation 3.
    pub value: f64,
    /// The most uses that make sense: F of equation 4.
    pub limit: u32,
}

/// How often each tool may be used, with the total value and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsePlan {
    /// The uses in the order of the candidates.
    pub uses: Vec<u32>,
    /// Value of all uses together, rounded to 12 digits so that a sum of decimals reads like one.
    pub value: f64,
    /// Credits for all uses together; never more than the budget.
    pub cost: f64,
    /// At most this part of the best plan's value is missing, more than 0 and at most 1. `None`: no plan is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

/// An invalid number in the input of a plan.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BadInput {
    /// `candidate` counts from 0.
    #[error("candidate {candidate}: its {field} is {number}; expected a finite number, at least 0")]
    Candidate { candidate: usize, field: CandidateField, number: f64 },
    #[error("the budget is {0}; expected a finite number of credits, at least 0")]
    Budget(f64),
}

/// A number of a [`Candidate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateField {
    Cost,
    Value,
}

impl fmt::Display for CandidateField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CandidateField::Cost => "cost",
            CandidateField::Value => "value",
        })
    }
}

/// The most valuable plan within a budget in credits (algorithm 1). Of plans with equal value the
/// cheapest, and of those with equal cost the one that uses the first tool most, then the second,
/// and so on. A free tool is planned up to its limit.
///
/// Values count to 12 digits of the largest. Costs of up to 9 decimals are exact; finer ones are
/// rounded up and the budget down as in appendix A.1, by less than 2⁻⁵⁹ of the budget for each use.
///
/// The work is bounded, some hundredths of a second for 16,000 tools. If the best plan would take longer, this is the
/// best one that was found, with its [`gap`](UsePlan::gap). If so many plans are equal that finding the first takes
/// longer, it may be another one of them, without a gap.
///
/// # Errors
/// Names the first number that is negative, infinite or not a number.
pub fn plan(candidates: &[Candidate], budget: f64) -> Result<UsePlan, BadInput> {
    check(candidates, budget)?;
    Ok(Problem::new(candidates, budget).plan(budget))
}

pub(super) fn check(candidates: &[Candidate], budget: f64) -> Result<(), BadInput> {
    let good = |number: f64| number.is_finite() && number >= 0.0;
    for (at, one) in candidates.iter().enumerate() {
        for (field, number) in
            [(CandidateField::Cost, one.cost), (CandidateField::Value, one.value)]
        {
            if !good(number) {
                return Err(BadInput::Candidate { candidate: at, field, number });
            }
        }
    }
    if good(budget) { Ok(()) } else { Err(BadInput::Budget(budget)) }
}

/// Candidates in whole numbers, for plans with any budget up to the one that they were scaled for.
pub(super) struct Problem<'c> {
    candidates: &'c [Candidate],
    /// Indexes of the candidates with a positive cost and value.
    open: Vec<usize>,
    /// The units of the open candidates, in their order.
    units: Units,
    /// Credits for all uses of all open candidates.
    everything: f64,
}

impl<'c> Problem<'c> {
    /// `most` is the largest budget of later calls, in credits.
    pub(super) fn new(candidates: &'c [Candidate], most: f64) -> Self {
        let is_open = |one: &Candidate| one.cost > 0.0 && one.value > 0.0 && one.limit > 0;
        let places = candidates.iter().enumerate();
        let open: Vec<usize> =
            places.filter(|(_, one)| is_open(one) && one.cost <= most).map(|(at, _)| at).collect();
        let chosen: Vec<Candidate> = open.iter().map(|&at| candidates[at]).collect();
        let everything = chosen.iter().map(|one| one.cost * f64::from(one.limit)).sum();
        Self { candidates, open, units: Units::new(&chosen, most, everything), everything }
    }

    pub(super) fn plan(&self, budget: f64) -> UsePlan {
        // A sum of this many costs may be slightly off.
        if self.everything * (1.0 + 1e-9) <= budget {
            let limits = self.units.items.iter().map(|item| item.high);
            return self.finished(limits, budget);
        }
        let (uses, bound) = knapsack::most_value(&self.units.items, self.units.of_budget(budget));
        let missing = bound.map(|bound| bound - reduce::worth(&self.units.items, &uses));
        let plan = self.finished(uses.into_iter(), budget);
        let gap = missing.map(|missing| {
            let missing = self.units.value(missing);
            rounded_up(missing / (plan.value + missing))
        });
        UsePlan { gap, ..plan }
    }

    /// The cheapest plan that is worth more than `now`, the plan of this budget; ties as in [`plan`]. If that takes too
    /// long, the cheapest one that was found. With its cost in credits; `None` if the units are too coarse.
    pub(super) fn next(&self, now: &UsePlan, budget: f64) -> Option<(f64, UsePlan)> {
        let items = &self.units.items;
        let mut uses: Vec<u64> = self.open.iter().map(|&at| u64::from(now.uses[at])).collect();
        let (above, least) = (self.units.of_budget(budget), reduce::worth(items, &uses) + 1);
        // One more use of any of these tools is worth more.
        let wanted = (0..items.len()).filter(|&at| uses[at] < items[at].high);
        let cheapest = wanted.min_by_key(|&at| items[at].cost)?;
        uses[cheapest] += 1;
        let most = reduce::cost(items, &uses);
        if most <= above {
            return None;
        }
        let best = knapsack::least_cost(items, least, above..=most);
        let best = best.filter(|best| reduce::cost(items, best) > above).unwrap_or(uses);
        let cost = self.units.credits(reduce::cost(items, &best));
        Some((cost, self.finished(best.into_iter(), cost.max(budget))))
    }

    /// The plan with these uses of each open candidate.
    fn finished(&self, open: impl Iterator<Item = u64>, budget: f64) -> UsePlan {
        let free = |one: &Candidate| if one.cost == 0.0 { one.limit } else { 0 };
        let mut uses: Vec<u32> = self.candidates.iter().map(free).collect();
        for (&at, planned) in self.open.iter().zip(open) {
            // At most the limit, which fits.
            uses[at] = u32::try_from(planned).unwrap_or(u32::MAX);
        }
        let (value, cost) = (self.value(&uses), self.cost(&uses).min(budget));
        UsePlan { uses, value, cost, gap: None }
    }

    fn value(&self, uses: &[u32]) -> f64 {
        let each = self.candidates.iter().zip(uses).map(|(one, &n)| one.value * f64::from(n));
        rounded(each.sum())
    }

    /// Sums whole units where they are exact, so that 0.1 and 0.2 come to 0.3.
    fn cost(&self, uses: &[u32]) -> f64 {
        let of = |at: usize| self.candidates[at].cost * f64::from(uses[at]);
        self.units
            .to_credits(self.open.iter().map(|&at| uses[at]))
            .unwrap_or_else(|| self.open.iter().map(|&at| of(at)).sum())
    }
}

/// Rounds to 12 digits.
pub(super) fn rounded(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number).min(f64::MAX)
}

/// The difference of two numbers, in the digits that both of them have.
pub(super) fn difference(more: f64, less: f64) -> f64 {
    let largest = more.abs().max(less.abs());
    if largest == 0.0 || !largest.is_finite() {
        return rounded(more - less);
    }
    let unit = 10_f64.powf(largest.log10().ceil() - 12.0);
    rounded(((more - less) / unit).round() * unit)
}

/// Rounds up to two digits. Values of 12 digits carry no information below the least number here.
fn rounded_up(part: f64) -> f64 {
    let digit = 10_f64.powf(part.max(1e-9).log10().floor() - 1.0);
    rounded(((part / digit).floor() + 1.0) * digit).min(1.0)
}
