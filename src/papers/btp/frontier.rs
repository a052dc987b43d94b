//! The search by lists: for the items from each one on, every cost at which a higher value begins.
//!
//! A table is as wide as its budget has units; these lists are as long as there are useful
//! combinations, regardless of how fine the units are. Combinations that cannot match a known plan
//! are left out.

use std::cmp::Reverse;

use super::reduce::{Item, Price, value};

/// Most combinations kept: 16 MB.
const KEPT: usize = 1_048_576;

/// Costs and values of combinations; both rise.
type Frontier = Vec<(u64, i64)>;

/// Uses of each item, whose `low` are 0; `None` if there are too many combinations.
pub(super) fn solve(items: &[Item], budget: u64, price: &Price) -> Option<Vec<u64>> {
    search(items, budget, price, |list, kept| kept + list.len() <= KEPT)
}

/// As [`solve`], but never too much: where there are too many combinations, only those with the highest
/// gains go on. So the uses are good ones, and not always the best.
pub(super) fn some(items: &[Item], budget: u64, price: &Price) -> Option<Vec<u64>> {
    let most = (KEPT / items.len().max(1)).max(1);
    search(items, budget, price, |list, _| {
        if list.len() > most {
            let mut places: Vec<usize> = (0..list.len()).collect();
            let lost = |&at: &usize| (Reverse(price.gain(list[at].1, list[at].0)), at);
            places.select_nth_unstable_by_key(most, lost);
            places.truncate(most);
            places.sort_unstable();
            *list = places.into_iter().map(|at| list[at]).collect();
        }
        true
    })
}

/// `trim` gets each list, and how many combinations are kept behind it. It may shorten the list; `false`
/// ends the search.
fn search(
    items: &[Item],
    budget: u64,
    price: &Price,
    trim: impl Fn(&mut Frontier, usize) -> bool,
) -> Option<Vec<u64>> {
    let mut lists = vec![vec![(0, 0)]];
    let mut kept = 0;
    // The possible gain of the items before.
    let mut before: i128 = items.iter().map(|item| price.most_gain(item)).sum();
    let least = price.least_gain(budget);
    for item in items.iter().rev() {
        before -= price.most_gain(item);
        let trim = |list: &mut Frontier| trim(list, kept);
        let mut list = with(item, &lists[lists.len() - 1], budget, trim)?;
        list.retain(|&(cost, value)| price.gain(value, cost) + before >= least);
        kept += list.len();
        lists.push(list);
    }
    lists.reverse();
    let (mut left, mut best) = *lists[0].last()?;
    let mut uses = Vec::with_capacity(items.len());
    for (item, behind) in items.iter().zip(&lists[1..]) {
        let taken = most_uses(item, left, best, behind);
        left -= taken * item.cost;
        best -= value(item, taken);
        uses.push(taken);
    }
    Some(uses)
}

/// The combinations behind with those of one more item. Its uses are added as packs of 1, 2, 4 …
/// and a rest, which can form every number of them.
fn with(
    item: &Item,
    behind: &Frontier,
    budget: u64,
    trim: impl Fn(&mut Frontier) -> bool,
) -> Option<Frontier> {
    let mut list = behind.clone();
    let (mut pack, mut rest) = (1, item.high);
    while rest > 0 {
        let uses = pack.min(rest);
        list = merged(&list, uses * item.cost, value(item, uses), budget);
        if !trim(&mut list) {
            return None;
        }
        rest -= uses;
        pack *= 2;
    }
    Some(list)
}

/// A list merged with its copy plus a pack, without entries of equal cost and no higher value.
fn merged(list: &Frontier, cost: u64, value: i64, budget: u64) -> Frontier {
    let mut merged: Frontier = Vec::with_capacity(2 * list.len());
    let fitting = list.partition_point(|one| one.0 + cost <= budget);
    let mut with = list[..fitting].iter().map(|one| (one.0 + cost, one.1 + value)).peekable();
    let mut keep = |one: (u64, i64)| match merged.last_mut() {
        Some(last) if last.1 >= one.1 => {}
        Some(last) if last.0 == one.0 => *last = one,
        Some(_) | None => merged.push(one),
    };
    for &without in list {
        while let Some(one) = with.next_if(|one| one.0 < without.0) {
            keep(one);
        }
        keep(without);
    }
    with.for_each(keep);
    merged
}

/// The most uses with which the combinations behind still reach `best` in all, at no more than
/// `left`. Entries left out of a list are part of no best plan.
fn most_uses(item: &Item, left: u64, best: i64, behind: &Frontier) -> u64 {
    let most = item.high.min(left / item.cost);
    let reaches = |uses: u64| {
        let rest = left - uses * item.cost;
        let fitting = behind.partition_point(|one| one.0 <= rest);
        behind[..fitting].last().is_some_and(|one| one.1 + value(item, uses) == best)
    };
    (0..=most).rev().find(|&uses| reaches(uses)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_list_has_each_cost_once_and_no_value_that_is_not_higher() {
        let list = vec![(0, 0), (2, 5), (3, 6), (7, 9)];
        // At 5 credits there are values of 10 and 9, and at 2 a second one of 4.
        assert_eq!(merged(&list, 2, 4, 6), [(0, 0), (2, 5), (3, 6), (4, 9), (5, 10), (7, 9)][..5]);
        // The higher value takes the place of the lower one that came before it at the same cost.
        assert_eq!(merged(&vec![(0, 0), (2, 5)], 2, 9, 9), [(0, 0), (2, 9), (4, 14)]);
        assert_eq!(merged(&vec![(0, 0), (2, 9)], 2, 5, 9), [(0, 0), (2, 9), (4, 14)]);
    }
}
