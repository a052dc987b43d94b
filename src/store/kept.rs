//! Files that the program keeps between sessions, as JSON that a person may read and edit.

use std::{fs, io::ErrorKind, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use super::import::{ImportError, write_private};
use crate::files::{json_file, safe_json::safe, toml_file::Problem};

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// It cannot be read.
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
/// The file cannot be read, or is not what was `expected`.
pub fn load<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Option<T>, Problem> {
    let text = text(path)?;
    let file = path.display().to_string();
    text.map(|text| json_file::read(&file, &text, expected)).transpose()
}

/// Writes a value to a private file atomically.
///
/// # Errors
/// The system's error.
pub fn save(path: &Path, value: &impl Serialize) -> Result<(), ImportError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Problem::of_file(path.display().to_string(), error.to_string()))?;
    write_private(path, &(safe(&text).into_owned() + "\n"))
}
