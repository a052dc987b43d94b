//! An effect on its way.

use tokio_util::sync::CancellationToken;

use super::kinds::Effect;
use crate::domain::{Chance, EffectRef, TaskId};
use crate::fault_choice::FaultChoice;

/// An effect that was requested and has not ended.
pub struct PendingEffect {
    pub reference: EffectRef,
    pub task: TaskId,
    pub effect: Effect,
    /// Ends the effect early.
    pub cancel: CancellationToken,
    /// The source of all randomness of the effect.
    pub chance: Chance,
    /// The decisions of the faults that were armed at the request.
    pub choice: FaultChoice,
}
