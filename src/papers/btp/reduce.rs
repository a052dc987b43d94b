//! Decides most items before any search: bounds for the uses in the chosen plan.
//!
//! The chosen plan is the only best one, because ties are broken by the order of the tools. So a
//! rule may exclude any plan that another one beats, and must never exclude the best.

use std::cmp::Reverse;

/// An item with a cost and a value that can be used several times, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// At least 1.
    pub(super) cost: u64,
    /// At least 1.
    pub(super) value: i64,
    /// The chosen plan has at least this many uses …
    pub(super) low: u64,
    /// … and at most this many.
    pub(super) high: u64,
}

impl Item {
    pub(super) fn open(&self) -> u64 {
        self.high - self.low
    }
}

/// The rest of the budget when every item has its lowest number of uses.
pub(super) fn left(items: &[Item], budget: u64) -> u64 {
    items.iter().fold(budget, |left, item| left.saturating_sub(item.low.saturating_mul(item.cost)))
}

/// Narrows by rivals. One item beats another if it costs no more and is worth no less, or is the
/// same and comes earlier. A plan that has a use of the loser and lacks one of the winner gets
/// better by exchanging them. So the loser fits only in addition to all uses of all its winners;
/// and an item has at least as many uses as fit in addition to everything that it does not beat.
pub(super) fn by_rivals(items: &mut [Item], budget: u64) {
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
        let Item { cost, high, .. } = items[at];
        let winners = met.up_to(rank(cost));
        met.add(rank(cost), u128::from(high) * u128::from(cost));
        items[at].high = high.min(fitting(winners, cost, budget));
    }
    let whole = |item: &Item| u128::from(item.high) * u128::from(item.cost);
    let everything: u128 = items.iter().map(whole).sum();
    // All items seen before are worth no more; ranks count from the most expensive.
    let mut met = Sums::new(costs.len());
    for &at in order.iter().rev() {
        let rank = costs.len() - 1 - rank(items[at].cost);
        let own = whole(&items[at]);
        let beside = everything - own - met.up_to(rank);
        met.add(rank, own);
        items[at].low = items[at].high.min(fitting(beside, items[at].cost, budget));
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

/// The value of a credit where the budget runs out, and a good plan.
///
/// If uses were divisible, one would take the items with the highest value per cost, and the budget
/// would run out within one of them (Dantzig): its value per cost is the price. An item's gain, its
/// value less its cost at that price, tells how much a plan loses by deciding otherwise.
pub(super) struct Price {
    value: i64,
    cost: u64,
    /// Uses of each item in a good plan.
    pub(super) good: Vec<u64>,
    /// The value of its uses beyond the lowest.
    pub(super) least: i64,
}

impl Price {
    /// `None`: everything fits.
    pub(super) fn find(items: &[Item], budget: u64) -> Option<Self> {
        let worth = |item: &Item| item.value as f64 / item.cost as f64;
        let mut order: Vec<(f64, usize)> =
            items.iter().enumerate().map(|(at, item)| (worth(item), at)).collect();
        // A price from a wrong order is still valid, so rounding does no harm.
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut left = left(items, budget);
        let (mut least, mut first_cut) = (0, None);
        let mut good: Vec<u64> = items.iter().map(|item| item.low).collect();
        for (_, at) in order {
            let item = &items[at];
            let taken = item.open().min(left / item.cost);
            left -= taken * item.cost;
            least += value(item, taken);
            good[at] += taken;
            if taken < item.open() {
                first_cut.get_or_insert(at);
            }
        }
        let cut = &items[first_cut?];
        Some(Self { value: cut.value, cost: cut.cost, good, least })
    }

    /// Takes these uses for the good plan if they are worth more, and tells so. All `low` are 0.
    pub(super) fn improve(&mut self, items: &[Item], uses: Vec<u64>) -> bool {
        let worth = items.iter().zip(&uses).map(|(item, &uses)| value(item, uses)).sum();
        let is_better = worth > self.least;
        if is_better {
            (self.good, self.least) = (uses, worth);
        }
        is_better
    }

    /// Value less cost at this price, times the price's cost so that it is whole.
    pub(super) fn gain(&self, value: i64, cost: u64) -> i128 {
        i128::from(value) * i128::from(self.cost) - i128::from(self.value) * i128::from(cost)
    }

    /// The most that all open uses of an item can gain.
    pub(super) fn most_gain(&self, item: &Item) -> i128 {
        self.gain(item.value, item.cost).max(0) * i128::from(item.open())
    }

    /// A plan that gains less than this in all is worth less than the good one.
    pub(super) fn least_gain(&self, left: u64) -> i128 {
        self.gain(self.least, left)
    }

    /// Narrows each item to the uses at which a plan may still be as good as the good one.
    pub(super) fn narrow(&self, items: &mut [Item], budget: u64) {
        let most: i128 = items.iter().map(|item| self.most_gain(item)).sum();
        let slack = most - self.least_gain(left(items, budget));
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

/// The value of this many uses. Scaled so that every sum within the budget fits.
pub(super) fn value(item: &Item, uses: u64) -> i64 {
    item.value.saturating_mul(i64::try_from(uses).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items() -> impl Strategy<Value = Vec<Item>> {
        let item = (1..=20_u64, 1..=50_i64, 0..=3_u64, 0..=3_u64);
        let item =
            item.prop_map(|(cost, value, low, more)| Item { cost, value, low, high: low + more });
        prop::collection::vec(item, 1..=12)
    }

    proptest! {
        #[test]
        fn the_good_plan_is_within_the_budget_and_worth_what_is_said(
            items in items(), more in 0..=200_u64
        ) {
            let lowest: u64 = items.iter().map(|item| item.low * item.cost).sum();
            let budget = lowest + more;
            let Some(price) = Price::find(&items, budget) else { return Ok(()) };
            let mut cost = 0;
            let mut worth = 0;
            for (item, &uses) in items.iter().zip(&price.good) {
                prop_assert!((item.low..=item.high).contains(&uses), "{item:?}: {uses}");
                cost += uses * item.cost;
                worth += value(item, uses - item.low);
            }
            prop_assert!(cost <= budget, "{cost} of {budget}");
            prop_assert_eq!(worth, price.least);
        }
    }

    fn item(cost: u64, value: i64, high: u64) -> Item {
        Item { cost, value, low: 0, high }
    }

    #[test]
    fn an_item_that_beats_all_others_is_used_as_often_as_the_budget_allows() {
        let mut items = [item(1, 10, 2), item(5, 1, 1), item(1, 10, 9)];
        by_rivals(&mut items, 6);
        // The first one beats its equal too, since it comes earlier.
        assert_eq!(items.map(|item| (item.low, item.high)), [(2, 2), (0, 0), (4, 4)]);
    }

    #[test]
    fn a_plan_is_taken_for_the_good_one_where_it_is_worth_more() {
        let items = [item(3, 5, 1), item(4, 6, 1)];
        let mut price = Price::find(&items, 4).unwrap();
        assert_eq!((&price.good[..], price.least), (&[1, 0][..], 5));
        assert!(!price.improve(&items, vec![1, 0]));
        assert!(price.improve(&items, vec![0, 1]));
        assert_eq!((&price.good[..], price.least), (&[0, 1][..], 6));
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
