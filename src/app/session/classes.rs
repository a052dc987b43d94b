//! Where the classes of tools are kept between sessions: `classes.json` in the workspace.

use std::{fs, io, path::Path};

use super::SessionError;
use crate::engine::{ClassBook, Kept};

/// The classes of a workspace; empty where nothing was sorted yet.
pub fn book(folder: &Path) -> Result<ClassBook, SessionError> {
    let path = folder.join("classes.json");
    let kept = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|why| {
            SessionError::Input(format!(
                "{}: {why}; expected the classes of tools as toolyard wrote them; delete the file to have \
                 the tools sorted anew",
                path.display()
            ))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::new(),
        Err(error) => return Err(SessionError::Input(format!("{}: {error}", path.display()))),
    };
    let save = Box::new(move |kept: &Kept| {
        let text = serde_json::to_string_pretty(kept).map_err(|why| why.to_string())?;
        crate::store::import::write_file(&path, &(text + "\n")).map_err(|why| why.to_string())
    });
    Ok(ClassBook { kept, save })
}
