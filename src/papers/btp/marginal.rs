//! The value of additional credits.

use serde::{Deserialize, Serialize};

use super::plan::{Problem, check, rounded};
use super::{BadInput, Candidate, Plan};

/// The difference in one candidate's uses between two plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Counted from 0.
    pub candidate: usize,
    pub before: u32,
    pub after: u32,
}

/// The gain of a plan with more credits over the current plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Credits above the budget.
    pub credits: f64,
    /// Increase of the plan's value.
    pub value: f64,
    /// Candidates with more or fewer uses; empty if the value does not rise.
    pub changes: Vec<Change>,
}

/// The value of additional credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// One additional credit.
    pub one: Step,
    /// The fewest credits that buy anything; `None` if nothing is left to buy.
    pub next: Option<Step>,
}

/// What one more credit would buy, and the fewest that buy anything. The value of a plan rises in
/// steps, so the second answer is often more useful.
///
/// This solves several plans: a dozen with whole costs, a few dozen with real ones.
///
/// # Errors
/// As [`plan`](super::plan()).
pub fn marginal(candidates: &[Candidate], budget: f64) -> Result<Marginal, BadInput> {
    check(candidates, budget)?;
    let now = super::plan(candidates, budget)?;
    let Some(enough) = enough(candidates, &now) else {
        return Ok(Marginal {
            one: Step { credits: 1.0, value: 0.0, changes: vec![] },
            next: None,
        });
    };
    let problem = Problem::new(candidates, budget + enough.max(1.0));
    let one = step(1.0, &now, &problem.plan(budget + 1.0));
    Ok(Marginal { one, next: next(&problem, &now, budget, enough) })
}

/// Credits that are sure to buy something: another use of a tool below its limit.
fn enough(candidates: &[Candidate], now: &Plan) -> Option<f64> {
    let wanted = |one: &(&Candidate, &u32)| one.0.value > 0.0 && *one.1 < one.0.limit;
    let costs = candidates.iter().zip(&now.uses).filter(wanted).map(|(one, _)| one.cost);
    costs.reduce(f64::min)
}

fn step(credits: f64, now: &Plan, then: &Plan) -> Step {
    let changes = now.uses.iter().zip(&then.uses).enumerate();
    let changes = changes.filter(|(_, (before, after))| before != after);
    let change = |(candidate, (&before, &after))| Change { candidate, before, after };
    Step { credits, value: rounded(then.value - now.value), changes: changes.map(change).collect() }
}

/// Halves the range between a budget that buys nothing more and one that does; each better plan
/// narrows it to its cost.
fn next(problem: &Problem<'_>, now: &Plan, budget: f64, enough: f64) -> Option<Step> {
    let worth = problem.spend(problem.units_of(budget)).value;
    let mut nothing = problem.units_of(budget);
    let mut better = problem.spend(problem.units_of(budget + enough));
    if better.value <= worth {
        // The credits are too few to distinguish such budgets.
        return None;
    }
    while better.cost > nothing + 1 {
        let middle = nothing + (better.cost - nothing) / 2;
        let bought = problem.spend(middle);
        if bought.value > worth {
            better = bought;
        } else {
            nothing = middle;
        }
    }
    let credits = rounded(problem.credits(better.cost) - budget);
    Some(step(credits, now, &problem.finished(better.uses.into_iter(), budget + enough)))
}
