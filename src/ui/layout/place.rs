//! The cells of each slot.

use ratatui::layout::Rect;

use super::Layout;
use super::rows::{RowPart, SlotRow};
use crate::pane::PaneId;

/// A pane in its slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub pane: PaneId,
    /// The other panes of the slot that have something to show.
    pub others: Vec<PaneId>,
    /// The area with its frame; neighbours share a line of their frames.
    pub area: Rect,
    /// The column whose spare rows show the pane; `None`: it is in its own slot.
    pub spare: Option<usize>,
}

/// The fewest cells of a column and rows of a slot, including the frame.
const LEAST: (u16, u16) = (20, 4);

/// Gives every slot with a pane that `has` something to show its cells. `most` is the number of rows that a pane can
/// use; `None`: any number.
pub fn place(
    layout: &Layout,
    body: Rect,
    has: impl Fn(PaneId) -> bool + Copy,
    most: impl Fn(PaneId) -> Option<u16> + Copy,
) -> Vec<Placed> {
    let columns: Vec<_> = layout
        .columns
        .iter()
        .map(|column| {
            let shown: Vec<_> = column.slots.iter().map(|slot| slot.pane(has)).collect();
            let rows = column.rows(|at| shown[at].is_some());
            (column, shown, rows)
        })
        .filter(|(_, _, rows)| !rows.is_empty())
        .collect();
    let widths: Vec<LengthShare> = columns
        .iter()
        .map(|(column, ..)| LengthShare { share: column.width, least: LEAST.0, most: None })
        .collect();
    let mut placed = Vec::new();
    for ((column, shown, rows), (x, width)) in columns.iter().zip(overlapping(body.width, &widths))
    {
        let part_of = |at: usize| {
            let rows = shown[at].and_then(most).map(|rows| rows.saturating_add(2));
            let (share, most) = (column.slots[at].height, rows.filter(|_| !column.sized));
            LengthShare { share, least: LEAST.1, most }
        };
        let stacked = |part: &RowPart| part.slots.iter().map(|at| part_of(*at)).collect::<Vec<_>>();
        let of_row = |row: &SlotRow| {
            let all = row.iter().map(|part| LengthShare::together(&stacked(part)));
            all.reduce(LengthShare::larger).unwrap_or(LengthShare::NONE)
        };
        let heights: Vec<LengthShare> = rows.iter().map(of_row).collect();
        for (row, (y, height)) in rows.iter().zip(overlapping(body.height, &heights)) {
            let of_part =
                |part: &RowPart| LengthShare { share: part.share, least: LEAST.0, most: None };
            let cells: Vec<LengthShare> = row.iter().map(of_part).collect();
            for (part, (left, cells)) in row.iter().zip(overlapping(width, &cells)) {
                let lengths = overlapping(height, &stacked(part));
                for (at, (top, rows)) in part.slots.iter().zip(lengths) {
                    let Some(pane) = shown[*at] else { continue };
                    let others = column.slots[*at].panes.iter().copied();
                    let others = others.filter(|other| *other != pane && has(*other)).collect();
                    let (x, y) = (body.x + x + left, body.y + y + top);
                    let area = Rect { x, y, width: cells, height: rows };
                    placed.push(Placed { pane, others, area, spare: None });
                }
            }
        }
    }
    placed
}

/// Share of a length, with its bounds.
#[derive(Clone, Copy, Debug)]
struct LengthShare {
    share: u16,
    least: u16,
    most: Option<u16>,
}

impl LengthShare {
    const NONE: Self = Self { share: 0, least: 0, most: None };

    /// The share of parts below each other, which share a line with the one before.
    fn together(parts: &[Self]) -> Self {
        let shared = u16::try_from(parts.len().saturating_sub(1)).unwrap_or(u16::MAX);
        let sum = |of: fn(&Self) -> u16| parts.iter().map(of).fold(0, u16::saturating_add);
        let most = parts.iter().map(|part| part.most.map(|most| most.max(part.least)));
        let most: Option<Vec<u16>> = most.collect();
        let most = most.map(|most| most.into_iter().fold(0, u16::saturating_add));
        Self {
            share: sum(|part| part.share),
            least: sum(|part| part.least).saturating_sub(shared),
            most: most.map(|most| most.saturating_sub(shared)),
        }
    }

