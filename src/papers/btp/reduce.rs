//! Decides most items before any search: bounds for the uses in the chosen plan.
//!
//! The chosen plan is the only best one, because ties are broken by the order of the tools. So a
//! rule may exclude any plan that another one beats, and must never exclude the best.

use std::{cmp::Reverse, ops::RangeInclusive};

/// An item with a cost and a value that can be used several times, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnapsackItem {
    /// At least 1.
    pub(super) cost: u64,
    /// At least 1.
    pub(super) value: i64,
    /// The chosen plan has at least this many uses …
    pub(super) low: u64,
    /// … and at most this many.
    pub(super) high: u64,
}

impl KnapsackItem {
    pub(super) fn open(&self) -> u64 {
        self.high - self.low
    }
}

/// The rest of the budget when every item has its lowest number of uses.
pub(super) fn left(items: &[KnapsackItem], budget: u64) -> u64 {
    items.iter().fold(budget, |left, item| left.saturating_sub(item.low.saturating_mul(item.cost)))
}

/// Narrows by rivals. One item beats another if it costs no more and is worth no less, or is the same and comes
/// earlier. A plan that has a use of the loser and lacks one of the winner gets better by exchanging them. So the loser
/// fits only in addition to all uses of all its winners; and an item has at least as many uses as fit in addition to
/// everything that it does not beat. This holds for the chosen plan of every budget in this range.
pub(super) fn by_rivals(items: &mut [KnapsackItem], budgets: RangeInclusive<u64>) {
    let (least, budget) = budgets.into_inner();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_unstable_by_key(|&at| (Reverse(items[at].value), items[at].cost, at));
    let mut costs: Vec<u64> = items.iter().map(|item| item.cost).collect();
    costs.sort_unstable();
    costs.dedup();
    let rank = |cost: u64| costs.partition_point(|&other| other < cost);

    for item in items.iter_mut() {
        item.high = item.high.min(budget / item.cost);
    }
    // All items seen before are worth no less.
    let mut met = Sums::new(costs.len());
    for &at in &order {
        let KnapsackItem { cost, high, .. } = items[at];
        let winners = met.up_to(rank(cost));
        met.add(rank(cost), u128::from(high) * u128::from(cost));
        items[at].high = high.min(fitting(winners, cost, budget));
    }
    let whole = |item: &KnapsackItem| u128::from(item.high) * u128::from(item.cost);
    let everything: u128 = items.iter().map(whole).sum();
    // All items seen before are worth no more; ranks count from the most expensive.
    let mut met = Sums::new(costs.len());
    for &at in order.iter().rev() {
        let rank = costs.len() - 1 - rank(items[at].cost);
        let own = whole(&items[at]);
        let beside = everything - own - met.up_to(rank);
        met.add(rank, own);
        items[at].low = items[at].high.min(fitting(beside, items[at].cost, least));
    }
}

/// How often a cost fits into the budget in addition to others.
fn fitting(others: u128, cost: u64, budget: u64) -> u64 {
    u64::try_from(others).map_or(0, |others| budget.saturating_sub(others) / cost)
}

/// Sums of numbers at ranks (a Fenwick tree).
struct Sums(Vec<u128>);

impl Sums {
    fn new(ranks: usize) -> Self {
        Self(vec![0; ranks + 1])
    }

    fn add(&mut self, rank: usize, number: u128) {
        let mut at = rank + 1;
        while at < self.0.len() {
            self.0[at] += number;
            at += at & at.wrapping_neg();
        }
    }

