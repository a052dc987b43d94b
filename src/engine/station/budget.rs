//! Whether what is left of the budget pays for an effect (BTP, algorithm 2). It refuses free of charge and
//! says why; it does so for tasks that have a budget plan, whatever their strategy.

use futures::{FutureExt, future, future::LocalBoxFuture};

use super::{Effect, Outcome, Passage, Station, Verdict};
use crate::domain::{
    error::{ModelError, ModelErrorKind},
    event::Origin,
};

pub(super) struct Budget;

impl Station for Budget {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> LocalBoxFuture<'a, Verdict> {
        let handle = &passage.handle;
        let over = |why: String| ModelError::new(ModelErrorKind::OverBudget, why);
        let verdict = match &passage.effect {
            Effect::Tool(call) => {
                let affordable = handle.read(|session| session.affordable(&call.tool));
                affordable.map_or_else(Verdict::refuse, |()| Verdict::Go)
            }
            Effect::Model(call) => match handle.read(|session| session.affords_ask(call.role)) {
                Ok(()) => Verdict::Go,
                Err(why) => Verdict::Answer(Outcome::Reply(Err(over(why))), Origin::Live),
            },
            Effect::Embedding(call) => {
                let (spec, task) = (call.model.spec(), passage.task);
                match handle.read(|session| session.affords_embedding(task, spec, &call.text)) {
                    Ok(()) => Verdict::Go,
                    Err(why) => Verdict::Answer(Outcome::Embedded(Err(over(why))), Origin::Live),
                }
            }
        };
        future::ready(verdict).boxed_local()
    }
}
