//! The station that injects faults.

use super::{Passage, Passing, Station, StationVerdict, now};

pub(super) struct FaultInjection;

impl Station for FaultInjection {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        if passage.effect.is_fixed() {
            return now(StationVerdict::Go);
        }
        let Passage { handle, reference, task, chance, choice, .. } = passage;
        passage.fault = handle.write(|session| {
            session.choose_fault((reference.id, *task), *chance, choice);
            let hits = session.fault_that_hits(choice);
            hits.map(|(fault, known)| (fault, known.spec.kind.clone()))
        });
        now(StationVerdict::Go)
    }
}
