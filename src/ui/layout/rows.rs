//! The rows of a column: slots below each other, beside each other, and stacked in a part of a row.

use super::{LayoutColumn, SlotPlace};

/// A part of a row: its share of 1000 of the row's width, and its slots from the top down, by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowPart {
    pub share: u16,
    pub slots: Vec<usize>,
}

/// A row: its parts, from left to right.
pub(super) type SlotRow = Vec<RowPart>;

impl LayoutColumn {
    /// The rows of the slots that are `shown`, from the top down. No row and no part of one is empty.
    pub(super) fn rows(&self, shown: impl Fn(usize) -> bool) -> Vec<SlotRow> {
        let mut rows: Vec<SlotRow> = Vec::new();
        for (at, slot) in self.slots.iter().enumerate() {
            match (slot.place, rows.last_mut()) {
                (SlotPlace::Beside(share), Some(row)) => {
                    row.push(RowPart { share, slots: vec![at] })
                }
                (SlotPlace::Under, Some(row)) => {
                    row.iter_mut().next_back().into_iter().for_each(|part| part.slots.push(at));
                }
                (SlotPlace::Below, _) | (_, None) => {
                    rows.push(vec![RowPart { share: 0, slots: vec![at] }]);
                }
            }
        }
        for row in &mut rows {
            let taken: u16 = row.iter().skip(1).fold(0, |sum, part| sum.saturating_add(part.share));
            row.iter_mut()
                .take(1)
                .for_each(|part| part.share = 1000u16.saturating_sub(taken).max(1));
            row.iter_mut().for_each(|part| part.slots.retain(|at| shown(*at)));
            row.retain(|part| !part.slots.is_empty());
        }
        rows.retain(|row| !row.is_empty());
        rows
    }
}

/// The place of a slot among the parts of all rows: its row, its part, and its place there.
pub(super) fn place_in(rows: &[SlotRow], slot: usize) -> Option<(usize, usize, usize)> {
    rows.iter().enumerate().find_map(|(y, row)| {
        row.iter().enumerate().find_map(|(x, part)| {
            let at = part.slots.iter().position(|other| *other == slot)?;
            Some((y, x, at))
        })
    })
}
