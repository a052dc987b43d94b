//! Storage of tool classes between sessions: `classes.json` in the workspace.

use std::path::Path;

use super::SessionError;
use crate::engine::{ClassBook, KeptClasses};
use crate::store::json_store;

/// The classes of a workspace; empty before the first classification.
pub fn book(folder: &Path) -> Result<ClassBook, SessionError> {
    let path = folder.join("classes.json");
    let expected = "the classes of tools as toolyard wrote them; delete the file to have the tools \
        classified again";
    let kept = json_store::load(&path, expected).map_err(SessionError::input)?.unwrap_or_default();
    let save = Box::new(move |kept: &KeptClasses| {
        json_store::save(&path, kept).map_err(|why| why.to_string())
    });
    Ok(ClassBook { kept, save })
}
