//! The value of additional credits.

use serde::{Deserialize, Serialize};

use super::plan::{Problem, check, difference};
use super::{BadInput, Candidate, UsePlan};

/// The difference in one candidate's uses between two plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseChange {
    /// Counted from 0.
    pub candidate: usize,
    pub before: u32,
    pub after: u32,
}

/// The gain of a plan with more credits over the current plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginalStep {
    /// Credits above the budget.
    pub credits: f64,
    /// Increase of the plan's value.
    pub value: f64,
    /// Candidates with more or fewer uses; empty if the value does not rise.
    pub changes: Vec<UseChange>,
}

/// The value of additional credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// The gain from one additional credit.
    pub one: MarginalStep,
    /// The fewest credits that buy anything; `None` if nothing is left to buy.
    pub next: Option<MarginalStep>,
}

/// The gain from one more credit, and the smallest increase of the budget with any gain. `now` is the
/// [`plan`](super::plan()) of this budget. The value of a plan rises in steps, so the second number is often more
/// useful. If plans have a gap, fewer credits may also gain something.
///
/// This takes as long as two plans.
///
/// # Errors
/// As [`plan`](super::plan()).
pub fn marginal(
    candidates: &[Candidate],
    budget: f64,
    now: &UsePlan,
) -> Result<Marginal, BadInput> {
    check(candidates, budget)?;
    let Some(enough) = enough(candidates, now) else {
        return Ok(Marginal {
            one: MarginalStep { credits: 1.0, value: 0.0, changes: vec![] },
            next: None,
        });
    };
    let problem = Problem::new(candidates, budget + enough.max(1.0));
    let one = problem.plan(budget + 1.0);
    // Of two plans that are not the best, the cheaper one can be better.
    let one = step(1.0, now, if one.value > now.value { &one } else { now });
    let next = problem.next(now, budget);
    let next = next.map(|(cost, plan)| step(difference(cost, budget), now, &plan));
    Ok(Marginal { one, next })
}

/// Credits that certainly buy something: another use of a tool below its limit.
fn enough(candidates: &[Candidate], now: &UsePlan) -> Option<f64> {
    let wanted = |one: &(&Candidate, &u32)| one.0.value > 0.0 && *one.1 < one.0.limit;
    let costs = candidates.iter().zip(&now.uses).filter(wanted).map(|(one, _)| one.cost);
    costs.reduce(f64::min)
}

fn step(credits: f64, now: &UsePlan, then: &UsePlan) -> MarginalStep {
    let changes = now.uses.iter().zip(&then.uses).enumerate();
    let changes = changes.filter(|(_, (before, after))| before != after);
    let change = |(candidate, (&before, &after))| UseChange { candidate, before, after };
    MarginalStep {
        credits,
        value: difference(then.value, now.value),
        changes: changes.map(change).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::btp::plan;

    /// Finds the credits by halving the range between a budget that buys nothing more and one that does.
    fn halved(candidates: &[Candidate], budget: f64, now: &UsePlan) -> Option<(f64, UsePlan)> {
        let mut nothing = budget;
        // The sum of two costs can be slightly below its exact value.
        let more = enough(candidates, now)? + 1e-9;
        let mut better = plan(candidates, budget + more).unwrap();
        while better.cost - nothing > 1e-9 * budget.max(1.0) {
            let bought = plan(candidates, nothing + (better.cost - nothing) / 2.0).unwrap();
            match difference(bought.value, now.value) > 0.0 {
                true => better = bought,
                false => nothing += (better.cost - nothing) / 2.0,
            }
        }
        Some((better.cost - budget, better))
    }

    fn tools(least: f64) -> impl Strategy<Value = Vec<Candidate>> {
        let tool = (least..9.0, 0.01..1.0_f64, 0..=3_u32);
        let tool = tool.prop_map(|(cost, value, limit)| Candidate { cost, value, limit });
        prop::collection::vec(tool, 1..=12)
    }

    fn expect_same(tools: &[Candidate], budget: f64) -> Result<(), TestCaseError> {
        let now = plan(tools, budget).unwrap();
        let next = marginal(tools, budget, &now).unwrap().next;
        let halved = halved(tools, budget, &now);
        prop_assert_eq!(next.is_some(), halved.is_some());
        let (Some(next), Some((credits, then))) = (next, halved) else { return Ok(()) };
        prop_assert!((next.credits - credits).abs() < 1e-8, "{next:?}, {credits}");
        prop_assert_eq!(
            &next,
            &MarginalStep { credits: next.credits, ..step(credits, &now, &then) }
        );
        Ok(())
    }

    #[test]
    fn fine_costs_are_told_without_digits_that_nobody_knows() {
        let tool = |cost, value| Candidate { cost, value, limit: 1 };
        let tools = [tool(10.0, 1.0), tool(10.000_007, 1.000_000_3)];
        let next = marginal(&tools, 10.0, &plan(&tools, 10.0).unwrap()).unwrap().next.unwrap();
        assert_eq!((next.credits, next.value), (0.000_007, 0.000_000_3));
    }

    #[test]
    fn what_costs_the_whole_budget_and_one_more_is_a_step() {
        let tool = |cost, value, limit| Candidate { cost, value, limit };
        let tools = [tool(1.7, 0.601_321_885_600_107_7, 3), tool(0.6, 0.01, 1)];
        expect_same(&tools, 5.1).unwrap();
    }

    proptest! {
        #[test]
        fn one_search_finds_what_halving_finds(
            tools in tools(0.5), budget in 0.0..40.0_f64, decimals in 0..3
        ) {
            let tenth = 10_f64.powi(decimals);
            let tidy = |one: &Candidate| Candidate { cost: (one.cost * tenth).ceil() / tenth, ..*one };
            let tidy: Vec<Candidate> = tools.iter().map(tidy).collect();
            let whole = (budget * tenth).floor() / tenth;
            expect_same(&tools, budget)?;
            expect_same(&tidy, whole)?;
        }
    }
}
