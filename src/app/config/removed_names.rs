//! Names in older files of things that no longer exist. They are ignored, and each is reported once.

use crate::domain::ModelName;
use crate::files::toml_file::{Problem, TomlField};

/// Settings of a file for things that no longer exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoneSettings {
    /// A notice for each ignored setting.
    pub notices: Vec<Problem>,
    /// Ignored models.
    pub(super) models: Vec<ModelName>,
}

/// The former kind of a model in a file on this machine.
pub(super) const LOCAL: &str = "local";

/// Advice for a model of the kind [`LOCAL`].
pub(super) const NO_LOCAL: &str = "models of kind \"local\" no longer exist, and this one is ignored: \
    serve the file with llama-server of llama.cpp, and name its address with kind = \"openai\"";

/// Advice for a role that is bound to an ignored model.
pub(super) const NO_MODEL: &str = "this model is ignored, so the role has the default model";

/// Former actions with keys, by name, each with advice.
const ACTIONS: [(&str, &str); 1] = [(
    "map",
    "the map of tools no longer exists, and its keys are ignored: `reading` ranks the tools",
)];

/// The notice about the keys of an action that no longer exists; `name`: of the action, with its layer.
pub(super) fn action(name: &str, field: &TomlField<'_>) -> Option<Problem> {
    let action = name.rsplit('.').next().unwrap_or(name);
    let (_, advice) = ACTIONS.iter().find(|(gone, _)| *gone == action)?;
    Some(field.problem(*advice))
}
