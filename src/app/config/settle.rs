//! The precedence of all sources, and settings from the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Config, bound_to, default_path};
use crate::domain::Role;
use crate::files::toml_file::{Problem, Problems};

/// Looks up an environment variable, so that tests need not change their process.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// A configuration, and its file, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedConfig {
    pub config: Config,
    pub file: Option<PathBuf>,
}

impl Config {
    /// The environment variables that change settings.
    pub const VARIABLES: [&str; 8] = [
        "TOOLYARD_CONFIG",
        "TOOLYARD_STRATEGY",
        "TOOLYARD_SEED",
        "TOOLYARD_WORKSPACE",
        "TOOLYARD_JOURNALS",
        "TOOLYARD_THEME",
        "TOOLYARD_MODEL",
        "TOOLYARD_READER_MODEL",
    ];

    /// The configuration at the start, without command-line flags: defaults, then the file, then the environment.
    /// `explicit` is the file of the flag.
    ///
    /// # Errors
    /// Faults in the file, in the environment, or in the price table.
    pub fn settle(
        explicit: Option<&Path>,
        environment: Environment<'_>,
    ) -> Result<LoadedConfig, Problems> {
        let file = Self::file(explicit, environment);
        let mut config = match &file {
            Some(file) => Self::load(file)?,
            None => Self::default(),
        };
        config.apply(environment)?;
        config.look_prices_up()?;
        Ok(LoadedConfig { config, file })
    }

    /// Like [`Config::settle`], with the environment of this process.
    ///
    /// # Errors
    /// As [`Config::settle`].
    pub fn find(explicit: Option<&Path>) -> Result<Self, Problems> {
        Self::settle(explicit, &|name| std::env::var_os(name)).map(|settled| settled.config)
    }

    /// The file to read: the explicit one, else that of `TOOLYARD_CONFIG`, else the one in the
    /// platform's directory if it exists.
    pub fn file(explicit: Option<&Path>, environment: Environment<'_>) -> Option<PathBuf> {
        explicit
            .map(Path::to_owned)
            .or_else(|| given("TOOLYARD_CONFIG", environment).map(PathBuf::from))
            .or_else(|| default_path().filter(|path| path.exists()))
    }

    /// Binds every role to one model: a configured one, PROVIDER:MODEL, or the address of an endpoint.
    ///
    /// # Errors
    /// There is no such model, with the nearest name.
    pub fn bind_all(&mut self, model: &str) -> Result<(), String> {
        self.roles = bound_to(&self.known(model)?);
        Ok(())
    }

    /// Binds one role to a model.
    ///
    /// # Errors
    /// As [`Config::bind_all`].
    pub fn bind(&mut self, role: Role, model: &str) -> Result<(), String> {
        let name = self.known(model)?;
        self.roles.insert(role, name);
        Ok(())
    }

    /// Applies [`Config::VARIABLES`], except the file.
    fn apply(&mut self, environment: Environment<'_>) -> Result<(), Problems> {
        let mut problems = Vec::new();
        let mut apply = |name: &str, apply: &mut dyn FnMut(&str) -> Result<(), String>| {
            let Some(value) = given(name, environment) else { return };
            let value = value.to_str().ok_or_else(|| "is not UTF-8".to_owned());
            if let Err(why) = value.and_then(apply) {
                problems.push(Problem::of_file(name, why));
            }
        };
        apply("TOOLYARD_MODEL", &mut |text| self.bind_all(text));
        let (session, chosen) = (&mut self.session, &mut self.chosen);
        apply("TOOLYARD_STRATEGY", &mut |text| {
            chosen.strategy = true;
            text.parse().map(|new| session.strategy = new)
        });
        apply("TOOLYARD_SEED", &mut |text| {
            let seed = text.trim().parse().map(|new| session.seed = new);
            seed.map_err(|_| format!("expected a whole number of at least 0, got {text:?}"))
        });
        apply("TOOLYARD_THEME", &mut |text| {
            self.ui.theme = text.to_owned();
            Ok(())
        });
        for (name, place) in [
            ("TOOLYARD_WORKSPACE", &mut session.workspace),
            ("TOOLYARD_JOURNALS", &mut session.journals),
            ("TOOLYARD_READER_MODEL", &mut self.reader.model),
        ] {
            if let Some(path) = given(name, environment) {
                let path = PathBuf::from(path);
                let text = format!(
                    "no such folder: {}; expected a folder with tools/*.toml in it",
                    path.display()
                );
                if name == "TOOLYARD_WORKSPACE" {
                    self.named_folders.push((path.clone(), Problem::of_file(name, text)));
                }
                *place = Some(path);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
    }
}

/// The value of a variable; an empty one counts as unset.
fn given(name: &str, environment: Environment<'_>) -> Option<OsString> {
    environment(name).filter(|value| !value.is_empty())
}
