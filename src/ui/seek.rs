//! Landmarks to look for: their names, and the nearest one. If there are many, the state keeps only some of them; those
//! in between are then looked for in the journal.

use crate::domain::Record;
use crate::domain::state::Landmark;
use crate::request::World;

/// Kind of landmark to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    Wrong,
    Failure,
    TaskEnd,
    Change,
    Edit,
    Fault,
    Stop,
    Over,
    Problem,
}

impl Sought {
    pub fn kinds(self) -> &'static [Landmark] {
        match self {
            Sought::Wrong => &[Landmark::Wrong],
            Sought::Failure => &[Landmark::Failed, Landmark::FailedByFault],
            Sought::TaskEnd => &[Landmark::TaskEnded],
            Sought::Change => &[Landmark::Changed],
            Sought::Edit => &[Landmark::Edited],
            Sought::Fault => &[Landmark::Fired],
            Sought::Stop => &[Landmark::Stopped],
            Sought::Over => &[Landmark::Over],
            Sought::Problem => &[Landmark::Problem],
        }
    }

    /// Name of a single moment of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Sought::Wrong => "wrong task",
            Sought::Failure => "failed call",
            Sought::TaskEnd => "task end",
            Sought::Change => "change of a score, weight, plan or knob",
            Sought::Edit => "change by a person",
            Sought::Fault => "injected fault",
            Sought::Stop => "breakpoint stop",
            Sought::Over => "task over its budget",
            Sought::Problem => "problem",
        }
    }

    fn is_one(self, record: &Record) -> bool {
        Landmark::of(&record.event).any(|kind| self.kinds().contains(&kind))
    }

    /// The first landmark of this kind after this event.
    pub fn after(self, world: &World<'_>, n: u64) -> Option<u64> {
        let marks = &world.live.landmarks;
        let kept = self.kinds().iter().filter_map(|kind| marks.after(*kind, n)).min()?;
        match self.kinds().iter().all(|kind| marks.is_whole(*kind)) {
            true => Some(kept),
            false => {
                let found =
                    world.history.first_of(n.saturating_add(1)..kept, |record| self.is_one(record));
                found.or(Some(kept))
            }
        }
    }

    /// The last landmark of this kind before this event.
    pub fn before(self, world: &World<'_>, n: u64) -> Option<u64> {
        let marks = &world.live.landmarks;
        let kept = self.kinds().iter().filter_map(|kind| marks.before(*kind, n)).max();
        if self.kinds().iter().all(|kind| marks.is_whole(*kind)) {
            return kept;
        }
        let first = self.kinds().iter().filter_map(|kind| marks.first(*kind)).min();
        let from = kept.map(|kept| kept + 1).or(first)?;
        world.history.last_of(from..n, |record| self.is_one(record)).or(kept)
    }
}
