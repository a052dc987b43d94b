//! A plan for an agent that needs several tools; the paper has no such plan. Algorithm 1 buys uses by their values
//! alone, so it may buy a generally good tool three times and the needed one not at all. It also stops at limits that
//! are only averages of the past, with credits left.

use super::plan::{check, plan, rounded};
use super::{BadInput, Candidate, Marginal, MarginalStep, UsePlan, marginal, marginal::UseChange};

/// Plans one use of each candidate before a second use of any, then uses up to their limits. Each stage is the best
/// plan by algorithm 1. The remaining credits buy more uses in rounds, the most valuable per credit first, of
/// candidates for which `goes_on` holds. Limits are only estimates, and credits that may not be spent have no value.
///
/// # Errors
/// As [`plan`](super::plan()).
pub fn spread(
    candidates: &[Candidate],
    goes_on: &[bool],
    budget: f64,
) -> Result<UsePlan, BadInput> {
    check(candidates, budget)?;
    let first = plan(&once(candidates), budget)?;
    let rest = candidates.iter().zip(&first.uses);
    let rest: Vec<Candidate> =
        rest.map(|(one, uses)| Candidate { limit: one.limit - uses, ..*one }).collect();
    let second = plan(&rest, (budget - first.cost).max(0.0))?;
    let mut uses: Vec<u32> =
        first.uses.iter().zip(&second.uses).map(|(one, more)| one.saturating_add(*more)).collect();
    let left = budget - first.cost - second.cost;
    let more = rounds(candidates, goes_on, left);
    uses.iter_mut().zip(&more).for_each(|(uses, more)| *uses = uses.saturating_add(*more));
    let value = rounded(total(candidates, &uses, |one| one.value));
    let cost = total(candidates, &uses, |one| one.cost).min(budget);
    // Each of the two plans is within its own gap of the best.
    let gap = first.gap.into_iter().chain(second.gap).reduce(f64::max);
    Ok(UsePlan { value, cost, uses, gap })
}

fn total(candidates: &[Candidate], uses: &[u32], of: fn(&Candidate) -> f64) -> f64 {
    candidates.iter().zip(uses).map(|(one, uses)| of(one) * f64::from(*uses)).sum()
}

fn once(candidates: &[Candidate]) -> Vec<Candidate> {
    candidates.iter().map(|one| Candidate { limit: one.limit.min(1), ..*one }).collect()
}

/// The further uses that the credits pay for, by candidate: first whole rounds of all candidates, then one more use of
/// each that fits, in order, then as many as fit. A free tool gets one more.
fn rounds(candidates: &[Candidate], goes_on: &[bool], mut left: f64) -> Vec<u32> {
    let mut order: Vec<usize> = (0..candidates.len())
        .filter(|at| goes_on.get(*at).copied().unwrap_or(false) && candidates[*at].value > 0.0)
        .collect();
    let worth = |at: &usize| candidates[*at].value / candidates[*at].cost;
    order.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    let round: f64 = order.iter().map(|at| candidates[*at].cost).sum();
    let whole = if round > 0.0 { (left / round).floor().max(0.0) } else { 0.0 };
    left -= whole * round;
    let mut more = vec![0; candidates.len()];
    for &at in &order {
        let cost = candidates[at].cost;
        let fits = cost <= left;
        left -= if fits { cost } else { 0.0 };
        let rounds = if cost > 0.0 { whole as u32 } else { 0 };
        more[at] = rounds.saturating_add(u32::from(fits));
    }
    for at in order.into_iter().filter(|at| candidates[*at].cost > 0.0) {
        let uses = (left / candidates[at].cost).floor().max(0.0);
        left -= uses * candidates[at].cost;
        more[at] = more[at].saturating_add(uses as u32);
    }
    more
}

