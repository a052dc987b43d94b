//! Finds, reads and replaces files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::ImportError;
use crate::files::text_file::{self, Expectation};
use crate::files::{toml_file::Problem, whole_file};

const DATA: Expectation = Expectation {
    what: "a file of a data set",
    missing: "expected a file or folder of data",
    largest: 1 << 30,
};

/// Deeper than any data set; it ends a loop of links.
const DEEPEST: usize = 8;

/// The path itself if it is a file; else all files with this extension in the folder and below it,
/// sorted by path.
pub fn find(path: &Path, extension: &str) -> Result<Vec<PathBuf>, ImportError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, extension, 0, &mut found)?;
    found.sort();
    if found.is_empty() {
        let text = format!("expected files *.{extension} in this folder or below it, found none");
        return Err(Problem::of_file(path.display().to_string(), text).into());
    }
    Ok(found)
}

fn walk(
    folder: &Path,
    extension: &str,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), ImportError> {
    let failed = |source| io_error(folder, "cannot be listed", source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if depth < DEEPEST {
                walk(&path, extension, depth + 1, found)?;
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    Ok(())
}

/// The whole text of a file.
pub fn read(path: &Path) -> Result<String, Problem> {
    text_file::read(path, &DATA)
}

/// Replaces a file atomically: a reader sees the old text or the new one, never a part, even after
/// an interruption. A link is followed, and a special file such as a pipe is written to directly.
///
/// # Errors
/// The system's error, with the path. The old file still exists in that case.
pub fn write(path: &Path, text: &str) -> Result<(), ImportError> {
    whole_file::write(path, |out| out.write_all(text.as_bytes()))
        .map_err(|source| io_error(path, "cannot be written", source))
}

/// The same for content of sessions, which only its owner may read.
///
/// # Errors
/// As [`write()`].
pub fn write_private(path: &Path, text: &str) -> Result<(), ImportError> {
    whole_file::write_private(path, |out| out.write_all(text.as_bytes()))
        .map_err(|source| io_error(path, "cannot be written", source))
}

/// Creates a folder and its parents.
pub fn make_folder(path: &Path) -> Result<(), ImportError> {
    fs::create_dir_all(path).map_err(|source| io_error(path, "cannot be created", source))
}

/// Whether the folder is missing or empty.
pub fn is_vacant(path: &Path) -> Result<bool, ImportError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(source) => Err(io_error(path, "cannot be listed", source)),
    }
}

fn io_error(path: &Path, action: &'static str, source: io::Error) -> ImportError {
    ImportError::Io { path: path.to_owned(), action, source }
}
