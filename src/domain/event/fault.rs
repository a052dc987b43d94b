//! Faults: armed, disarmed and fired.

use super::{By, EffectRef, family::family};
use crate::domain::{fault::FaultSpec, id::FaultId};

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
        /// A fault replaces the real outcome, or comes before it.
        FaultFired {
            fault: FaultId,
            effect: EffectRef,
        },
    }
}
