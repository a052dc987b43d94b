//! The decisions of the armed faults on a call.

use crate::domain::FaultId;

/// The faults that have looked at a call.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultChoice {
    pub known: Vec<FaultId>,
    /// The first fault that fires for this call.
    pub hits: Option<FaultId>,
}
