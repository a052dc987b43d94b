//! All settings: their defaults, ranges, and sources.
//!
//! Settings come from four places, and later ones override earlier ones: the defaults, the file,
//! the environment, the flags of the command line. A mistake in any of them prevents the start,
//! with its file, line and field; a silently ignored setting would show only when a run goes
//! astray. Keys of endpoints are never in the file: it says where to find them.

mod endpoint_prices;
mod file;
mod keys;
mod model;
mod model_address;
mod provider;
mod read;
mod removed_names;
mod roles;
mod settle;
mod workers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

pub(crate) use self::endpoint_prices::fill_watched;
#[cfg(feature = "nats")]
pub use self::file::default_packs;
pub use self::provider::{PROVIDERS, Provider};
pub use self::removed_names::GoneSettings;
pub use self::{
    file::{
        default_answers, default_data, default_experience, default_journals, default_layouts,
        default_path, default_prices, default_states, default_trust, ignored_folders, own_folders,
    },
    settle::{Environment, LoadedConfig},
};
use crate::domain::{Knobs, ModelName, Rates, Retrieve, Role, SamplingOfRoles, Strategy};
use crate::files::toml_file::{Problem, Problems, TomlFile};
use crate::mcp::ServerEntry;
use crate::model::http::Endpoint;
use crate::stage;
use crate::ui::theme::load::AUTO;
use crate::ui::{alert::Alerts, own::OwnCommand, symbols::Charset};

/// The name of the built-in simulated model, which is always configured.
pub const SIMULATED: &str = "simulated";

/// The limit of a session's cost in US dollars: enough for an evening with a good model, and no disaster if spent by
/// mistake.
pub const MAX_DOLLARS: f64 = 5.0;

/// All settings. `config.example.toml` explains each of them; a test holds it to this.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub session: SessionConfig,
    /// The knobs at the start of a session.
    pub knobs: Knobs,
    /// Settings that were set explicitly, even to their default. The screen keeps them as they are.
    pub chosen: SessionOverrides,
    /// In display order; [`SIMULATED`] is one of them, where the program has it.
    pub models: IndexMap<ModelName, ModelConfig>,
    /// Every role, with a configured model.
    pub roles: BTreeMap<Role, ModelName>,
    /// Settings for sampling the answers of roles.
    pub sampling: SamplingOfRoles,
    pub ui: UiConfig,
    pub tools: ToolsConfig,
    pub experience: ExperienceConfig,
    pub reader: ReaderSettings,
    /// Prices in credits.
    pub cost: Rates,
    /// How many US dollars a session may cost; `None`: [`MAX_DOLLARS`], or any number where watched agents act.
    pub max_dollars: Option<f64>,
    pub workers: crate::domain::worker_settings::WorkerSettings,
    /// Rules for the tool calls that need a person's consent.
    pub approval: crate::domain::Approval,
    /// The file of the price table; `None`: see [`Config::price_table`].
    pub prices: Option<PathBuf>,
    /// Where the file or the environment names folders that must exist.
    pub named_folders: Vec<(PathBuf, Problem)>,
    pub gone: GoneSettings,
}

/// Settings that the user chose, although a session has its own defaults for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOverrides {
    pub strategy: bool,
    pub speed: bool,
    pub retrieve: bool,
}

/// How a session starts.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    pub strategy: Strategy,
    /// The source of all randomness: the simulated model's, the noisy tools', the faults'.
    pub seed: u64,
    /// A folder with tools and tasks; `None`: the embedded demo.
    pub workspace: Option<PathBuf>,
    /// The folder for journals; `None`: see [`default_journals`].
    pub journals: Option<PathBuf>,
}

/// A model that roles can be bound to.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is a handful of models, each read once")]
pub enum ModelConfig {
    Simulated(stage::SimulatedSettings),
    Hosted(Endpoint),
}

impl ModelConfig {
    /// The address of its endpoint; a simulated model has none.
    pub fn server(&self) -> Option<String> {
        match self {
            ModelConfig::Simulated(_) => None,
            ModelConfig::Hosted(endpoint) => endpoint.server(),
        }
    }
}

/// Appearance and input of the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct UiConfig {
    /// The name of a built-in theme, or the path of a theme file (ending in `.toml`).
    pub theme: String,
    pub symbols: Option<Charset>,
    /// Whether toolyard receives clicks and the wheel, and not the terminal for selecting text.
    pub mouse: bool,
    /// The folder for screenshots; `None`: the working directory.
    pub shots: Option<PathBuf>,
    /// Keys of actions, replacing their defaults, by the action's name.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The user's own commands.
    pub commands: Vec<OwnCommand>,
    /// Alerts for a person who is not looking at the screen.
    pub alerts: Alerts,
}

