//! The models that are asked.

use std::rc::Rc;

use crate::ask::recorded_call::RecordedCall;
use crate::config::Config;
use crate::domain::{ModelCallState, ModelName, Role};
use crate::shell::trouble::Trouble;
use crate::{model::Model, session};

/// The named models, each once; without names, that of the recorded call: the same model of the same server, else the one
/// that is configured by its name.
///
/// # Errors
/// A model is not configured, or cannot be made.
pub fn of(
    config: &mut Config,
    named: &[String],
    recorded: &RecordedCall,
    call: &ModelCallState,
) -> Result<Vec<Rc<dyn Model>>, Trouble> {
    let mut wanted: Vec<ModelName> = Vec::new();
    for name in named {
        // A binding knows each form in which a model can be named.
        let bound = config.bind(Role::Actor, name.trim());
        bound.map_err(|why| Trouble::Usage(format!("--model: {why}")))?;
        wanted.extend(config.roles.get(&Role::Actor).filter(|it| !wanted.contains(it)).cloned());
    }
    let tasks: Vec<_> =
        recorded.state.task(call.task).map(|task| task.task.clone()).into_iter().collect();
    let models = session::models(config, &tasks).map_err(Trouble::usage)?;
    if named.is_empty() {
        let source = recorded.spec().map(|spec| spec.source.as_str());
        let same = models.iter().find(|model| Some(model.spec().source.as_str()) == source);
        let same = same.map_or(&call.model, |model| &model.spec().name);
        if !config.models.contains_key(same) {
            let known: Vec<_> = config.models.keys().map(ModelName::as_str).collect();
            return Err(Trouble::Usage(format!(
                "the model of call {}, {}, is not in [models]; name others with --model (known: {})",
                call.id,
                source.unwrap_or(call.model.as_str()),
                known.join(", ")
            )));
        }
        wanted.push(same.clone());
    }
    let model = |name: &ModelName| models.iter().find(|it| it.spec().name == *name).cloned();
    Ok(wanted.iter().filter_map(model).collect())
}
