//! Storage of learned schemas between sessions: `probed.json` in the workspace.

use std::path::Path;

use super::SessionError;
use crate::engine::{KeptSchemas, SchemaBook};
use crate::files::toml_file::Problem;
use crate::store::json_store;

const EXPECTED: &str =
    "the schemas as toolyard wrote them; delete the file to have the tools probed again";

/// The schemas of a workspace; empty before the first probing.
pub fn book(folder: &Path) -> Result<SchemaBook, SessionError> {
    let path = folder.join("probed.json");
    let load = |path: &Path| -> Result<KeptSchemas, Problem> {
        Ok(json_store::load(path, EXPECTED)?.unwrap_or_default())
    };
    let known = load(&path).map_err(SessionError::input)?;
    let save = Box::new(move |new: &KeptSchemas| {
        // Another session may have learned other schemas meanwhile.
        let mut all = load(&path).map_err(|why| why.to_string())?;
        all.retain(|_, kept| new.values().all(|new| new.tool != kept.tool));
        all.extend(new.clone());
        json_store::save(&path, &all).map_err(|why| why.to_string())
    });
    Ok(SchemaBook { kept: known, save })
}