    /// The share of parts beside each other.
    fn larger(self, other: Self) -> Self {
        Self {
            share: self.share.max(other.share),
            least: self.least.max(other.least),
            most: self.most.zip(other.most).map(|(one, two)| one.max(two)),
        }
    }
}

/// The start and the length of each part; each shares its first cell with the part before.
fn overlapping(total: u16, parts: &[LengthShare]) -> Vec<(u16, u16)> {
    let shared = u16::try_from(parts.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let mut start = 0;
    let lengths = split(total.saturating_add(shared), parts).into_iter();
    lengths
        .map(|length| {
            let at = start;
            start += length.saturating_sub(1);
            (at, length)
        })
        .collect()
}

/// Lengths that add up to `total`, by the shares, within `least` and `most` if possible. If all have their most, the
/// rest is split in proportion to their lengths, so that none is much emptier than another.
fn split(total: u16, parts: &[LengthShare]) -> Vec<u16> {
    let mut fixed: Vec<Option<u16>> = vec![None; parts.len()];
    loop {
        let open = || parts.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none());
        let shares: f64 = open().map(|(part, _)| f64::from(part.share.max(1))).sum();
        let taken: u16 = fixed.iter().flatten().fold(0, |sum, length| sum.saturating_add(*length));
        let left = f64::from(total.saturating_sub(taken));
        let ideal = |part: &LengthShare| left * f64::from(part.share.max(1)) / shares;
        let within = |part: &LengthShare| {
            let most = part.most.unwrap_or(u16::MAX).max(part.least);
            ideal(part).clamp(f64::from(part.least), f64::from(most))
        };
        // If there is too little for all, parts above their share are fixed first; else parts below it.
        let too_much: f64 = open().map(|(part, _)| within(part) - ideal(part)).sum();
        let mut settled = false;
        for (part, fixed) in parts.iter().zip(&mut fixed).filter(|(_, fixed)| fixed.is_none()) {
            let change = within(part) - ideal(part);
            if change != 0.0 && change * too_much >= 0.0 {
                *fixed = Some(within(part) as u16);
                settled = true;
            }
        }
        if !settled || fixed.iter().all(Option::is_some) {
            break;
        }
    }
    let open: Vec<usize> = (0..parts.len()).filter(|at| fixed[*at].is_none()).collect();
    let taken: u16 = fixed.iter().flatten().fold(0, |sum, length| sum.saturating_add(*length));
    let mut lengths: Vec<u16> = fixed.iter().map(|length| length.unwrap_or(0)).collect();
    match total.checked_sub(taken) {
        Some(left) if !open.is_empty() => deal(left, &open, parts, &mut lengths),
        Some(left) => spread(left, &mut lengths),
        // Even the least of each is too much: the shares alone decide.
        None => {
            lengths.fill(0);
            deal(total, &(0..parts.len()).collect::<Vec<_>>(), parts, &mut lengths);
        }
    }
    lengths
}

/// Adds `left` to these lengths in all, in proportion to each.
fn spread(left: u16, lengths: &mut [u16]) {
    let sum: u32 = lengths.iter().map(|length| u32::from(*length)).sum();
    let mut rest = left;
    for length in lengths.iter_mut() {
        let more = (u32::from(left) * u32::from(*length)).checked_div(sum).unwrap_or(0) as u16;
        *length += more;
        rest -= more;
    }
    // Rounding leaves fewer cells than there are parts; parts without any length leave all of them.
    let count = (lengths.len() as u16).max(1);
    for (at, length) in (0..).zip(lengths.iter_mut()) {
        *length += rest / count + u16::from(at < rest % count);
    }
}

