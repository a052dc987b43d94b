//! Changing the sizes of slots.

use std::collections::BTreeMap;

use super::rows::{SlotRow, place_in};
use super::{Layout, LayoutColumn, Placed, SlotPlace};
use crate::pane::PaneId;

/// Dimension of a pane that is resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeAxis {
    Height,
    Width,
}

/// The fewest rows of a slot and cells of a column after a resize.
const ROWS: u16 = 5;
const CELLS: u16 = 24;

impl Layout {
    /// Makes the slot of a pane larger by this many rows or cells, or smaller if `by` is negative. The slot or column
    /// beside it changes by the opposite. `placed` says where the panes are now. False: there is no room or no
    /// neighbour.
    pub fn resize(&mut self, pane: PaneId, side: ResizeAxis, by: i16, placed: &[Placed]) -> bool {
        self.change(pane, side, placed, |own, other, least| moved(own, other, by, least))
    }

    /// Like [`Self::resize`], but only as far as there is room.
    pub fn stretch(&mut self, pane: PaneId, side: ResizeAxis, by: i16, placed: &[Placed]) -> bool {
        self.change(pane, side, placed, |own, other, least| {
            let room = |size: u16| i16::try_from(size.saturating_sub(least)).unwrap_or(i16::MAX);
            moved(own, other, by.clamp(-room(own), room(other)), least)
        })
    }

    /// Changes the sizes of a pane's slot and of the one beside it; `sizes` computes both, given their least size.
    fn change(
        &mut self,
        pane: PaneId,
        side: ResizeAxis,
        placed: &[Placed],
        sizes: impl Fn(u16, u16, u16) -> Option<(u16, u16)>,
    ) -> bool {
        self.adopt(placed);
        let Some((x, y)) = self.slot_of(pane) else { return false };
        self.take_sizes(placed);
        let seen: Vec<_> = placed.iter().filter_map(|it| self.slot_of(it.pane)).collect();
        let rows = self.columns[x].rows(|at| seen.contains(&(x, at)));
        let Some((row, part, at)) = place_in(&rows, y) else { return false };
        let slots = &mut self.columns[x].slots;
        match side {
            // Slots of one part of a row change among themselves.
            ResizeAxis::Height if rows[row][part].slots.len() > 1 => {
                let stack = &rows[row][part].slots;
                let Some(other) = neighbour(stack, stack[at]) else { return false };
                let Some((own, others)) = sizes(slots[y].height, slots[other].height, ROWS) else {
                    return false;
                };
                (slots[y].height, slots[other].height) = (own, others);
            }
            ResizeAxis::Height => {
                self.columns[x].sized = true;
                let all: Vec<usize> = (0..rows.len()).collect();
                let Some(other) = neighbour(&all, row) else { return false };
                let height = |row: &SlotRow| self.columns[x].height_of(row);
                let (own, others) = (height(&rows[row]), height(&rows[other]));
                let Some(new) = sizes(own, others, ROWS) else { return false };
                self.columns[x].set_height(&rows[row], new.0);
                self.columns[x].set_height(&rows[other], new.1);
            }
            ResizeAxis::Width if rows[row].len() > 1 => {
                let all: Vec<usize> = (0..rows[row].len()).collect();
                let Some(other) = neighbour(&all, part) else { return false };
                let whole = self.columns[x].width;
                let cells = |at: usize| permille(rows[row][at].share, whole, 1000);
                let Some(new) = sizes(cells(part), cells(other), CELLS) else { return false };
                for (at, cells) in [(part, new.0), (other, new.1)] {
                    let first = rows[row][at].slots.first();
                    let slot = first.and_then(|at| self.columns[x].slots.get_mut(*at));
                    if let Some(slot) = slot.filter(|slot| slot.place != SlotPlace::Below) {
                        slot.place = SlotPlace::Beside(permille(cells, 1000, whole));
                    }
                }
            }
            ResizeAxis::Width => {
                let mut all: Vec<usize> = seen.iter().map(|slot| slot.0).collect();
                all.sort_unstable();
                all.dedup();
                let Some(other) = neighbour(&all, x) else { return false };
                let (own, others) = (self.columns[x].width, self.columns[other].width);
                let Some(new) = sizes(own, others, CELLS) else { return false };
                (self.columns[x].width, self.columns[other].width) = new;
            }
        }
        true
    }

    /// Gives all columns one width, and all slots of a column one height.
    pub fn equal(&mut self) {
        for column in &mut self.columns {
            (column.width, column.sized) = (1, true);
            column.slots.iter_mut().for_each(|slot| slot.height = 1);
        }
    }

    /// Sets the shares to the visible sizes, so that a step of one is a step of one row or cell.
    fn take_sizes(&mut self, placed: &[Placed]) {
        let mut ends: BTreeMap<usize, (u16, u16)> = BTreeMap::new();
        for it in placed {
            if let Some((x, y)) = self.slot_of(it.pane) {
                let end = ends.entry(x).or_insert((it.area.x, it.area.right()));
                *end = (end.0.min(it.area.x), end.1.max(it.area.right()));
                self.columns[x].slots[y].height = it.area.height;
            }
        }
        ends.into_iter().for_each(|(x, (left, right))| self.columns[x].width = right - left);
    }
}

