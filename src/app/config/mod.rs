//! Every setting: its default, its range, and where it is read from.
//!
//! Settings come from four places, of which a later one wins: the defaults, the file, the environment,
//! the flags of the command line. A mistake in any of them ends the start with its file, line and field;
//! a setting that is passed over in silence would show only when a run goes astray. Keys of endpoints
//! never stand in the file: it says where to find them.

mod file;
mod keys;
mod model;
mod priced;
mod read;
mod settle;
mod workers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

pub use self::{
    file::{default_experience, default_journals, default_path, default_prices},
    settle::{Environment, LoadedConfig},
};
use crate::domain::{Knobs, ModelName, Rates, Role, Strategy};
use crate::files::toml_file::{Problems, TomlFile};
use crate::model::{http::Endpoint, simulated};
use crate::ui::theme::load::AUTO;

/// The name of the built-in simulated model, which is always configured.
pub const SIMULATED: &str = "simulated";

/// All settings. `config.example.toml` explains each of them; a test holds it to this.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub session: SessionConfig,
    /// What each knob is at when a session begins.
    pub knobs: Knobs,
    /// In the order in which people see them; [`SIMULATED`] is one of them.
    pub models: IndexMap<ModelName, ModelConfig>,
    /// Every role, and a model that is configured.
    pub roles: BTreeMap<Role, ModelName>,
    pub ui: UiConfig,
    pub tools: ToolsConfig,
    pub experience: ExperienceConfig,
    /// What things are worth in credits.
    pub cost: Rates,
    pub workers: crate::domain::worker_settings::WorkerSettings,
    /// The file of the price table; `None`: see [`Config::price_table`].
    pub prices: Option<PathBuf>,
}

/// How a session begins.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    pub strategy: Strategy,
    /// Where all chance comes from: the simulated model's, the noisy tools', the faults'.
    pub seed: u64,
    /// A folder with tools and tasks; `None`: the embedded demo.
    pub workspace: Option<PathBuf>,
    /// The folder where journals are kept; `None`: see [`default_journals`].
    pub journals: Option<PathBuf>,
}

/// A model that roles can be bound to.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is a handful of models, each read once")]
pub enum ModelConfig {
    Simulated(simulated::Settings),
    OpenAi(Endpoint),
}

/// How the screen looks and listens.
#[derive(Clone, Debug, PartialEq)]
pub struct UiConfig {
    /// The name of a built-in theme, or the path of a theme file (ending in `.toml`).
    pub theme: String,
    /// Whether clicks and the wheel go to toolyard, and not to the terminal for selecting text.
    pub mouse: bool,
    /// The folder for screenshots; `None`: where toolyard was started.
    pub shots: Option<PathBuf>,
    /// Keys of actions, in place of their default ones, by the action's name.
    pub keys: BTreeMap<String, Vec<String>>,
}

/// Where tools come from, besides the workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolsConfig {
    /// Folders of manifests.
    pub folders: Vec<PathBuf>,
}

/// Where past uses are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperienceConfig {
    /// The file; `None`: see [`Config::experience_file`].
    pub file: Option<PathBuf>,
    /// Who says how alike queries are in meaning; `None`: their words do.
    pub embeddings: Option<Endpoint>,
}

impl Default for Config {
    fn default() -> Self {
        let simulated = ModelConfig::Simulated(simulated::Settings::default());
        Self {
            session: SessionConfig::default(),
            knobs: Knobs::default(),
            models: IndexMap::from([(SIMULATED.into(), simulated)]),
            roles: bound_to(&SIMULATED.into()),
            ui: UiConfig::default(),
            tools: ToolsConfig::default(),
            experience: ExperienceConfig::default(),
            cost: Rates::default(),
            workers: crate::domain::worker_settings::WorkerSettings::default(),
            prices: None,
        }
    }
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self { strategy: Strategy::default(), seed: 1, workspace: None, journals: None }
    }
}

impl Default for UiConfig {
    fn default() -> Self {
        Self { theme: AUTO.to_owned(), mouse: true, shots: None, keys: BTreeMap::new() }
    }
}

impl Config {
    /// The file of past uses: the one that is set, else that of the workspace (this one, or the one that
    /// is set), else the one in the platform's folder for data; `None` where the user has no home.
    pub fn experience_file(&self, workspace: Option<&Path>) -> Option<PathBuf> {
        let workspace = workspace.or(self.session.workspace.as_deref());
        let in_workspace = || workspace.map(|folder| folder.join(file::EXPERIENCE));
        self.experience.file.clone().or_else(in_workspace).or_else(default_experience)
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// That the file cannot be read, or everything that is wrong in it.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Self::parse(&path.display().to_string(), &file::read(path)?)
    }

    /// Reads `text`. `name` is its file's path: messages begin with it, and relative paths in the text
    /// begin at its folder.
    ///
    /// # Errors
    /// Everything that is wrong in it. What looks like a key is not repeated.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        TomlFile::read(name, text, |fields| Some(read::config(fields, folder)))
            .map_err(read::without_keys)
    }
}

/// Every role, bound to this model.
fn bound_to(model: &ModelName) -> BTreeMap<Role, ModelName> {
    Role::all().map(|role| (role, model.clone())).collect()
}
