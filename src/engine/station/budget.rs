//! Checks that the rest of the budget pays for an effect (BTP, algorithm 2). A refusal is free and
//! has a reason. It applies to tasks with a budget plan, regardless of the strategy.

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, now};
use crate::domain::{ModelError, ModelErrorKind, Origin};
use crate::effect::{EmbeddingCall, ReadingCall};

pub(super) struct Budget;

impl Station for Budget {
    /// Concerns runs only: a person's actions are not part of a task, and a guest has no budget plan.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let over = |why: String| {
            let error = ModelError::new(ModelErrorKind::OverBudget, why);
            StationVerdict::Answer(passage.effect.failed(error), Origin::Live)
        };
        let paid = |affords: Result<(), String>| affords.map_or_else(over, |()| StationVerdict::Go);
        let verdict = passage.handle.read(|session| match &passage.effect {
            // Reading on costs nothing, and uses no tool.
            Effect::Tool(call) if session.state().reads_on(&call.tool) => StationVerdict::Go,
            Effect::Tool(call) => {
                let affords = session.policy(passage.task).affords_call(&call.tool);
                affords.map_or_else(StationVerdict::refuse, |()| StationVerdict::Go)
            }
            Effect::Model(call) => paid(session.policy(passage.task).affords_model_call(call.role)),
            Effect::Embedding(EmbeddingCall { text, .. })
            | Effect::Reading(ReadingCall { text, .. }) => {
                let spec = passage.effect.spec();
                let affords =
                    |spec| session.policy(passage.task).affords_embedding(passage.task, spec, text);
                paid(spec.map_or(Ok(()), affords))
            }
        });
        now(verdict)
    }
}
