//! Locations of the configuration and its related files.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;
use crate::mcp::trust;
use crate::trust_answers;

const CONFIGURATION: Expectation = Expectation {
    what: "a configuration file such as config.toml",
    missing: "start from config.example.toml, or omit --config",
    largest: 1024 * 1024,
};

/// The name of a file of past uses.
pub(super) const EXPERIENCE: &str = "experience.sqlite";

/// The configuration's place in the platform's directory; `None` if the user has no home.
pub fn default_path() -> Option<PathBuf> {
    below(ProjectDirs::config_dir, "config.toml")
}

/// The place of saved layouts, next to the configuration.
pub fn default_layouts() -> Option<PathBuf> {
    below(ProjectDirs::config_dir, "layouts.toml")
}

/// The price table's place, next to the configuration.
pub fn default_prices() -> Option<PathBuf> {
    below(ProjectDirs::config_dir, "prices.json")
}

/// Default folder of journals: in the platform's directory for data.
pub fn default_journals() -> Option<PathBuf> {
    below(ProjectDirs::data_dir, "journals")
}

/// The platform's directory for data.
pub fn default_data() -> Option<PathBuf> {
    below(ProjectDirs::data_dir, "")
}

/// Default file of past uses without a workspace: in the platform's directory for data.
pub fn default_experience() -> Option<PathBuf> {
    below(ProjectDirs::data_dir, EXPERIENCE)
}

/// The default file of definitions of MCP tools seen without a workspace: in the platform's directory for data.
pub fn default_trust() -> Option<PathBuf> {
    below(ProjectDirs::data_dir, trust::FILE)
}

/// The file of a person's answers about folders: in the platform's directory for data.
pub fn default_answers() -> Option<PathBuf> {
    below(ProjectDirs::data_dir, trust_answers::FILE)
}

/// The default file of a local model's states: in the platform's directory for caches.
pub fn default_states() -> Option<PathBuf> {
    below(ProjectDirs::cache_dir, "states.db")
}

/// The folder of files of jobs from other machines: in the platform's directory for caches.
#[cfg(feature = "nats")]
pub fn default_packs() -> Option<PathBuf> {
    below(ProjectDirs::cache_dir, "packs")
}

/// The platform's directories of toolyard, without those that do not exist for this user.
pub fn own_folders() -> Vec<PathBuf> {
    let folders: [fn(&ProjectDirs) -> &Path; 3] =
        [ProjectDirs::config_dir, ProjectDirs::data_dir, ProjectDirs::cache_dir];
    // Without the slash that an empty name adds.
    let tidy = |path: PathBuf| path.components().collect();
    folders.into_iter().filter_map(|folder| below(folder, "")).map(tidy).collect()
}

/// The path below a platform's directory. A relative directory would differ by working directory, and is ignored.
fn below(folder: fn(&ProjectDirs) -> &Path, name: &str) -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "toolyard")?;
    Some(folder(&folders)).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name))
}

/// Notices of variables that name a relative folder. They are ignored, as the XDG specification says.
pub fn ignored_folders() -> Vec<String> {
    const NAMES: [&str; 5] =
        ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
    let ignored = NAMES.iter().filter_map(|name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        let instead = match *name {
            "HOME" => "; folders without a variable of their own are not used",
            _ => "; the usual folder is used",
        };
        let value = Path::new(&value);
        let text = || {
            format!("{name}={} is ignored: it is not an absolute path{instead}", value.display())
        };
        value.is_relative().then(text)
    });
    ignored.collect()
}

/// The text of a configuration file.
pub(super) fn read(path: &Path) -> Result<String, Problem> {
    text_file::read(path, &CONFIGURATION)
}
