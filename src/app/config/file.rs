//! Locations of the configuration and its related files.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;

const CONFIGURATION: Expectation = Expectation {
    what: "a configuration file such as config.toml",
    missing: "start from config.example.toml, or omit --config",
    largest: 1024 * 1024,
};

/// The name of a file of past uses.
pub(super) const EXPERIENCE: &str = "experience.sqlite";

/// The configuration's place in the platform's directory; `None` if the user has no home.
pub fn default_path() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("config.toml"))
}

/// The place of saved layouts, next to the configuration.
pub fn default_layouts() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("layouts.toml"))
}

/// The price table's place, next to the configuration.
pub fn default_prices() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("prices.json"))
}

/// Default folder of journals: in the platform's directory for data.
pub fn default_journals() -> Option<PathBuf> {
    Some(directories()?.data_dir().join("journals"))
}

/// Default file of past uses without a workspace: in the platform's directory for data.
pub fn default_experience() -> Option<PathBuf> {
    Some(directories()?.data_dir().join(EXPERIENCE))
}

/// The default file of states that a local model gave: in the platform's directory for caches.
pub fn default_states() -> Option<PathBuf> {
    Some(directories()?.cache_dir().join("states.db"))
}

fn directories() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "toolyard")
}

/// The text of a configuration file.
pub(super) fn read(path: &Path) -> Result<String, Problem> {
    text_file::read(path, &CONFIGURATION)
}
