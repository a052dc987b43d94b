//! Checks that the rest of the budget pays for an effect (BTP, algorithm 2). A refusal is free and
//! has a reason. It applies to tasks with a budget plan, regardless of the strategy.

use super::{Actor, Effect, Outcome, Passage, Passing, Station, Verdict, now};
use crate::domain::{ModelError, ModelErrorKind, Origin};

pub(super) struct Budget;

impl Station for Budget {
    /// What a person does is no part of a task, and a guest has no budget plan.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, Verdict> {
        let over = |why: String| ModelError::new(ModelErrorKind::OverBudget, why);
        let answer = |outcome| Verdict::Answer(outcome, Origin::Live);
        let verdict = passage.handle.read(|session| match &passage.effect {
            // It costs nothing, and uses no tool.
            Effect::Tool(call) if session.state().reads_on(&call.tool) => Verdict::Go,
            Effect::Tool(call) => {
                let affords = session.policy().affords_call(&call.tool);
                affords.map_or_else(Verdict::refuse, |()| Verdict::Go)
            }
            Effect::Model(call) => match session.policy().affords_model_call(call.role) {
                Ok(()) => Verdict::Go,
                Err(why) => answer(Outcome::Reply(Err(over(why)))),
            },
            Effect::Embedding(call) => {
                let (spec, task) = (call.model.spec(), passage.task);
                match session.policy().affords_embedding(task, spec, &call.text) {
                    Ok(()) => Verdict::Go,
                    Err(why) => answer(Outcome::Embedded(Err(over(why)))),
                }
            }
        });
        now(verdict)
    }
}
