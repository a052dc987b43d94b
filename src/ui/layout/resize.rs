//! Changing the sizes of slots.

use super::{Layout, Placed};
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
        let seen = placed.iter().filter_map(|it| self.slot_of(it.pane));
        let (at, least, mut beside): (_, _, Vec<usize>) = match side {
            ResizeAxis::Height => {
                (y, ROWS, seen.filter(|slot| slot.0 == x).map(|slot| slot.1).collect())
            }
            ResizeAxis::Width => (x, CELLS, seen.map(|slot| slot.0).collect()),
        };
        beside.sort();
        beside.dedup();
        self.columns[x].sized |= side == ResizeAxis::Height;
        let Some(other) = neighbour(&beside, at) else { return false };
        let (own, others) = (*self.size(side, x, at), *self.size(side, x, other));
        let Some((own, others)) = sizes(own, others, least) else { return false };
        *self.size(side, x, at) = own;
        *self.size(side, x, other) = others;
        true
    }

    /// The share of a column, or of a slot in the column `x`.
    fn size(&mut self, side: ResizeAxis, x: usize, at: usize) -> &mut u16 {
        match side {
            ResizeAxis::Height => &mut self.columns[x].slots[at].height,
            ResizeAxis::Width => &mut self.columns[at].width,
        }
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
        for it in placed {
            if let Some((x, y)) = self.slot_of(it.pane) {
                self.columns[x].width = it.area.width;
                self.columns[x].slots[y].height = it.area.height;
            }
        }
    }
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
