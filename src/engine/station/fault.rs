//! The station that injects faults.

use super::{Passage, Passing, Station, Verdict, now};
use crate::domain::{FaultId, FaultKind, fault::Occasion};
use crate::engine::session::Session;

pub(super) struct Faults;

impl Station for Faults {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, Verdict> {
        passage.fault = passage.handle.read(|session| firing(session, passage));
        now(Verdict::Go)
    }
}

/// The fault that fires on this effect: the one armed first.
fn firing(session: &Session, passage: &Passage) -> Option<(FaultId, FaultKind)> {
    let task = passage.task.0;
    let id = passage.reference.id;
    let fault = session.state.faults_on(id).find(|(fault, known)| {
        let chance = passage.chance.with(b"fault").with(&fault.0.to_le_bytes());
        let counted = passage.occasions.iter().find(|(counted, _)| counted == fault);
        // A fault that was armed after the request counts it when it starts, which is now.
        let nth = counted.map_or(known.seen.saturating_add(1), |(_, nth)| *nth);
        known.spec.fires(Occasion { task, nth, chance })
    });
    fault.map(|(fault, known)| (fault, known.spec.kind.clone()))
}
