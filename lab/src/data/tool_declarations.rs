//! API-Bank's declarations of its tools: `derived_tools.json`.

use std::{collections::HashMap, path::Path};

use indexmap::IndexMap;
use serde::Deserialize;

use crate::files::{json_file, toml_file::Problem};
use crate::store::import::files;

/// A declared tool. Several declarations may have the same name, since the levels of API-Bank repeat them.
#[derive(Clone, Debug, Deserialize)]
pub struct Declared {
    name: String,
    /// `apis` are the tools of levels 1 and 2.
    #[serde(default)]
    set: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub input_parameters: IndexMap<String, Parameter>,
    /// The table that the tool works on: API-Bank's closest equivalent of a tool class.
    #[serde(default)]
    pub database_name: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Parameter {
    /// In Python-like words: `str`, `int`, `list(str)`.
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub description: String,
}

impl Declared {
    /// Whether the tool belongs to levels 1 and 2.
    pub fn is_of_apis(&self) -> bool {
        self.set == "apis"
    }
}

/// Reads the declarations in a folder by tool; empty if there are none, since dialogues can be used alone. If a name
/// has several declarations, the one in `apis` counts, else the first.
pub fn read(folder: &Path) -> Result<HashMap<String, Declared>, Problem> {
    let path = folder.join("derived_tools.json");
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    let file = path.display().to_string();
    let list: Vec<Declared> = json_file::read(&file, &files::read(&path)?, "a list of tools")?;
    let mut declared: HashMap<String, Declared> = HashMap::new();
    for tool in list {
        let better = declared
            .get(&tool.name)
            .is_none_or(|earlier| tool.set == "apis" && earlier.set != "apis");
        if better {
            declared.insert(tool.name.clone(), tool);
        }
    }
    Ok(declared)
}
