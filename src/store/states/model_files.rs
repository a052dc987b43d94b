//! Hashes of model files that were hashed before.

use std::time::UNIX_EPOCH;
use std::{fs, io, path::Path};

use rusqlite::{OptionalExtension, params};

use super::{StateCache, StatesError};

/// The facts that identify a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    path: String,
    /// In bytes.
    size: u64,
    /// Nanoseconds since 1970; 0 where the system does not know.
    modified: i64,
}

impl FileFacts {
    /// # Errors
    /// The system's error.
    pub fn of(path: &Path) -> io::Result<Self> {
        let there = fs::metadata(path)?;
        let modified = there.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        let path = fs::canonicalize(path)?.to_string_lossy().into_owned();
        Ok(Self { path, size: there.len(), modified })
    }
}

impl StateCache {
    /// The hash of this file, if it was hashed as it is now.
    ///
    /// # Errors
    /// The cache fails.
    pub fn file_hash(&self, file: &FileFacts) -> Result<Option<String>, StatesError> {
        let select = "SELECT hash FROM model_file WHERE path = ?1 AND size = ?2 AND modified = ?3";
        let known = params![file.path, file.size, file.modified];
        self.database
            .run(|connection| connection.query_row(select, known, |row| row.get(0)).optional())
    }

    /// Remembers the hash of this file.
    ///
    /// # Errors
    /// The cache fails.
    pub fn keep_file_hash(&mut self, file: &FileFacts, hash: &str) -> Result<(), StatesError> {
        let replace = "INSERT OR REPLACE INTO model_file (path, size, modified, hash)
             VALUES (?1, ?2, ?3, ?4)";
        let row = params![file.path, file.size, file.modified, hash];
        self.database.run(|connection| connection.execute(replace, row).map(drop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_hashed_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.gguf");
        fs::write(&path, "one").unwrap();
        let file = FileFacts::of(&path).unwrap();
        let mut cache = StateCache::in_memory().unwrap();
        assert_eq!(cache.file_hash(&file).unwrap(), None);
        cache.keep_file_hash(&file, "h").unwrap();
        assert_eq!(cache.file_hash(&file).unwrap().as_deref(), Some("h"));
        fs::write(&path, "another").unwrap();
        assert_eq!(cache.file_hash(&FileFacts::of(&path).unwrap()).unwrap(), None);
    }
}
