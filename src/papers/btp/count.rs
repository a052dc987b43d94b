//! An upper bound on the value of plans, by their number of uses.
//!
//! If values are costs plus a constant, the price of a credit is a weak bound: the divisible plan has a fraction of a
//! use more than any real one, or less. So each use gets a price too (a Lagrange multiplier). The bound is lowest at
//! the price for which the divisible plan has as many uses as a real one can have.

use super::reduce::KnapsackItem;

/// Halvings of the range of prices: the bound comes within 10⁻⁷ of the lowest.
const HALVINGS: usize = 24;

/// The part of a bound that rounding may have lost.
const ROUNDING: f64 = 1e-11;

/// An upper bound on the value of all plans that cost at most `most` and are worth at least `least`. All `low` must be
/// 0.
pub(super) fn bound(items: &[KnapsackItem], least: i64, most: u64) -> i64 {
    let (value, uses) = divisible(items, most, 0.0);
    let greatest = items.iter().map(|item| item.value).fold(0, i64::max) as f64;
    let (fewest, many) = (fewest(items, least), many(items, most));
    let (limit, mut prices) = match uses {
        _ if uses > many => (many, (0.0, greatest)),
        _ if uses < fewest => (fewest, (-greatest, 0.0)),
        _ => return whole(value),
    };
    let mut bound = value;
    for _ in 0..HALVINGS {
        let price = f64::midpoint(prices.0, prices.1);
        let (value, uses) = divisible(items, most, price);
        bound = bound.min(value + price * limit);
        if uses > limit {
            prices.0 = price;
        } else {
            prices.1 = price;
        }
    }
    whole(bound)
}

fn whole(bound: f64) -> i64 {
    (bound * (1.0 + ROUNDING)).ceil() as i64
}

/// The most uses that fit, which are those of the cheapest items.
fn many(items: &[KnapsackItem], most: u64) -> f64 {
    let mut order: Vec<(u64, u64)> = items.iter().map(|item| (item.cost, item.high)).collect();
    order.sort_unstable();
    let (mut left, mut uses) = (most, 0);
    for (cost, high) in order {
        let more = high.min(left / cost);
        (left, uses) = (left - more * cost, uses + more);
    }
    uses as f64
}

/// The fewest uses with at least this value, which are those of the most valuable items.
fn fewest(items: &[KnapsackItem], least: i64) -> f64 {
    let mut order: Vec<(i64, u64)> = items.iter().map(|item| (-item.value, item.high)).collect();
    order.sort_unstable();
    let (mut lack, mut uses) = (u64::try_from(least).unwrap_or(0), 0);
    for (value, high) in order {
        let more = high.min(lack.div_ceil(value.unsigned_abs()));
        (lack, uses) = (lack.saturating_sub(more * value.unsigned_abs()), uses + more);
    }
    uses as f64
}

/// Value and number of uses of the best plan if uses were divisible, where each use loses this price from its value.
fn divisible(items: &[KnapsackItem], most: u64, price: f64) -> (f64, f64) {
    struct BoundPart {
        cost: f64,
        value: f64,
        high: f64,
    }
    let part = |item: &KnapsackItem| {
        let (cost, value, high) = (item.cost as f64, item.value as f64 - price, item.high as f64);
        BoundPart { cost, value, high }
    };
    let mut parts: Vec<BoundPart> =
        items.iter().map(part).filter(|part| part.value > 0.0).collect();
    let (mut left, mut value, mut uses) = (most as f64, 0.0, 0.0);
    let mut open = &mut parts[..];
    let mut take = |part: &BoundPart, number: f64| {
        value += part.value * number;
        uses += number;
        part.cost * number
    };
    while open.len() > 1 {
        let middle = open.len() / 2;
        open.select_nth_unstable_by(middle, |one, other| {
            (other.value / other.cost).total_cmp(&(one.value / one.cost))
        });
        let (better, others) = open.split_at_mut(middle);
        let cost: f64 = better.iter().map(|part| part.cost * part.high).sum();
        open = match cost <= left {
            true => {
                left -= better.iter().map(|part| take(part, part.high)).sum::<f64>();
                others
            }
            false => better,
        };
    }
    if let [part] = open {
        take(part, part.high.min(left / part.cost));
    }
    (value, uses)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::btp::{reduce, table};

    proptest! {
        #[test]
        fn no_plan_exceeds_it(
            items in prop::collection::vec((1..=60_u64, -20..=90_i64, 1..=3_u64), 1..=12),
            budget in 1..=300_u64,
            more in 0..3_i64
        ) {
            // Values that are costs plus a constant, exactly or nearly.
            let item = |(cost, constant, high): (u64, i64, u64)| {
                let value = cost as i64 * 10 + 50 * (constant % 2 - 1) + more * constant;
                KnapsackItem { cost, value: value.max(1), low: 0, high }
            };
            let items: Vec<KnapsackItem> = items.into_iter().map(item).collect();
            let best = reduce::worth(&items, &table::solve(&items, budget, None).unwrap());
            for least in [0, best / 2, best] {
                prop_assert!(bound(&items, least, budget) >= best);
            }
        }
    }

    #[test]
    fn a_part_of_a_use_more_than_fits_is_not_counted() {
        // Each is worth its cost plus 100. Two fit, but not three.
        let item = |cost: u64| KnapsackItem { cost, value: cost as i64 + 100, low: 0, high: 1 };
        let items = [40, 45, 50, 60, 70].map(item);
        assert!((320..=321).contains(&bound(&items, 0, 120)));
        assert_eq!(divisible(&items, 120, 0.0).1, 2.7);
        // Each is worth its cost minus 30: a value of 120 needs two.
        let item = |cost: u64| KnapsackItem { cost, value: cost as i64 - 30, low: 0, high: 1 };
        let items = [50, 60, 70, 80].map(item);
        assert!((60..=61).contains(&bound(&items, 60, 120)));
        assert_eq!(divisible(&items, 120, 0.0).1, 1.0 + 40.0 / 70.0);
    }
}
