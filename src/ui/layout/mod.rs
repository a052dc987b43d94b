//! Where everything goes. The screen is cut into columns, and a column into slots. A slot shows one pane
//! and names the others in its title; the key of a pane brings it into its slot.
//!
//! ```text
//! 80×24: two slots          120×30: two columns           200×45: three columns
//! ┌ header ────────┐        ┌ header ──────────────┐      ┌ header ──────────────────────┐
//! │ vitals         │        │ Graph     │ Budget   │      │ Graph     │ Budget │ Tasks    │
//! │ Calls  1 8 9   │        │           │ Models   │      │           │ Tools  │ Transcr. │
//! ├────────────────┤        │ Calls     ├──────────┤      │           │        │          │
//! │ Transcript 3 4 │        ├───────────┤ Plan     │      ├───────────┤ Models │          │
//! │                │        │ Transcript│ Tools 4 7│      │ Calls     │ Plan   │          │
//! │ time           │        │ time                 │      │ time                         │
//! └ footer ────────┘        └ footer ──────────────┘      └ footer ──────────────────────┘
//! ```
//!
//! A layout belongs to a strategy, or to watched agents, and to a size class, since each of them needs other panes.

mod border;
mod fill;
pub mod load;
mod place;
mod resize;
mod rows;
mod session_layouts;
mod standard;
mod watch_layouts;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::pane::PaneId;

pub use border::Border;
pub use fill::fill;
pub use load::{LayoutFile, Saved};
pub use place::{Placed, place};
pub use resize::ResizeAxis;
pub use session_layouts::Layouts;

/// The smallest readable screen.
pub const MIN: (u16, u16) = (60, 16);

/// Screens that are laid out alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, VariantArray, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Size {
    /// A single slot.
    Tiny,
    /// From 80×24: two slots.
    Small,
    /// From 100×30: three slots.
    Medium,
    /// From 120×30: two columns.
    Large,
    /// From 200×45: three columns.
    Huge,
    /// From 260×75: three columns in which more panes have a slot.
    Giant,
}

impl Size {
    /// The largest size that fits these columns and rows; `None`: the screen is too small.
    pub fn of(columns: u16, rows: u16) -> Option<Self> {
        Self::VARIANTS.iter().copied().rev().find(|size| {
            let (width, height) = size.least();
            columns >= width && rows >= height
        })
    }

    fn least(self) -> (u16, u16) {
        match self {
            Size::Tiny => MIN,
            Size::Small => (80, 24),
            Size::Medium => (100, 30),
            Size::Large => (120, 30),
            Size::Huge => (200, 45),
            Size::Giant => (260, 75),
        }
    }

    /// Whether there is a row of time.
    pub fn has_scrubber(self) -> bool {
        self > Size::Tiny
    }

    /// Whether the vitals have a row of their own, since few panes are visible.
    pub fn has_vitals(self) -> bool {
        self < Size::Large
    }
}

/// Where panes are. Every pane is in one slot at most; one without a slot is hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// From left to right, at least one.
    pub columns: Vec<LayoutColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Column")]
pub struct LayoutColumn {
    /// Share of the width.
    pub width: u16,
    /// Whether the person has sized it: slots then keep their shares of the height even if their panes can use less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sized: bool,
    /// From the top down, at least one.
    pub slots: Vec<LayoutSlot>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "struct Slot")]
pub struct LayoutSlot {
    /// Share of the height of the column.
    pub height: u16,
    /// At least one, each named in the title.
    #[serde(deserialize_with = "load::panes")]
    pub panes: Vec<PaneId>,
    /// The index in `panes` of the shown one.
    #[serde(default)]
    pub shown: usize,
    #[serde(default, skip_serializing_if = "SlotPlace::is_below")]
    pub place: SlotPlace,
}

/// The place of a slot beside the one before it in its column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotPlace {
    /// In a row of its own.
    #[default]
    Below,
    /// In the same row, at the right, with this share of 1000 of the width.
    Beside(u16),
    /// In the same part of the row, below it.
    Under,
}

impl SlotPlace {
    fn is_below(&self) -> bool {
        *self == SlotPlace::Below
    }
}

fn column(width: u16, slots: Vec<LayoutSlot>) -> LayoutColumn {
    LayoutColumn { width, sized: false, slots }
}

fn slot(height: u16, panes: &[PaneId]) -> LayoutSlot {
    LayoutSlot { height, panes: panes.to_vec(), shown: 0, place: SlotPlace::Below }
}

fn beside(share: u16, height: u16, panes: &[PaneId]) -> LayoutSlot {
    LayoutSlot { place: SlotPlace::Beside(share), ..slot(height, panes) }
}

fn under(height: u16, panes: &[PaneId]) -> LayoutSlot {
    LayoutSlot { place: SlotPlace::Under, ..slot(height, panes) }
}

impl LayoutSlot {
    /// Returns the visible pane: the shown one, else the first that has something to show.
    fn pane(&self, has: impl Fn(PaneId) -> bool) -> Option<PaneId> {
        let shown = self.panes.get(self.shown).copied().filter(|pane| has(*pane));
        shown.or_else(|| self.panes.iter().copied().find(|pane| has(*pane)))
    }
}