    /// The sum of this rank and all before it.
    fn up_to(&self, rank: usize) -> u128 {
        let (mut at, mut sum) = (rank + 1, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

/// The value of a credit at the place where the budget runs out.
///
/// If uses were divisible, one would take the items with the highest value per cost, and the budget would run out
/// within one of them (Dantzig): its value per cost is the price. An item's gain, its value minus its cost at that
/// price, tells how much a plan loses by deciding otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct CreditPrice {
    pub(super) value: i64,
    pub(super) cost: u64,
}

impl CreditPrice {
    pub(super) fn of(item: &KnapsackItem) -> Self {
        Self { value: item.value, cost: item.cost }
    }

    /// The price, and the uses of each item in a good plan; `None`: everything fits.
    pub(super) fn find(items: &[KnapsackItem], budget: u64) -> Option<(Self, Vec<u64>)> {
        let worth = |item: &KnapsackItem| item.value as f64 / item.cost as f64;
        let mut order: Vec<(f64, usize)> =
            items.iter().enumerate().map(|(at, item)| (worth(item), at)).collect();
        // A price from a wrong order is still valid, so rounding does no harm.
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut left = left(items, budget);
        let mut first_cut = None;
        let mut good: Vec<u64> = items.iter().map(|item| item.low).collect();
        for (_, at) in order {
            let item = &items[at];
            let taken = item.open().min(left / item.cost);
            left -= taken * item.cost;
            good[at] += taken;
            if taken < item.open() {
                first_cut.get_or_insert(at);
            }
        }
        Some((Self::of(&items[first_cut?]), good))
    }

    /// Value minus cost at this price, times the price's cost so that it is a whole number.
    pub(super) fn gain(&self, value: i64, cost: u64) -> i128 {
        i128::from(value) * i128::from(self.cost) - i128::from(self.value) * i128::from(cost)
    }

    /// The most that all open uses of an item can gain.
    fn most_gain(&self, item: &KnapsackItem) -> i128 {
        self.gain(item.value, item.cost).max(0) * i128::from(item.open())
    }

    /// Narrows each item to the uses at which a plan within the budget can be worth at least this.
    pub(super) fn narrow(&self, items: &mut [KnapsackItem], budget: u64, least: i64) {
        let lows: i64 = items.iter().map(|item| value(item, item.low)).sum();
        let most: i128 = items.iter().map(|item| self.most_gain(item)).sum();
        // A plan that gains less than this beyond its lowest uses is worth less.
        let slack = most - self.gain(least - lows, left(items, budget));
        for item in items.iter_mut() {
            let gain = self.gain(item.value, item.cost);
            let Some(astray) = slack.checked_div(gain.abs()) else { continue };
            let astray = u64::try_from(astray).unwrap_or(u64::MAX).min(item.open());
            if gain > 0 {
                item.low = item.high - astray;
            } else {
                item.high = item.low + astray;
            }
        }
    }
}

/// The total value of these uses of the items.
pub(super) fn worth(items: &[KnapsackItem], uses: &[u64]) -> i64 {
    items.iter().zip(uses).map(|(item, &uses)| value(item, uses)).sum()
}

/// The total cost of these uses of the items.
pub(super) fn cost(items: &[KnapsackItem], uses: &[u64]) -> u64 {
    items.iter().zip(uses).map(|(item, &uses)| item.cost * uses).sum()
}

/// The value of this many uses. Scaled so that every sum within the budget fits.
pub(super) fn value(item: &KnapsackItem, uses: u64) -> i64 {
    item.value.saturating_mul(i64::try_from(uses).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items() -> impl Strategy<Value = Vec<KnapsackItem>> {
        let item = (1..=20_u64, 1..=50_i64, 0..=3_u64, 0..=3_u64);
        let item = item.prop_map(|(cost, value, low, more)| KnapsackItem {
            cost,
            value,
            low,
            high: low + more,
        });
        prop::collection::vec(item, 1..=12)
    }

    proptest! {
        #[test]
        fn the_good_plan_is_within_the_budget(
            items in items(), more in 0..=200_u64
        ) {
            let lowest: u64 = items.iter().map(|item| item.low * item.cost).sum();
            let budget = lowest + more;
            let Some((_, good)) = CreditPrice::find(&items, budget) else { return Ok(()) };
            for (item, uses) in items.iter().zip(&good) {
                prop_assert!((item.low..=item.high).contains(uses), "{item:?}: {uses}");
            }
            prop_assert!(cost(&items, &good) <= budget);
        }
    }

    fn item(cost: u64, value: i64, high: u64) -> KnapsackItem {
        KnapsackItem { cost, value, low: 0, high }
    }

    #[test]
    fn an_item_that_beats_all_others_is_used_as_often_as_the_budget_allows() {
        let mut items = [item(1, 10, 2), item(5, 1, 1), item(1, 10, 9)];
        by_rivals(&mut items, 6..=6);
        // The first item beats its equal too, since it comes earlier.
        assert_eq!(items.map(|item| (item.low, item.high)), [(2, 2), (0, 0), (4, 4)]);
    }

    #[test]
    fn a_sum_is_that_of_all_ranks_up_to_it() {
        let numbers: Vec<u128> = (0..40).map(|rank| 1 << (rank * 3)).collect();
        let mut sums = Sums::new(numbers.len());
        for (rank, number) in numbers.iter().enumerate().rev() {
            sums.add(rank, *number);
        }
        for rank in 0..numbers.len() {
            assert_eq!(sums.up_to(rank), numbers[..=rank].iter().sum::<u128>(), "rank {rank}");
        }
    }
}
