//! Where the configuration and what belongs to it lie.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;

const CONFIGURATION: Expectation = Expectation {
    what: "a configuration file such as config.toml",
    missing: "start from config.example.toml, or leave --config out",
    largest: 1024 * 1024,
};

/// The name of a file of past uses.
pub(super) const EXPERIENCE: &str = "experience.sqlite";

/// The configuration's place in the platform's directory for them; `None` where the user has no home.
pub fn default_path() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("config.toml"))
}

/// The price table's place, beside the configuration.
pub fn default_prices() -> Option<PathBuf> {
    Some(directories()?.config_dir().join("prices.json"))
}

/// Where journals are kept by default: in the platform's directory for data.
pub fn default_journals() -> Option<PathBuf> {
    Some(directories()?.data_dir().join("journals"))
}

/// Where past uses are kept by default, outside of a workspace: in the platform's directory for data.
pub fn default_experience() -> Option<PathBuf> {
    Some(directories()?.data_dir().join(EXPERIENCE))
}

fn directories() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "toolyard")
}

/// The text of a configuration file.
pub(super) fn read(path: &Path) -> Result<String, Problem> {
    text_file::read(path, &CONFIGURATION)
}
