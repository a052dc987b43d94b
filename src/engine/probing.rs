//! Whether models can be reached: looked for beside whatever runs, and only when somebody asks.

use futures::{FutureExt, future::LocalBoxFuture, stream::FuturesUnordered};

use super::core::Shared;
use crate::domain::{
    event::{Event, Reach},
    id::ModelName,
    state::Reachable,
};

/// Looks for every configured model that is not being looked for already.
pub(super) fn start(shared: &Shared, probes: &mut FuturesUnordered<LocalBoxFuture<'static, ()>>) {
    let models: Vec<ModelName> = shared.read(|core| {
        let known = core.state.models.known.iter();
        let idle = known.filter(|(_, model)| !matches!(model.reachable, Reachable::Trying { .. }));
        idle.map(|(name, _)| name.clone()).collect()
    });
    if models.is_empty() {
        return;
    }
    shared.emit(Event::ModelsProbed { models: models.clone() });
    for model in models {
        probes.push(probe(shared.clone(), model).boxed_local());
    }
}

async fn probe(shared: Shared, model: ModelName) {
    let asked = shared.read(|core| core.models.get(&model).cloned());
    let (how, text) = match asked {
        None => (Reach::No, "it is not configured in this session".to_owned()),
        Some(asked) => match asked.reachable().await {
            Ok(reached) if reached.is_sure => (Reach::Yes, reached.text),
            Ok(reached) => (Reach::Unsure, reached.text),
            Err(error) => (Reach::No, error.to_string()),
        },
    };
    shared.emit(Event::ModelReached { model, how, text });
}
