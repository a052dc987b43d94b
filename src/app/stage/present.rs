//! A program with the stage.

use std::rc::Rc;

pub use toolyard_stage::builtin::read as builtins;
pub use toolyard_stage::demo::DEMOS;
use toolyard_stage::noise_tools;
pub use toolyard_stage::sample::Sample;
use toolyard_stage::simulated::Simulated;
pub use toolyard_stage::simulated::SimulatedSettings;

use crate::domain::{ModelName, Strategy, Task};
use crate::files::toml_file::{TomlField, TomlFields};
use crate::model::Model;
use crate::session::SimulatedSpec;
use crate::tool::manifest::Manifest;

/// The sample that shows a strategy.
pub fn sample_of(strategy: Strategy) -> Option<Sample> {
    Some(Sample::of(strategy))
}

/// The simulated model with default settings.
pub fn usual() -> Option<SimulatedSettings> {
    Some(SimulatedSettings::default())
}

/// Two simulated models of different skill, by name.
pub fn pair() -> Vec<(&'static str, SimulatedSettings)> {
    let of = |skill| SimulatedSettings { skill, ..SimulatedSettings::default() };
    vec![("able", of(0.99)), ("plain", of(0.8))]
}

/// Reads the fields of a simulated model.
pub fn read(_kind: &TomlField<'_>, fields: &mut TomlFields<'_>) -> Option<SimulatedSettings> {
    Some(SimulatedSettings::read(fields))
}

/// Applies the settings of a session's spec.
pub fn settle(settings: &mut SimulatedSettings, spec: SimulatedSpec) {
    settings.thrift = spec.thrift.unwrap_or(settings.thrift);
    settings.skill = spec.skill.unwrap_or(settings.skill);
    settings.patience = spec.patience.unwrap_or(settings.patience);
    if let Some([new, cached, out]) = spec.prices {
        (settings.price_in, settings.price_cached, settings.price_out) = (new, Some(cached), out);
    }
}

/// The model, which knows the chains of these tasks.
pub fn model(
    name: ModelName,
    settings: &SimulatedSettings,
    seed: u64,
    tasks: &[Task],
) -> Rc<dyn Model> {
    Rc::new(Simulated::new(name, *settings, seed, tasks.iter().cloned()))
}

/// Tools that no task needs.
///
/// # Errors
/// More tools than can be made up.
pub fn made_up(total: usize) -> Result<impl Iterator<Item = Manifest>, String> {
    match noise_tools::MOST {
        most if total > most => Err(format!("{total} exceeds {most}, the most made-up tools")),
        most => Ok(noise_tools::tools(most)),
    }
}
