//! Files that the program keeps between sessions, as JSON that a person may read and edit.

use std::io::{self, ErrorKind};
use std::{fs, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use super::import::ImportError;
use crate::files::safe_json::write_pretty;
use crate::files::{json_file, toml_file::Problem, whole_file};
use crate::net::known::without_known;

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// The file cannot be read.
pub fn text(path: &Path) -> Result<Option<String>, Problem> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::of_file(path.display().to_string(), error.to_string())),
    }
}

/// The content of a file; `None` if it does not exist.
///
/// # Errors
/// The file cannot be read, or does not have the `expected` content.
pub fn load<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Option<T>, Problem> {
    let text = text(path)?;
    let file = path.display().to_string();
    text.map(|text| json_file::read(&file, &text, expected)).transpose()
}

/// Writes a value to a private file atomically, without known keys.
///
/// # Errors
/// The system's error.
pub fn save(path: &Path, value: &impl Serialize) -> Result<(), ImportError> {
    let write = |out: &mut dyn io::Write| {
        write_pretty(value, |text| out.write_all(without_known(text).as_bytes()))
    };
    whole_file::write_private(path, write).map_err(|source| ImportError::Io {
        path: path.to_owned(),
        action: "cannot be written",
        source,
    })
}
