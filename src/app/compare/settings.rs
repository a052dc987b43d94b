//! All settings that influence a combination's results, so that no folder mixes results of
//! different settings.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Serialize;

use crate::domain::{Base, Knobs, ModelName, Retrieve, Role, Strategy, chance};
use crate::session::{JournalChoice, SessionSpec};
use crate::shell::trouble::Trouble;
use crate::store::json_store;

/// Settings by name: as people write them, or a hash of long ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CellSettings(BTreeMap<String, String>);

/// A combination, checked.
pub struct CheckedCell {
    pub settings: CellSettings,
    pub knobs: Knobs,
    pub tasks: usize,
    pub workspace: String,
    pub strategy: Strategy,
    pub roles: BTreeMap<Role, ModelName>,
    /// Name of the reader and its heads; `None` if the combination uses none.
    pub reader: Option<String>,
}

/// Reads and checks the inputs of sessions with this spec, and runs nothing.
///
/// # Errors
/// Any fault in the spec.
pub fn check(spec: &SessionSpec) -> Result<CheckedCell, Trouble> {
    // Costs differ by seed, and past uses are copied later.
    let bare = SessionSpec {
        costs: None,
        experience: None,
        fresh: true,
        journal: JournalChoice::None,
        ..spec.clone()
    };
    let mut prepared = bare.prepare()?;
    let config = prepared.config.clone();
    // Nothing runs here, so no server starts.
    prepared.config.tools.servers.clear();
    prepared.config.tools.mcp_files.clear();
    let manifests = prepared.workspace.manifests.iter();
    let tools = hash(&manifests.map(|manifest| &manifest.spec).collect::<Vec<_>>())?;
    let setup = prepared.setup(None)?;
    if setup.tasks.is_empty() {
        let text = "no tasks to compare; give some with --tasks FILE";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let opening = &setup.opening;
    let mut all = BTreeMap::from([
        ("program".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("strategy".to_owned(), opening.strategy.to_string()),
        ("workspace".to_owned(), opening.workspace.clone()),
        ("costs".to_owned(), spec.costs.map_or("declared".to_owned(), |costs| costs.to_string())),
        ("tasks".to_owned(), format!("{}, {}", setup.tasks.len(), hash(&setup.tasks)?)),
        ("tools".to_owned(), tools),
        ("graph".to_owned(), hash(&setup.graph)?),
        ("prompts".to_owned(), hash(&opening.prompts)?),
        ("rates".to_owned(), hash(&opening.rates)?),
        ("workers".to_owned(), hash(&format!("{:?}", config.workers))?),
        ("embeddings".to_owned(), hash(&format!("{:?}", config.experience.embeddings))?),
    ]);
    if !config.tools.servers.is_empty() {
        all.insert("servers".to_owned(), hash(&format!("{:?}", config.tools.servers))?);
    }
    for spec in crate::domain::knob::KNOBS {
        let value = opening.knobs.get(spec.knob);
        all.insert(format!("knob {}", spec.name), value.to_string());
    }
    for (role, model) in &opening.roles {
        // The address of the comparison's own endpoint differs each time.
        let is_own = spec.endpoints.contains_key(model);
        let configured = config.models.get(model).filter(|_| !is_own);
        let settings = format!("{configured:?}");
        all.insert(format!("role {role}"), format!("{model}, {}", hash(&settings)?));
    }
    // A reader is named only if there is one, so that folders of older comparisons still fit.
    let by_words = opening.knobs.choice::<Retrieve>() == Retrieve::Words;
    let is_read = opening.strategy.base == Base::Cotools || !by_words;
    let reader = config.reader.name().filter(|_| is_read);
    if reader.is_some() {
        all.insert("reader".to_owned(), hash(&format!("{:?}", config.reader))?);
    }
    if !opening.sampling.is_empty() {
        all.insert("sampling".to_owned(), hash(&opening.sampling)?);
    }
    if !opening.few_shots.is_empty() {
        all.insert("few-shots".to_owned(), hash(&opening.few_shots)?);
    }
    for (n, fault) in setup.faults.iter().enumerate() {
        all.insert(format!("fault {n}"), fault.to_string());
    }
    Ok(CheckedCell {
        settings: CellSettings(all),
        knobs: opening.knobs.clone(),
        tasks: setup.tasks.len(),
        workspace: opening.workspace.clone(),
        strategy: opening.strategy,
        roles: opening.roles.iter().map(|(role, model)| (*role, model.clone())).collect(),
        reader,
    })
}

impl CellSettings {
    pub fn insert(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// Checks that the contents of this folder, if any, were made with these settings, and records
    /// them there.
    ///
    /// # Errors
    /// The difference.
    pub fn hold(&self, folder: &Path) -> Result<(), Trouble> {
        let file = folder.join("settings.json");
        let expected = "the file of an earlier comparison, or no file";
        let before: Option<BTreeMap<String, String>> =
            json_store::load(&file, expected).map_err(Trouble::usage)?;
        let Some(before) = before else {
            fs::create_dir_all(folder)
                .map_err(|error| Trouble::Failed(format!("{}: {error}", folder.display())))?;
            return json_store::save(&file, self).map_err(Trouble::failed);
        };
        let names = self.0.keys().chain(before.keys());
        let differs = names.into_iter().find(|name| self.0.get(*name) != before.get(*name));
        let Some(name) = differs else { return Ok(()) };
        let none = "none".to_owned();
        let of = |settings: &BTreeMap<_, _>| settings.get(name).unwrap_or(&none).clone();
        Err(Trouble::Usage(format!(
            "{}: started with other settings: {name} was {}, now it is {}; choose another --out, or \
             remove this folder",
            folder.display(),
            of(&before),
            of(&self.0),
        )))
    }
}

fn hash(what: &impl Serialize) -> Result<String, Trouble> {
    let text = serde_json::to_vec(what).map_err(Trouble::failed)?;
    Ok(chance::fingerprint(&text))
}