/// The value of additional credits for such a plan, `now`: of first uses as in algorithm 1, else of the next round.
///
/// # Errors
/// As [`spread`].
pub fn spread_marginal(
    candidates: &[Candidate],
    goes_on: &[bool],
    budget: f64,
    now: &UsePlan,
) -> Result<Marginal, BadInput> {
    check(candidates, budget)?;
    let first = once(candidates);
    if now.uses.iter().zip(&first).any(|(uses, one)| *uses < one.limit && one.value > 0.0) {
        let uses: Vec<u32> =
            now.uses.iter().zip(&first).map(|(uses, one)| one.limit.min(*uses)).collect();
        let bought =
            UsePlan { value: rounded(total(&first, &uses, |one| one.value)), uses, ..now.clone() };
        return marginal(&first, budget, &bought);
    }
    let dearer = |at: &usize| candidates[*at].cost > 0.0 && candidates[*at].value > 0.0;
    let open = (0..candidates.len()).filter(|at| goes_on.get(*at) == Some(&true)).filter(dearer);
    let next = open.min_by(|one, other| candidates[*one].cost.total_cmp(&candidates[*other].cost));
    let nothing = MarginalStep { credits: 1.0, value: 0.0, changes: Vec::new() };
    let next = next.map(|candidate| {
        let Candidate { cost, value, .. } = candidates[candidate];
        let before = now.uses[candidate];
        let change = UseChange { candidate, before, after: before.saturating_add(1) };
        let credits = (cost - (budget - now.cost)).max(0.0);
        MarginalStep { credits, value, changes: vec![change] }
    });
    let one = next.clone().filter(|next| next.credits <= 1.0);
    let one = one.map_or(nothing, |next| MarginalStep { credits: 1.0, ..next });
    Ok(Marginal { one, next })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tool(cost: f64, value: f64, limit: u32) -> Candidate {
        Candidate { cost, value, limit }
    }

    fn uses(candidates: &[Candidate], budget: f64) -> Vec<u32> {
        spread(candidates, &vec![true; candidates.len()], budget).unwrap().uses
    }

    #[test]
    fn each_gets_a_use_before_any_gets_a_second() {
        let tools = [tool(2.0, 0.9, 3), tool(3.0, 0.3, 2)];
        assert_eq!(plan(&tools, 6.0).unwrap().uses, [3, 0], "algorithm 1");
        assert_eq!(uses(&tools, 6.0), [1, 1]);
        assert_eq!(uses(&tools, 7.0), [2, 1]);
        assert_eq!(uses(&tools, 2.5), [1, 0]);
    }

    #[test]
    fn what_is_left_buys_more_than_the_limits() {
        let tools = [tool(2.0, 0.9, 1), tool(3.0, 0.3, 1)];
        assert_eq!(uses(&tools, 9.5), [3, 1]);
        assert_eq!(uses(&tools, 16.0), [3, 3]);
        let one = spread(&tools, &[false, true], 9.5).unwrap();
        assert_eq!((one.uses, one.cost), (vec![1, 2], 8.0));
        assert_eq!(uses(&[tool(0.0, 0.5, 1), tool(4.0, 0.0, 1)], 9.0), [2, 0]);
    }

    #[test]
    fn the_fewest_credits_that_buy_something_are_those_of_the_next_use() {
        let tools = [tool(2.0, 0.9, 1), tool(3.0, 0.3, 1)];
        let next = |budget| {
            let now = spread(&tools, &[true; 2], budget).unwrap();
            spread_marginal(&tools, &[true; 2], budget, &now).unwrap().next.unwrap()
        };
        assert_eq!(next(6.5).credits, 0.5);
        assert_eq!(next(6.5).changes, [UseChange { candidate: 0, before: 1, after: 2 }]);
        assert_eq!(next(4.0).credits, 1.0, "the first use of the second");
    }

    proptest! {
        #[test]
        fn the_budget_holds_and_nothing_is_left_that_buys_a_use(
            tools in prop::collection::vec((0_u32..40, 0_u32..10, 0_u32..5, any::<bool>()), 0..7),
            budget in 0_u32..200,
        ) {
            let goes_on: Vec<bool> = tools.iter().map(|(.., goes_on)| *goes_on).collect();
            let tools: Vec<Candidate> = tools
                .iter()
                .map(|(cost, value, limit, _)| {
                    tool(f64::from(*cost) / 4.0, f64::from(*value) / 10.0, *limit)
                })
                .collect();
            let budget = f64::from(budget) / 4.0;
            let plan = spread(&tools, &goes_on, budget).unwrap();
            let spent = tools.iter().zip(&plan.uses);
            let spent: f64 = spent.map(|(one, uses)| one.cost * f64::from(*uses)).sum();
            prop_assert!(spent <= budget + 1e-9 && (spent - plan.cost).abs() < 1e-9);
            for ((one, goes_on), uses) in tools.iter().zip(&goes_on).zip(&plan.uses) {
                let may = *goes_on && one.value > 0.0 && one.cost > 0.0;
                prop_assert!(!may || spent + one.cost > budget - 1e-9, "{one:?} {plan:?}");
                prop_assert!(*goes_on || *uses <= one.limit);
            }
            // A second use is never bought if a first use of another tool would have fitted instead.
            for (second, twice) in tools.iter().zip(&plan.uses).filter(|(_, uses)| **uses > 1) {
                for (first, _) in tools.iter().zip(&plan.uses).filter(|(_, uses)| **uses == 0) {
                    let fits = first.limit > 0 && first.value > 0.0 && first.cost <= second.cost;
                    prop_assert!(!fits, "{first:?} {second:?} {twice} {plan:?}");
                }
            }
        }
    }
}
