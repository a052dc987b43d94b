//! Probes whether models can be reached: in parallel with the agent, and only on request.

use crate::domain::{ModelName, Reach, Reachable, SessionEvent};
use crate::handle::Handle;

/// Probes every configured model that is not being probed already.
pub fn probe_models(handle: &Handle) {
    let models: Vec<ModelName> = handle.read(|session| {
        let known = session.state().models.known.iter();
        let idle = known.filter(|(_, model)| !matches!(model.reachable, Reachable::Trying { .. }));
        idle.map(|(name, _)| name.clone()).collect()
    });
    if models.is_empty() {
        return;
    }
    handle.emit(SessionEvent::ModelsProbed { models: models.clone() });
    for model in models {
        handle.spawn(probe(handle.clone(), model));
    }
}

async fn probe(handle: Handle, model: ModelName) {
    let asked = handle.read(|session| session.model(&model).cloned());
    let (how, text) = match asked {
        None => (Reach::No, "it is not configured in this session".to_owned()),
        Some(asked) => match asked.reachable().await {
            Ok(reached) if reached.is_sure => (Reach::Yes, reached.text),
            Ok(reached) => (Reach::Unsure, reached.text),
            Err(error) => (Reach::No, error.to_string()),
        },
    };
    handle.emit(SessionEvent::ModelReached { model, how, text });
}