impl Layout {
    /// The column and the row of the slot that a pane is in.
    pub fn slot_of(&self, pane: PaneId) -> Option<(usize, usize)> {
        let mut slots = self.columns.iter().enumerate().flat_map(|(x, column)| {
            column.slots.iter().enumerate().map(move |(y, slot)| ((x, y), slot))
        });
        slots.find(|(_, slot)| slot.panes.contains(&pane)).map(|(at, _)| at)
    }

    /// Every pane that has a slot, in reading order.
    pub fn panes(&self) -> impl Iterator<Item = PaneId> {
        let slots = self.columns.iter().flat_map(|column| &column.slots);
        slots.flat_map(|slot| slot.panes.iter().copied())
    }

    /// The visible panes, in reading order.
    pub fn seen(&self, has: impl Fn(PaneId) -> bool + Copy) -> Vec<PaneId> {
        let slots = self.columns.iter().flat_map(|column| &column.slots);
        slots.filter_map(|slot| slot.pane(has)).collect()
    }

    /// Brings a pane into its slot. A pane without a slot comes into the slot of `beside`.
    pub fn show(&mut self, pane: PaneId, beside: PaneId) {
        if self.slot_of(pane).is_none() {
            return self.put(pane, beside);
        }
        for slot in self.columns.iter_mut().flat_map(|column| &mut column.slots) {
            if let Some(at) = slot.panes.iter().position(|other| *other == pane) {
                slot.shown = at;
            }
        }
    }

    /// Moves a pane from its slot to that of `beside`, and shows it.
    pub fn put(&mut self, pane: PaneId, beside: PaneId) {
        if pane != beside {
            self.hide(pane);
        }
        let (x, y) = self.slot_of(beside).unwrap_or((0, 0));
        let slot = &mut self.columns[x].slots[y];
        if !slot.panes.contains(&pane) {
            slot.panes.push(pane);
        }
        self.show(pane, beside);
    }

    /// Hides a pane, and its slot if it is empty then. False: it is the last pane, which stays.
    pub fn hide(&mut self, pane: PaneId) -> bool {
        let Some((x, y)) = self.slot_of(pane) else { return true };
        let slots: usize = self.columns.iter().map(|column| column.slots.len()).sum();
        let slot = &mut self.columns[x].slots[y];
        if slots == 1 && slot.panes.len() == 1 {
            return false;
        }
        let at = slot.panes.iter().position(|other| *other == pane).unwrap_or_default();
        slot.panes.remove(at);
        if slot.shown >= slot.panes.len() || at < slot.shown {
            slot.shown = slot.shown.saturating_sub(1);
        }
        if slot.panes.is_empty() {
            let gone = self.columns[x].slots.remove(y).place;
            // The next slot of its row takes its place.
            if let Some(next) = self.columns[x].slots.get_mut(y) {
                let is_under = next.place == SlotPlace::Under;
                if gone.is_below() && !next.place.is_below() || is_under && gone != SlotPlace::Under
                {
                    next.place = gone;
                }
            }
        }
        if self.columns[x].slots.is_empty() {
            self.columns.remove(x);
        }
        true
    }

    /// Hides all panes but this one.
    pub fn only(&mut self, pane: PaneId) {
        self.columns = vec![LayoutColumn { width: 1, sized: true, slots: vec![slot(1, &[pane])] }];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Strategy;

    fn large() -> Layout {
        Layout::standard(Strategy::default(), Size::Large)
    }

    #[test]
    fn a_pane_is_shown_hidden_and_put_elsewhere() {
        let mut layout = large();
        let all = layout.seen(|_| true).len();
        let (graph, transcript) = (PaneId::Graph, PaneId::Transcript);
        assert!(layout.hide(graph) && layout.slot_of(graph).is_none());
        layout.show(graph, transcript);
        assert_eq!(layout.slot_of(graph), layout.slot_of(transcript));
        assert!(layout.seen(|_| true).contains(&graph));
        assert!(layout.seen(|pane| pane != graph).contains(&transcript));
        layout.only(graph);
        assert_eq!(layout.seen(|_| true), [graph]);
        assert!(!layout.hide(graph), "the last pane stays");
        assert!(all > 4);
    }

    proptest! {
        #[test]
        fn whatever_is_done_no_pane_is_twice_there_and_no_slot_is_empty(
            does in proptest::collection::vec((0usize..4, 0usize..10, 0usize..10), 0..40),
        ) {
            let mut layout = large();
            for (what, pane, other) in does {
                let (pane, other) = (PaneId::ALL[pane], PaneId::ALL[other]);
                match what {
                    0 => layout.show(pane, other),
                    1 => layout.put(pane, other),
                    2 => _ = layout.hide(pane),
                    _ => layout.only(pane),
                }
                prop_assert!(load::fault(&layout).is_none(), "{layout:?}");
                let is_seen = layout.seen(|_| true).contains(&pane);
                prop_assert!(is_seen || what == 2, "{layout:?}");
            }
        }
    }
}
