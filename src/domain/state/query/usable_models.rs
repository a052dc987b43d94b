//! Whether models can be used at all.

use crate::error::{ModelError, ModelErrorKind};
use crate::event::Origin;
use crate::id::ModelName;
use crate::state::{ModelCallPhase, ModelCallState, State};

impl State {
    /// Whether this failure shows that no call of the model would succeed: its key is refused, its account has no
    /// credit, or it has never answered in this session.
    pub fn is_unusable(&self, model: &ModelName, error: &ModelError) -> bool {
        let tally = self.models.known.get(model).map(|model| &model.tally);
        let has_answered = tally.is_some_and(|tally| tally.calls > tally.failed);
        match error.kind {
            ModelErrorKind::Auth | ModelErrorKind::Quota => true,
            ModelErrorKind::Connection | ModelErrorKind::Timeout | ModelErrorKind::Refused => {
                !has_answered && error.partial.is_empty()
            }
            ModelErrorKind::RateLimited
            | ModelErrorKind::Endpoint
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::Filtered
            | ModelErrorKind::BadAnswer
            | ModelErrorKind::TooLong
            | ModelErrorKind::OverBudget
            | ModelErrorKind::Cancelled => false,
        }
    }

    /// The model whose last call failed because it cannot be used, as long as its role is bound to it.
    pub fn unusable_model(&self) -> Option<(&ModelName, &ModelError)> {
        let call = self.model_calls.iter().rev().find(|call: &&ModelCallState| call.is_over())?;
        let ModelCallPhase::Failed { error } = &call.phase else { return None };
        let is_bound =
            self.models.roles.get(&call.role).is_some_and(|role| role.model == call.model);
        let is_real = matches!(call.origin, Origin::Live | Origin::Recorded);
        (is_bound && is_real && self.is_unusable(&call.model, error))
            .then_some((&call.model, error))
    }
}
