//! Panes hidden behind others get slots of their own at the foot of columns with spare rows.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::place::{Placed, place};
use super::{Layout, LayoutColumn, slot};
use crate::pane::PaneId;

use PaneId as P;

/// Panes that get spare rows, the most useful first. Other panes are shown only by their keys.
const ORDER: [PaneId; 20] = [
    P::Resilience,
    P::Calls,
    P::Graph,
    P::Budget,
    P::Plan,
    P::Models,
    P::Tasks,
    P::Tools,
    P::Knobs,
    P::Problems,
    P::Output,
    P::Servers,
    P::Search,
    P::Revisions,
    P::Variables,
    P::Probing,
    P::Breakpoints,
    P::Watches,
    P::Conversations,
    P::Reading,
];
/// The rows of a pane that could use any number, and the fewest that are worth a slot.
const WANTED: u16 = 12;
const LEAST: u16 = 3;

/// Like [`place`], but spare rows show panes that are hidden behind others.
pub fn fill(
    layout: &Layout,
    body: Rect,
    has: impl Fn(PaneId) -> bool + Copy,
    most: impl Fn(PaneId) -> Option<u16> + Copy,
) -> Vec<Placed> {
    let filled = filled(layout, body.height, has, most);
    let mut placed = place(&filled, body, has, most);
    for it in &mut placed {
        let slot = filled.slot_of(it.pane);
        it.spare = slot.map(|(x, _)| x).filter(|_| slot != layout.slot_of(it.pane));
    }
    placed
}

/// The layout with slots for the panes in spare rows: always after its own slots.
fn filled(
    layout: &Layout,
    rows: u16,
    has: impl Fn(PaneId) -> bool + Copy,
    most: impl Fn(PaneId) -> Option<u16> + Copy,
) -> Cow<'_, Layout> {
    let mut filled = Cow::Borrowed(layout);
    for pane in ORDER.into_iter().filter(|pane| has(*pane)) {
        let Some((home, _)) = filled.slot_of(pane) else { continue };
        if filled.seen(has).contains(&pane) {
            continue;
        }
        let needs = most(pane).unwrap_or(WANTED).clamp(LEAST, WANTED) + 1;
        let spare = |x: &usize| spare(&filled.columns[*x], rows, has, most).unwrap_or(0);
        let fits = (0..filled.columns.len()).filter(|x| spare(x) >= needs);
        // People look for a pane in its home column first.
        if let Some(x) = fits.max_by_key(|x| (*x == home, spare(x))) {
            let filled = filled.to_mut();
            filled.hide(pane);
            filled.columns[x].slots.push(slot(needs + 1, &[pane]));
        }
    }
    filled
}

/// The rows of a column that none of its panes can use; `None`: it shows no pane, or a person has sized it.
fn spare(
    column: &LayoutColumn,
    rows: u16,
    has: impl Fn(PaneId) -> bool + Copy,
    most: impl Fn(PaneId) -> Option<u16> + Copy,
) -> Option<u16> {
    let shown: Vec<_> = column.slots.iter().map(|slot| slot.pane(has)).collect();
    let parts = column.rows(|at| shown[at].is_some());
    parts.first().filter(|_| !column.sized)?;
    // Each pane has a line above it, and the last one a line below it.
    let needs = |at: &usize| Some(most(shown[*at]?)?.max(2).saturating_add(1));
    let taken = parts.iter().try_fold(1, |sum: u16, row| {
        let stacked = row.iter().map(|part| part.slots.iter().map(needs).sum::<Option<u16>>());
        let most: Option<Vec<u16>> = stacked.collect();
        Some(sum.saturating_add(most?.into_iter().max()?))
    });
    rows.checked_sub(taken?)
}

impl Layout {
    /// Turns the panes shown in spare rows into slots of the layout, so that they can be sized.
    pub fn adopt(&mut self, placed: &[Placed]) {
        for it in placed {
            if let Some(x) = it.spare.filter(|x| *x < self.columns.len()) {
                self.hide(it.pane);
                self.columns[x].slots.push(slot(it.area.height, &[it.pane]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::column;

    fn layout() -> Layout {
        let left = column(1, vec![slot(10, &[P::Graph]), slot(10, &[P::Calls, P::Resilience])]);
        let right = column(1, vec![slot(1, &[P::Transcript, P::Budget])]);
        Layout { columns: vec![left, right] }
    }

    fn most(pane: PaneId) -> Option<u16> {
        match pane {
            P::Graph | P::Calls => Some(6),
            P::Budget => Some(20),
            _ => None,
        }
    }

    fn shown(rows: u16, has: fn(PaneId) -> bool) -> Vec<(PaneId, u16)> {
        let placed = fill(&layout(), Rect::new(0, 0, 100, rows), has, most);
        placed.iter().map(|it| (it.pane, it.area.height)).collect()
    }

    #[test]
    fn spare_rows_show_what_is_behind_others() {
        assert_eq!(shown(20, |_| true), [(P::Graph, 11), (P::Calls, 10), (P::Transcript, 20)]);
        assert_eq!(
            shown(40, |_| true),
            [(P::Graph, 8), (P::Calls, 8), (P::Resilience, 26), (P::Transcript, 40)]
        );
        // What cannot be in the best place takes another one.
        assert_eq!(
            shown(40, |pane| pane != P::Resilience),
            [(P::Graph, 9), (P::Calls, 9), (P::Budget, 24), (P::Transcript, 40)]
        );
    }

    #[test]
    fn a_column_that_a_person_sized_stays_as_it_is() {
        let mut layout = layout();
        layout.columns[0].sized = true;
        let placed = fill(&layout, Rect::new(0, 0, 100, 40), |_| true, most);
        assert_eq!(placed.len(), 3);
    }

    #[test]
    fn what_spare_rows_show_can_be_sized() {
        let mut layout = layout();
        let body = Rect::new(0, 0, 100, 40);
        let placed = fill(&layout, body, |_| true, most);
        layout.adopt(&placed);
        assert_eq!(layout.slot_of(P::Resilience), Some((0, 2)));
        let again = fill(&layout, body, |_| true, most);
        let areas = |placed: &[Placed]| placed.iter().map(|it| it.area).collect::<Vec<_>>();
        assert_eq!(areas(&again), areas(&placed));
        assert!(again.iter().all(|it| it.spare.is_none()));
    }
}
