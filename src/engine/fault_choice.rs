//! What the armed faults have decided about a call.

use crate::domain::FaultId;

/// The faults that have looked at a call.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultChoice {
    pub known: Vec<FaultId>,
    /// The one that hits it: the first one that fires.
    pub hits: Option<FaultId>,
}
