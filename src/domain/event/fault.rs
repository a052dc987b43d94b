//! Faults: armed, disarmed and fired.

use super::{By, EffectRef, family::family};
use crate::fault::FaultSpec;
use crate::id::{EffectId, FaultId};

family! {
    /// Faults: armed, disarmed and fired.
    pub enum FaultEvent {
        FaultArmed {
            fault: FaultId,
            spec: FaultSpec,
            by: By,
        },
        FaultDisarmed {
            fault: FaultId,
            by: By,
        },
        /// A call matches an armed fault: it counts, and the fault decides whether it hits the call. An id and
        /// no reference, since this is no part of the call's own events.
        FaultMatched {
            fault: FaultId,
            call: EffectId,
            fires: bool,
        },
        /// A fault replaces the real outcome, or comes before it.
        FaultFired {
            fault: FaultId,
            effect: EffectRef,
        },
    }
}