impl LayoutColumn {
    /// The height of a row: that of its first part.
    fn height_of(&self, row: &SlotRow) -> u16 {
        let slots = row.first().map_or(&[][..], |part| &part.slots);
        let shared = u16::try_from(slots.len().saturating_sub(1)).unwrap_or(0);
        let sum: u16 = slots.iter().map(|at| self.slots[*at].height).sum();
        sum.saturating_sub(shared)
    }

    /// Gives a row this height: the last slot of each part takes the change.
    fn set_height(&mut self, row: &SlotRow, height: u16) {
        for part in row {
            let own = self.height_of(&vec![part.clone()]);
            let last = part.slots.last().and_then(|at| self.slots.get_mut(*at));
            let last = last.into_iter();
            last.for_each(|slot| slot.height = (slot.height + height).saturating_sub(own).max(1));
        }
    }
}

/// A share of one length as a share of another one.
fn permille(share: u16, of: u16, whole: u16) -> u16 {
    let whole = u32::from(whole.max(1));
    let part = (u32::from(share) * u32::from(of) + whole / 2) / whole;
    u16::try_from(part).unwrap_or(u16::MAX)
}

/// The next of `all` after `at`; after the last, the one before it.
fn neighbour(all: &[usize], at: usize) -> Option<usize> {
    let place = all.iter().position(|other| *other == at)?;
    all.get(place + 1).or_else(|| all.get(place.checked_sub(1)?)).copied()
}

/// The sizes of two neighbours after their border moves; `None`: one of them would be less than `least`.
fn moved(own: u16, other: u16, by: i16, least: u16) -> Option<(u16, u16)> {
    let (own, other) = (own.checked_add_signed(by)?, other.checked_add_signed(by.checked_neg()?)?);
    let shrunk = if by > 0 { other } else { own };
    (shrunk >= least).then_some((own, other))
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::domain::Strategy;
    use crate::layout::{Size, place};

    const BODY: Rect = Rect { x: 0, y: 1, width: 120, height: 38 };

    fn placed(layout: &Layout) -> Vec<Placed> {
        place(layout, BODY, |_| true, |_| None)
    }

    fn area(layout: &Layout, pane: PaneId) -> Rect {
        placed(layout).into_iter().find(|placed| placed.pane == pane).unwrap().area
    }

    #[test]
    fn a_step_moves_a_border_by_that_much() {
        let mut layout = Layout::standard(Strategy::default(), Size::Large);
        let seen = layout.seen(|_| true);
        for pane in seen {
            let before = area(&layout, pane);
            let now = placed(&layout);
            assert!(layout.resize(pane, ResizeAxis::Height, 1, &now), "{pane:?}");
            assert_eq!(area(&layout, pane).height, before.height + 1, "{pane:?}");
            let now = placed(&layout);
            assert!(layout.resize(pane, ResizeAxis::Width, -2, &now), "{pane:?}");
            assert_eq!(area(&layout, pane).width, before.width - 2, "{pane:?}");
        }
    }

    #[test]
    fn a_border_is_stretched_as_far_as_there_is_room() {
        let standard = Layout::standard(Strategy::default(), Size::Large);
        let pane = standard.seen(|_| true)[0];
        for (by, edge) in [(-1000, ROWS), (1000, u16::MAX)] {
            let mut layout = standard.clone();
            let now = placed(&layout);
            assert!(layout.stretch(pane, ResizeAxis::Height, by, &now));
            let height = area(&layout, pane).height;
            assert!(by > 0 || height == edge, "{height}");
            assert!(placed(&layout).iter().all(|it| it.area.height >= ROWS.min(edge)));
            // There is no more room.
            let now = placed(&layout);
            assert!(!layout.resize(pane, ResizeAxis::Height, by.signum(), &now));
        }
    }

    #[test]
    fn nothing_becomes_smaller_than_what_can_be_read() {
        let mut layout = Layout::standard(Strategy::default(), Size::Large);
        let pane = layout.seen(|_| true)[0];
        while layout.resize(pane, ResizeAxis::Height, 1, &placed(&layout)) {}
        while layout.resize(pane, ResizeAxis::Width, 2, &placed(&layout)) {}
        assert!(placed(&layout).iter().all(|it| it.area.height >= 4 && it.area.width >= 20));
        layout.equal();
        let columns: Vec<u16> = placed(&layout).iter().map(|it| it.area.width).collect();
        assert!(columns.iter().all(|width| (60..=61).contains(width)), "{columns:?}");
        layout.only(pane);
        assert!(!layout.resize(pane, ResizeAxis::Height, 1, &placed(&layout)));
    }
}
