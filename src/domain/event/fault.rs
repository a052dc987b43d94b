//! Faults that are armed, and fire.

use super::{By, EffectRef, family::family};
use crate::domain::{fault::FaultSpec, id::FaultId};

family! {
    /// Faults that are armed, and fire.
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
        /// A fault takes the place of the real thing, or comes before it.
        FaultFired {
            fault: FaultId,
            effect: EffectRef,
        },
    }
}
