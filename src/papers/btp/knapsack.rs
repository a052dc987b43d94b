//! The bounded knapsack in whole numbers.

use std::ops::RangeInclusive;

use super::middle::{self, Goal, MOST_WORK, SearchEnd};
use super::reduce::{self, CreditPrice, KnapsackItem};
use super::{count, table};

/// Cells of a table that is filled before any other search: a millisecond.
const QUICK_CELLS: u64 = 262_144;

/// Cells of a table that is filled if another search did not end: some hundredths of a second.
const MOST_CELLS: u64 = 8_388_608;

/// The number of cells that take as long as one combination.
const CELLS_OF_ONE: u64 = 8;

/// Uses of each item: the most valuable plan within the budget; of equal ones the cheapest; of these the one with most
/// uses of the first item, then of the second, and so on. If that takes too long, a good plan, and the value that no
/// plan exceeds.
pub(super) fn most_value(items: &[KnapsackItem], budget: u64) -> (Vec<u64>, Option<i64>) {
    let mut items = items.to_vec();
    reduce::by_rivals(&mut items, budget..=budget);
    let Some((price, good)) = CreditPrice::find(&items, budget) else {
        return (items.iter().map(|item| item.high).collect(), None);
    };
    let least = reduce::worth(&items, &good);
    price.narrow(&mut items, budget, least);
    let SearchEnd { uses, bound } = open(&items, Goal::Value, least, budget);
    let mut uses = uses.unwrap_or(good);
    if bound.is_some() {
        fill(&items, &mut uses, budget);
    }
    let worth = reduce::worth(&items, &uses);
    (uses, bound.filter(|bound| *bound > worth))
}

/// Uses of each item: the cheapest plan worth at least `least`; of equal ones the most valuable, and further as above.
/// It costs more than the first budget, which cannot buy that value, and at most the last one. `None`: none was found.
pub(super) fn least_cost(
    items: &[KnapsackItem],
    least: i64,
    budgets: RangeInclusive<u64>,
) -> Option<Vec<u64>> {
    let most = *budgets.end();
    let mut items = items.to_vec();
    reduce::by_rivals(&mut items, budgets);
    if let Some((price, _)) = CreditPrice::find(&items, most) {
        price.narrow(&mut items, most, least);
    }
    open(&items, Goal::Cost, least, most).uses
}

/// Searches for the uses that the narrowed items leave open.
fn open(items: &[KnapsackItem], goal: Goal, least: i64, budget: u64) -> SearchEnd {
    let left = reduce::left(items, budget);
    let mut uses: Vec<u64> = items.iter().map(|item| item.low).collect();
    let lows = reduce::worth(items, &uses);
    let mut open = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let high = item.open().min(left / item.cost);
        if high > 0 {
            open.push((at, KnapsackItem { low: 0, high, ..*item }));
        }
    }
    let (places, open): (Vec<usize>, Vec<KnapsackItem>) = open.into_iter().unzip();
    let found = search(&open, goal, least - lows, left);
    let more = found.uses.map(|more| {
        places.into_iter().zip(more).for_each(|(at, more)| uses[at] += more);
        uses
    });
    SearchEnd { uses: more, bound: found.bound.map(|bound| bound.saturating_add(lows)) }
}

/// Searches in the same way for items without further information; all their `low` are 0.
fn search(open: &[KnapsackItem], goal: Goal, least: i64, budget: u64) -> SearchEnd {
    let whole = |item: &KnapsackItem| u128::from(item.high) * u128::from(item.cost);
    let everything: u128 = open.iter().map(whole).sum();
    let budget = u64::try_from(everything).map_or(budget, |everything| everything.min(budget));
    let cells = (open.len() as u64).saturating_mul(budget + 1);
    let table = || {
        let uses = table::solve(open, budget, (goal == Goal::Cost).then_some(least));
        SearchEnd { uses, bound: None }
    };
    if cells <= QUICK_CELLS {
        return table();
    }
    let is_table = cells <= MOST_CELLS;
    // If a search takes as long as the table, the table is used instead.
    let work = if is_table { (cells / CELLS_OF_ONE) as usize } else { MOST_WORK };
    let found = middle::search(open, goal, least, budget, work);
    match found.bound {
        Some(_) if is_table => table(),
        Some(bound) if goal == Goal::Value => {
            let worth = found.uses.as_ref().map_or(least, |uses| reduce::worth(open, uses));
            let by_count = count::bound(open, worth, budget);
            SearchEnd { bound: Some(bound.min(by_count)), ..found }
        }
        Some(_) | None => found,
    }
}

