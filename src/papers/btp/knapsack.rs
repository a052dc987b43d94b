//! The bounded knapsack in whole numbers.

use super::reduce::{self, Item, Price, value};
use super::{frontier, table};

/// Cells of a table that is always filled: some milliseconds.
const QUICK_CELLS: u64 = 4_194_304;

/// Cells of the largest table: some tenths of a second.
const MOST_CELLS: u64 = 268_435_456;

/// The widest table.
const WIDEST: u64 = 131_072;

/// Parts into which a budget is cut as a last resort: λ is this for each such budget.
const PARTS: u64 = 16_384;

/// Another search must be spared this part of the items.
const WORTH_IT: usize = 8;

/// Uses of each item: the most valuable within the budget; of these the cheapest; of these the one with
/// most uses of the first item, then of the second, and so on.
pub(super) fn solve(items: &[Item], budget: u64) -> Vec<u64> {
    let mut items = items.to_vec();
    reduce::by_rivals(&mut items, budget);
    let Some(price) = Price::find(&items, budget) else {
        return items.iter().map(|item| item.high).collect();
    };
    price.narrow(&mut items, budget);
    rest(&items, budget, &price)
}

/// Uses of each item, where this price has narrowed the items.
fn rest(items: &[Item], budget: u64, price: &Price) -> Vec<u64> {
    let left = reduce::left(items, budget);
    let mut uses: Vec<u64> = items.iter().map(|item| item.low).collect();
    let mut open = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let high = item.open().min(left / item.cost);
        if high > 0 {
            open.push((at, Item { low: 0, high, ..*item }));
        }
    }
    let (places, open): (Vec<usize>, Vec<Item>) = open.into_iter().unzip();
    let good = places.iter().map(|&at| price.good[at].saturating_sub(uses[at])).collect();
    for (at, more) in places.into_iter().zip(search(&open, left, good)) {
        uses[at] += more;
    }
    uses
}

/// The same for items without further information; all their `low` are 0. `good` is a plan that is known.
fn search(open: &[Item], budget: u64, good: Vec<u64>) -> Vec<u64> {
    let whole = |item: &Item| u128::from(item.high) * u128::from(item.cost);
    let everything: u128 = open.iter().map(whole).sum();
    let budget = u64::try_from(everything).map_or(budget, |everything| everything.min(budget));
    let cells = (open.len() as u64).saturating_mul(budget + 1);
    if cells <= QUICK_CELLS {
        return table::solve(open, budget);
    }
    let Some(mut price) = Price::find(open, budget) else {
        return open.iter().map(|item| item.high).collect();
    };
    price.improve(open, good);
    if let Some(uses) = frontier::solve(open, budget, &price) {
        return uses;
    }
    // A better plan excludes more, so that the search may become possible.
    if frontier::some(open, budget, &price).is_some_and(|uses| price.improve(open, uses)) {
        let mut fewer = open.to_vec();
        price.narrow(&mut fewer, budget);
        let left = fewer.iter().filter(|item| item.open() > 0).count();
        if left <= open.len() - open.len().div_ceil(WORTH_IT) {
            return rest(&fewer, budget, &price);
        }
    }
    if budget < WIDEST && cells <= MOST_CELLS {
        return table::solve(open, budget);
    }
    coarsely(open, budget, price)
}

/// In larger units, never over budget: the cost of each use is rounded up to a part of the budget.
fn coarsely(open: &[Item], budget: u64, price: Price) -> Vec<u64> {
    let part = |cost: u64| (u128::from(cost) * u128::from(PARTS)).div_ceil(u128::from(budget));
    // No item costs more than the budget, so at most all parts.
    let coarse = |item: &Item| Item { cost: part(item.cost) as u64, ..*item };
    let coarse: Vec<Item> = open.iter().map(coarse).collect();
    let uses = table::solve(&coarse, PARTS);
    let worth: i64 = open.iter().zip(&uses).map(|(item, &uses)| value(item, uses)).sum();
    if worth >= price.least { uses } else { price.good }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Costs, values and limits of items; with few values, most plans have equals.
    fn items(most: usize, cost: u64, value: i64) -> impl Strategy<Value = Vec<Item>> {
        let item = (1..=cost, 1..=value, 0..=5_u64);
        let item = item.prop_map(|(cost, value, high)| Item { cost, value, low: 0, high });
        prop::collection::vec(item, 1..=most)
    }

    fn some() -> impl Strategy<Value = Vec<Item>> {
        prop_oneof![items(40, 9, 3), items(40, 50, 100_000), items(20, 300, 5)]
    }

    fn sum(items: &[Item], uses: &[u64], of: impl Fn(&Item) -> u64) -> u64 {
        items.iter().zip(uses).map(|(item, uses)| of(item) * uses).sum()
    }

    proptest! {
        /// Each of three ways is exact, down to how ties are broken: with the rules that exclude
        /// items, and both searches without them.
        #[test]
        fn every_way_finds_the_same_plan(items in some(), budget in 0..=500_u64) {
            let solved = solve(&items, budget);
            prop_assert_eq!(&solved, &table::solve(&items, budget));
            if let Some(price) = Price::find(&items, budget) {
                let fitting: Vec<_> = items
                    .iter()
                    .map(|item| Item { high: item.high.min(budget / item.cost), ..*item })
                    .collect();
                let listed = frontier::solve(&fitting, budget, &price);
                prop_assert_eq!(&solved, &listed.unwrap());
            }
        }

    }

    /// All are worth the same per credit: no combination can be left out, and the lists are too long.
    #[test]
    fn a_budget_of_many_units_is_still_solved_exactly_by_the_table() {
        let budget = 131_071;
        let item = |n: u64| {
            let cost = 5_000 + n * n * n * 7_919 % 3_001;
            Item { cost, value: cost as i64 * 1_000, low: 0, high: 2 }
        };
        let items: Vec<Item> = (0..40).map(item).collect();
        let price = Price::find(&items, budget).unwrap();
        assert!(items.len() as u64 * budget > QUICK_CELLS);
        assert_eq!(frontier::solve(&items, budget, &price), None);
        let exact = table::solve(&items, budget);
        assert_ne!(coarsely(&items, budget, price), exact);
        assert_eq!(search(&items, budget, vec![0; 40]), exact);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn in_coarse_units_a_plan_is_good_and_never_over_budget(
            items in items(20, 1 << 40, 1_000), budget in 1_u64 << 40..=1 << 44
        ) {
            let Some(price) = Price::find(&items, budget) else { return Ok(()) };
            let (least, uses) = (price.least, coarsely(&items, budget, price));
            prop_assert!(sum(&items, &uses, |item| item.cost) <= budget);
            let worth = |uses: &[u64]| sum(&items, uses, |item| item.value as u64);
            prop_assert!(worth(&uses) >= least as u64);
            prop_assert!(worth(&uses) <= worth(&solve(&items, budget)));
            // The loss is smaller than the rounding of all those uses in parts of the budget.
            let lost = uses.iter().sum::<u64>() * budget / PARTS + 1;
            let smaller = solve(&items, budget - lost.min(budget));
            prop_assert!(worth(&uses) >= worth(&smaller), "{} of {budget} lost", lost);
        }
    }
}