/// Sources of tools, in addition to the workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolsConfig {
    /// Folders of manifests.
    pub folders: Vec<PathBuf>,
    /// Configurations of MCP servers that belong to other programs.
    pub mcp_files: Vec<PathBuf>,
    /// MCP servers.
    pub servers: Vec<ServerEntry>,
}

/// Storage of past uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperienceConfig {
    /// The file; `None`: see [`Config::experience_file`].
    pub file: Option<PathBuf>,
    /// The embedding model that compares queries by meaning; `None`: their words are compared.
    pub embeddings: Option<Endpoint>,
}

/// The small local model that reads along, or an endpoint of embeddings in its place. Files are opened where
/// they are needed, never at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReaderSettings {
    /// A model file (GGUF); `None`: there is no reader.
    pub model: Option<PathBuf>,
    /// Files of heads trained for the model file.
    pub heads: Vec<PathBuf>,
    /// The embedding model that ranks tools where there is no model file.
    pub embeddings: Option<Endpoint>,
}

impl Config {
    /// The way to find tools. By default, configured heads mean that the reader is wanted; a model file without heads
    /// finds less than words do.
    pub fn found_by(&self) -> Retrieve {
        match (self.chosen.retrieve, self.reader.heads.is_empty()) {
            (true, _) => self.knobs.choice(),
            (false, true) => Retrieve::Words,
            (false, false) => Retrieve::Both,
        }
    }
}

impl ReaderSettings {
    /// Whether tools can be ranked by more than their words.
    pub fn is_some(&self) -> bool {
        self.model.is_some() || self.embeddings.is_some()
    }

    /// Name of the reader and of its heads; `None` without a reader.
    pub fn name(&self) -> Option<String> {
        let stem =
            |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let endpoint = || self.embeddings.as_ref().map(|endpoint| endpoint.model.clone());
        let name = self.model.as_deref().map(stem).or_else(endpoint)?;
        let heads: Vec<_> = self.heads.iter().map(|file| stem(file)).collect();
        Some(match heads.is_empty() {
            true => format!("{name} without heads"),
            false => format!("{name} with heads {}", heads.join(", ")),
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        let simulated = stage::usual().map(ModelConfig::Simulated);
        Self {
            session: SessionConfig::default(),
            knobs: Knobs::default(),
            chosen: SessionOverrides::default(),
            models: simulated.into_iter().map(|model| (SIMULATED.into(), model)).collect(),
            roles: bound_to(&SIMULATED.into()),
            sampling: SamplingOfRoles::new(),
            ui: UiConfig::default(),
            tools: ToolsConfig::default(),
            experience: ExperienceConfig::default(),
            reader: ReaderSettings::default(),
            cost: Rates::default(),
            max_dollars: None,
            workers: crate::domain::worker_settings::WorkerSettings::default(),
            approval: crate::domain::Approval::default(),
            prices: None,
            named_folders: Vec::new(),
            gone: GoneSettings::default(),
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
        Self {
            theme: AUTO.to_owned(),
            symbols: None,
            mouse: true,
            shots: None,
            keys: BTreeMap::new(),
            commands: Vec::new(),
            alerts: Alerts::default(),
        }
    }
}

impl Config {
    /// The folder of a session's workspace: the given one, else the configured one; `None` for an embedded sample.
    ///
    /// # Errors
    /// The configured folder, or one of `[tools] folders`, does not exist, with the place that names it.
    pub fn workspace<'p>(&'p self, given: Option<&'p Path>) -> Result<Option<&'p Path>, Problems> {
        let own = self.session.workspace.as_deref();
        let used = |folder: &PathBuf| {
            self.tools.folders.contains(folder) || given.is_none() && own == Some(folder)
        };
        let missing =
            self.named_folders.iter().filter(|(folder, _)| used(folder) && !folder.is_dir());
        let problems: Vec<_> = missing.map(|(_, problem)| problem.clone()).collect();
        if problems.is_empty() { Ok(given.or(own)) } else { Err(Problems(problems)) }
    }

    /// The file of past uses: the configured one, else that of the workspace (this one, or the
    /// configured one), else the one in the platform's folder for data; `None` if the user has no
    /// home.
    pub fn experience_file(&self, workspace: Option<&Path>) -> Option<PathBuf> {
        let workspace = workspace.or(self.session.workspace.as_deref());
        let in_workspace = || workspace.map(|folder| folder.join(file::EXPERIENCE));
        self.experience.file.clone().or_else(in_workspace).or_else(default_experience)
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or all faults in it.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Self::parse(&path.display().to_string(), &file::read(path)?)
    }

    /// Parses `text`. `name` is its file's path: messages begin with it, and relative paths in the
    /// text start at its folder.
    ///
    /// # Errors
    /// All faults in it. Anything that looks like a key is not repeated.
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
