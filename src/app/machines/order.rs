//! A session as a job: what another machine needs for it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::config_text::config_text;
use super::pack::{Excluded, has_key, hash, pack, packed_text};
use crate::config::{Config, ModelConfig};
use crate::domain::chance;
use crate::model::secret::KeySource;
use crate::net::secret::Secret;
use crate::runner::SessionOrder;
use crate::session::{JournalChoice, SessionError, SessionSpec};

/// Where the configuration is, below the folder of a job.
const CONFIG: &str = "config.toml";
/// Where the files of the other machine are.
const TREE: &str = "tree";

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub version: String,
    /// The session; paths begin at the folder of the job.
    pub spec: SessionSpec,
    /// The files that it needs: their places and their hashes.
    pub packs: BTreeMap<PathBuf, String>,
}

/// The version of an order, whatever else it has.
#[derive(Deserialize)]
pub struct OrderVersion {
    pub version: String,
}

/// The place of a file of this machine below the folder of a job.
pub fn there(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
    Path::new(TREE).join(parts.collect::<PathBuf>())
}

/// Packed files by their places, as they were when this run began.
#[derive(Default)]
pub struct Packs {
    excluded: Excluded,
    packed: Mutex<BTreeMap<PathBuf, String>>,
}

impl Packs {
    pub fn without(excluded: Excluded) -> Self {
        Self { excluded, ..Self::default() }
    }

    /// The job of a session. `put` gets the packed files that were not packed before.
    ///
    /// # Errors
    /// A file cannot be read or sent.
    pub fn order(
        &self,
        session: &SessionOrder<'_>,
        mut put: impl FnMut(&str, Vec<u8>) -> Result<(), SessionError>,
    ) -> Result<Order, SessionError> {
        let config = &session.prepared.config;
        hide_keys(config);
        let given = session.spec.anchored();
        let prepared = session.prepared;
        // Variables of this machine count here, and those of the worker do not.
        let spec = SessionSpec {
            config: None,
            workspace: prepared.workspace.folder.clone().map(whole),
            sample: prepared.workspace.sample,
            strategy: Some(config.session.strategy),
            roles: config.roles.clone(),
            journal: JournalChoice::None,
            ..given
        };
        let mut packs = BTreeMap::new();
        let mut paths = Mutex::new(Vec::new());
        spec.moved_to(|path| {
            paths.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
            path.to_owned()
        });
        let file = Config::file(given_config(session), &|name| std::env::var_os(name));
        let (text, more) = config_text(config, file.as_deref()).map_err(SessionError::input)?;
        if has_key(text.as_bytes()) {
            return Err(SessionError::input(format!(
                "{}: a key is in it, and no key is sent; use a variable in its place",
                file.unwrap_or_default().display()
            )));
        }
        let text = packed_text(&text).map_err(SessionError::failed)?;
        packs.insert(PathBuf::from(CONFIG), hash(&text));
        put(&hash(&text), text)?;
        let past = spec.experience.clone();
        let paths = paths.get_mut().unwrap_or_else(PoisonError::into_inner);
        for path in paths.drain(..).chain(more) {
            // Past uses differ from job to job, and there may be none yet.
            let is_own = past.as_ref() == Some(&path);
            if is_own && !path.exists() {
                continue;
            }
            let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
            let known = packed.get(&path).filter(|_| !is_own).cloned();
            let hash = match known {
                Some(hash) => hash,
                None => {
                    let bytes = pack(&path, &self.excluded).map_err(SessionError::input)?;
                    let hash = hash(&bytes);
                    put(&hash, bytes)?;
                    packed.insert(path.clone(), hash.clone());
                    hash
                }
            };
            packs.insert(there(&path), hash);
        }
        let mut spec = spec.moved_to(there);
        spec.config = Some(CONFIG.into());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Order { version, spec, packs })
    }
}

fn whole(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn given_config<'a>(session: &'a SessionOrder<'_>) -> Option<&'a Path> {
    session.prepared.spec().config.as_deref()
}

/// Reads the keys that this machine has, so that no file with one of them is sent.
fn hide_keys(config: &Config) {
    for model in config.models.values() {
        if let ModelConfig::Hosted(endpoint) = model
            && let KeySource::Env(name) = &endpoint.key
        {
            // One that is missing cannot be in a file.
            let _ = std::env::var(name).map(|key| Secret::new(&key));
        }
    }
}

impl Order {
    /// The id of the job, which is a hash of its text; and the text.
    ///
    /// # Errors
    /// A key is in the settings.
    pub fn written(&self) -> Result<(String, Vec<u8>), SessionError> {
        let text = serde_json::to_vec(self).map_err(SessionError::failed)?;
        if has_key(&text) {
            let why = "a key is in the settings of the session, and no key is sent";
            return Err(SessionError::input(why.to_owned()));
        }
        Ok((chance::fingerprint(&text), text))
    }
}