/// Deals `left` cells to these parts by their shares; cells left by rounding go to the first parts that may have more.
fn deal(left: u16, to: &[usize], parts: &[LengthShare], lengths: &mut [u16]) {
    let share = |at: &usize| u32::from(parts[*at].share.max(1));
    let shares: u32 = to.iter().map(share).sum();
    let mut dealt = 0;
    for at in to {
        let cells = (u32::from(left) * share(at) / shares) as u16;
        lengths[*at] = cells;
        dealt += cells;
    }
    let has_room = |at: &usize| parts[*at].most.is_none_or(|most| lengths[*at] < most);
    let (room, full): (Vec<usize>, Vec<usize>) = to.iter().partition(|at| has_room(at));
    for at in room.into_iter().chain(full).cycle().take(usize::from(left - dealt)) {
        lengths[at] += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Strategy;
    use crate::layout::{MIN, Size};

    fn part(share: u16, least: u16, most: Option<u16>) -> LengthShare {
        LengthShare { share, least, most }
    }

    #[test]
    fn shares_bounds_and_what_is_left() {
        assert_eq!(split(30, &[part(1, 4, None), part(2, 4, None)]), [10, 20]);
        assert_eq!(split(30, &[part(1, 4, Some(6)), part(1, 4, None)]), [6, 24]);
        assert_eq!(split(30, &[part(1, 4, Some(6)), part(1, 4, Some(8))]), [13, 17]);
        assert_eq!(split(30, &[part(1, 8, None), part(9, 4, None)]), [8, 22]);
        assert_eq!(split(5, &[part(1, 4, None), part(1, 4, None)]), [3, 2]);
        let capped = [part(8, 5, Some(5)), part(4, 0, None), part(36, 0, None)];
        assert_eq!(split(30, &capped), [5, 3, 22]);
        assert_eq!(overlapping(20, &[part(1, 4, None), part(1, 4, None)]), [(0, 11), (10, 10)]);
    }

    proptest! {
        #[test]
        fn lengths_add_up_and_keep_their_bounds_where_they_can(
            total in 0u16..400,
            parts in proptest::collection::vec((0u16..40, 0u16..9, proptest::option::of(0u16..60)), 1..8),
        ) {
            let parts: Vec<LengthShare> =
                parts.into_iter().map(|(share, least, most)| part(share, least, most)).collect();
            let lengths = split(total, &parts);
            prop_assert_eq!(lengths.iter().sum::<u16>(), total);
            let least: u16 = parts.iter().map(|part| part.least).sum();
            let most = parts.iter().map(|part| part.most.map(|most| most.max(part.least)));
            let most: Option<u16> = most.sum();
            if least <= total && most.is_none_or(|most| most >= total) {
                for (length, part) in lengths.iter().zip(&parts) {
                    let most = part.most.unwrap_or(u16::MAX).max(part.least);
                    prop_assert!((part.least..=most).contains(length), "{lengths:?} {parts:?}");
                }
            }
        }

        #[test]
        fn panes_cover_the_body_and_share_only_lines(
            width in MIN.0..330, height in MIN.1..100, which in 0usize..72, hidden in 0usize..10,
        ) {
            let strategy = Strategy::all().nth(which).unwrap_or_default();
            let body = Rect::new(0, 2, width, height - 2);
            let size = Size::of(width, height).unwrap();
            let layout = Layout::standard(strategy, size);
            let has = |pane| pane != PaneId::ALL[hidden];
            let placed = place(&layout, body, has, |_| Some(9));
            let mut owners = vec![0u8; usize::from(width) * usize::from(height)];
            for placed in &placed {
                prop_assert!(placed.area.width >= 4 && placed.area.height >= 3, "{placed:?}");
                for at in placed.area.positions() {
                    owners[usize::from(at.y) * usize::from(width) + usize::from(at.x)] += 1;
                }
                let inside = placed.area.inner(ratatui::layout::Margin::new(1, 1));
                for at in inside.positions() {
                    let owner = owners[usize::from(at.y) * usize::from(width) + usize::from(at.x)];
                    prop_assert_eq!(owner, 1);
                }
            }
            prop_assert!(body.positions().all(
                |at| owners[usize::from(at.y) * usize::from(width) + usize::from(at.x)] > 0
            ));
        }
    }
}
