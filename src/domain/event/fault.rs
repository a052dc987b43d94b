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
        /// A call matches an armed fault, which counts it and decides whether to hit it. The call is an id and not an
        /// `EffectRef`, since this event is not one of the call's own.
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
