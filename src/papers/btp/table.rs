//! The search by a table: for the items from each one on, the best value within each budget.
//!
//! Going from the last item to the first lets the choices be read off from the first item on, each
//! as large as a best plan allows: that is how ties are broken. All rows together would need too
//! much memory for thousands of items. So only every nth row is kept, and the rows between are
//! recomputed when needed, only as wide as the rest of the budget.

use std::ops::Add;

use super::reduce::{KnapsackItem, value};

/// Cells of rows that are kept in memory: 32 MB.
const KEPT_CELLS: usize = 4_194_304;

/// The greatest whole number up to which `f64` represents every one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number in a row. Older processors find the maximum of several `f64` at once, but not of
/// `i64`.
trait Cell: Copy + PartialOrd + Add<Output = Self> {
    fn of(value: i64) -> Self;
}

impl Cell for i64 {
    fn of(value: i64) -> Self {
        value
    }
}

impl Cell for f64 {
    fn of(value: i64) -> Self {
        value as f64
    }
}

/// Uses of each item, whose `low` count as 0: of the most valuable plans the cheapest, or with a value to reach, the
/// cheapest plan that does; `None` if none does. Each unit of the budget is one cell, so the budget is small.
pub(super) fn solve(items: &[KnapsackItem], budget: u64, reach: Option<i64>) -> Option<Vec<u64>> {
    let width = budget as usize + 1;
    let block = block(items.len(), width);
    if is_exact(items, budget) {
        solve_in_blocks::<f64>(items, width, block, reach)
    } else {
        solve_in_blocks::<i64>(items, width, block, reach)
    }
}

/// Whether `f64` holds every value that the budget can buy exactly.
fn is_exact(items: &[KnapsackItem], budget: u64) -> bool {
    let worth = items.iter().map(|item| item.value as f64 / item.cost as f64).fold(0.0, f64::max);
    // Far enough below that rounding does not matter here.
    worth * (budget as f64) < EXACT / 2.0
}

fn solve_in_blocks<C: Cell>(
    items: &[KnapsackItem],
    width: usize,
    block: usize,
    reach: Option<i64>,
) -> Option<Vec<u64>> {
    let blocks: Vec<&[KnapsackItem]> = items.chunks(block).collect();
    let mut row = vec![C::of(0); width];
    let mut tails = Vec::with_capacity(blocks.len());
    let mut first_rows = Vec::new();
    for block in blocks.iter().rev() {
        let rows = rows(block, &row);
        tails.push(std::mem::replace(&mut row, rows[0].clone()));
        first_rows = rows;
    }
    let best = reach.map_or(row[width - 1], C::of);
    let mut left = row.partition_point(|&value| value < best);
    row.get(left)?;
    let mut uses = Vec::with_capacity(items.len());
    for (at, block) in blocks.into_iter().enumerate() {
        let tail = tails.pop().unwrap_or_default();
        let rows = match at {
            0 => std::mem::take(&mut first_rows),
            _ => rows(block, &tail[..=left]),
        };
        for (item, rows) in block.iter().zip(rows.windows(2)) {
            let taken = most_uses(item, left, rows[0][left], &rows[1]);
            left -= taken as usize * item.cost as usize;
            uses.push(taken);
        }
    }
    Some(uses)
}

/// Rows per block.
fn block(items: usize, width: usize) -> usize {
    if items.saturating_mul(width) <= KEPT_CELLS { items.max(1) } else { items.isqrt() }
}

/// The row of each item of a block, and last the row after the block.
fn rows<C: Cell>(block: &[KnapsackItem], tail: &[C]) -> Vec<Vec<C>> {
    let mut rows = vec![tail.to_vec()];
    for item in block.iter().rev() {
        let row = with(item, &rows[rows.len() - 1]);
        rows.push(row);
    }
    rows.reverse();
    rows
}

/// The row of the later items with one more item. Its uses are added as packs of 1, 2, 4 … and a rest, which can form
/// every number of uses.
fn with<C: Cell>(item: &KnapsackItem, behind: &[C]) -> Vec<C> {
    let cost = item.cost as usize;
    let mut row = behind.to_vec();
    let (mut pack, mut rest) = (1, item.high.min((behind.len() - 1) as u64 / item.cost));
    while rest > 0 {
        let uses = pack.min(rest);
        let (cost, value) = (cost * uses as usize, C::of(value(item, uses)));
        let mut next = Vec::with_capacity(row.len());
        next.extend_from_slice(&row[..cost]);
        next.extend(
            row[cost..].iter().zip(&row).map(|(&without, &with)| greater(without, with + value)),
        );
        row = next;
        rest -= uses;
        pack *= 2;
    }
    row
}

fn greater<C: Cell>(one: C, other: C) -> C {
    if one > other { one } else { other }
}

/// The most uses with which the later items still reach `best` in total.
fn most_uses<C: Cell>(item: &KnapsackItem, left: usize, best: C, behind: &[C]) -> u64 {
    let most = item.high.min(left as u64 / item.cost);
    let reaches = |uses: u64| {
        let rest = behind[left - uses as usize * item.cost as usize];
        rest + C::of(value(item, uses)) == best
    };
    (0..=most).rev().find(|&uses| reaches(uses)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats are fast, and exact below half of the greatest whole number up to which they represent every one.
    #[test]
    fn floats_are_used_where_they_are_exact() {
        let item = |value: i64, cost| KnapsackItem { cost, value, low: 0, high: 1 };
        let half = EXACT as i64 / 2;
        assert!(is_exact(&[item(half / 10 - 1, 1)], 10));
        assert!(!is_exact(&[item(half / 10 + 1, 1)], 10));
        assert!(is_exact(&[item(half / 10 + 1, 2)], 10), "five uses are the most");
        assert!(!is_exact(&[item(1, 1), item(half / 10 + 1, 1)], 10));
    }

    #[test]
    fn blocks_of_any_size_give_the_same_plan() {
        // Value equal to the cost, or nearly: many plans tie.
        let item = |n: u64| KnapsackItem {
            cost: 1 + n * 7 % 11,
            value: (1 + n * 7 % 11) as i64 * 5 + i64::from(n.is_multiple_of(5)),
            low: 0,
            high: n % 4,
        };
        let items: Vec<KnapsackItem> = (0..40).map(item).collect();
        for width in [1, 2, 60, 150, 999] {
            let whole = solve_in_blocks::<i64>(&items, width, items.len(), None);
            for block in [1, 2, 3, 7, 39, 40] {
                let (ints, floats) = (
                    solve_in_blocks::<i64>(&items, width, block, None),
                    solve_in_blocks::<f64>(&items, width, block, None),
                );
                assert_eq!((&ints, &floats), (&whole, &whole), "{width}, {block}");
            }
        }
        assert_eq!(solve(&[], 9, None), Some(vec![]));
        assert_eq!(solve(&[], 9, Some(1)), None);
    }

    #[test]
    fn all_rows_are_kept_where_they_are_not_too_large() {
        assert_eq!(block(4_000, 1_000), 4_000);
        assert_eq!(block(4_200, 1_000), 64);
        assert_eq!(block(0, 9), 1);
    }

    #[test]
    fn values_beyond_what_floats_tell_apart_are_told_apart() {
        let huge = 1 << 55;
        let item = |value: i64| KnapsackItem { cost: 1, value, low: 0, high: 1 };
        let items = [item(huge), item(huge + 1), item(huge + 2)];
        assert!(!is_exact(&items, 1) && is_exact(&[item(7)], 1 << 17));
        assert_eq!(solve(&items, 1, None), Some(vec![0, 0, 1]));
    }
}