/// Spends the rest of a good plan's budget on the first items that it pays for.
fn fill(items: &[KnapsackItem], uses: &mut [u64], budget: u64) {
    let mut left = budget.saturating_sub(reduce::cost(items, uses));
    for (item, uses) in items.iter().zip(uses) {
        let more = (item.high - *uses).min(left / item.cost);
        left -= more * item.cost;
        *uses += more;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Costs, values and limits of items; with few values, most plans have equals.
    fn items(most: usize, cost: u64, value: i64) -> impl Strategy<Value = Vec<KnapsackItem>> {
        let item = (1..=cost, 1..=value, 0..=5_u64);
        let item = item.prop_map(|(cost, value, high)| KnapsackItem { cost, value, low: 0, high });
        prop::collection::vec(item, 1..=most)
    }

    fn some() -> impl Strategy<Value = Vec<KnapsackItem>> {
        prop_oneof![items(40, 9, 3), items(40, 50, 100_000), items(20, 300, 5)]
    }

    fn fitting(items: &[KnapsackItem], budget: u64) -> Vec<KnapsackItem> {
        let fitting =
            |item: &KnapsackItem| KnapsackItem { high: item.high.min(budget / item.cost), ..*item };
        items.iter().map(fitting).collect()
    }

    proptest! {
        /// Checks that all three methods are exact, including the order of ties: the reduction rules that exclude
        /// items, and both searches without them.
        #[test]
        fn every_way_finds_the_same_plan(items in some(), budget in 0..=500_u64) {
            let (solved, bound) = most_value(&items, budget);
            prop_assert_eq!(bound, None);
            prop_assert_eq!(&solved, &table::solve(&items, budget, None).unwrap());
            let found = middle::search(&fitting(&items, budget), Goal::Value, 0, budget, MOST_WORK);
            prop_assert_eq!(found, SearchEnd { uses: Some(solved), bound: None });
        }

        /// Compares the cost of the next higher value with the plans of each budget in turn.
        #[test]
        fn every_way_finds_the_same_next_plan(items in some(), budget in 0..=500_u64) {
            let worth = |budget| {
                let uses = table::solve(&items, budget, None).unwrap();
                (reduce::worth(&items, &uses), uses)
            };
            let least = worth(budget).0 + 1;
            let enough = items.iter().map(|item| item.cost).max().unwrap_or(0) + budget;
            let next = (budget..=enough).map(worth).find(|(worth, _)| *worth >= least);
            let next = next.map(|(_, uses)| uses);
            prop_assert_eq!(&least_cost(&items, least, budget..=enough), &next);
            prop_assert_eq!(&table::solve(&items, enough, Some(least)), &next);
            let found = middle::search(&fitting(&items, enough), Goal::Cost, least, enough, MOST_WORK);
            prop_assert_eq!(&found.uses, &next);
        }
    }

    /// All have the same value per credit: no combination can be left out, and the lists become too long.
    #[test]
    fn a_budget_of_many_units_is_still_solved_exactly_by_the_table() {
        let budget = 131_071;
        let item = |n: u64| {
            let cost = 5_000 + n * n * n * 7_919 % 3_001;
            KnapsackItem { cost, value: cost as i64 * 1_000, low: 0, high: 2 }
        };
        let items: Vec<KnapsackItem> = (0..40).map(item).collect();
        assert!(items.len() as u64 * budget > QUICK_CELLS);
        let (uses, bound) = most_value(&items, budget);
        assert_eq!((Some(uses), bound), (table::solve(&items, budget, None), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

        /// Costs and values of 40 bits that differ by one constant, so that hardly anything can be excluded.
        #[test]
        fn a_plan_that_is_not_the_best_is_within_the_budget_and_the_bound(
            costs in prop::collection::vec((1_u64 << 39..1 << 40, 1..=3_u64), 60), part in 1..9_u64
        ) {
            let item = |&(cost, high): &(u64, u64)| {
                KnapsackItem { cost, value: (cost + (1 << 36)) as i64, low: 0, high }
            };
            let items: Vec<KnapsackItem> = costs.iter().map(item).collect();
            let budget = part * (12 << 39) + 12_345;
            let (uses, bound) = most_value(&items, budget);
            prop_assert!(reduce::cost(&items, &uses) <= budget);
            let worth = reduce::worth(&items, &uses);
            let bound = bound.unwrap_or(worth);
            // No plan has more uses than the cheapest items that fit.
            let mut cheapest: Vec<u64> = items.iter().flat_map(|item| vec![item.cost; item.high as usize]).collect();
            cheapest.sort_unstable();
            let mut spent = 0;
            let most = cheapest.iter().take_while(|cost| { spent += **cost; spent <= budget }).count();
            prop_assert!(worth <= bound && bound <= (budget + ((most as u64 + 1) << 36)) as i64);
            prop_assert!(bound - worth <= worth / 50, "{worth} of {bound}");
        }
    }
}
