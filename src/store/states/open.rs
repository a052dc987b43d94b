//! Opens the cache.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tracing::info;

use super::{MOST_STATES, StateCache, StatesError};
use crate::database::{Database, DatabaseKind};

/// The kind of a cache's file; the mark is "tyst".
static KIND: DatabaseKind = DatabaseKind {
    name: "a cache of states",
    mark: 0x7479_7374,
    steps: &[include_str!("schema.sql")],
    memory: 8 * 1024,
    if_no_database: "expected a cache of states: choose another file, or delete this one",
    if_too_new: "delete it (its states are computed again), or use a newer toolyard",
    if_damaged: "delete it: its states are computed again",
};

impl StateCache {
    /// Opens the cache in this file, and creates it if necessary.
    ///
    /// # Errors
    /// The file is not a cache of states, is damaged or of another format; or the system's error.
    pub fn open(path: &Path) -> Result<Self, StatesError> {
        info!(?path, "opening the cache of states");
        Self::over(Database::open(path, OpenFlags::SQLITE_OPEN_CREATE, &KIND)?)
    }

    /// A private cache that ends with this value.
    ///
    /// # Errors
    /// Out of memory.
    pub fn in_memory() -> Result<Self, StatesError> {
        Self::over(Database::over(Connection::open_in_memory(), Path::new(":memory:"), &KIND)?)
    }

    /// The same with another bound, 1 or more.
    #[must_use]
    pub fn with_most(self, most: u64) -> Self {
        Self { most: most.max(1), ..self }
    }

    fn over(database: Database) -> Result<Self, StatesError> {
        let next = "UPDATE turn SET number = number + 1 RETURNING number";
        let turn: Result<_, StatesError> =
            database.run(|connection| connection.query_row(next, [], |row| row.get(0)));
        Ok(Self { turn: turn?, database, most: MOST_STATES })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_no_cache_of_this_format_is_refused_with_advice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("states.db");
        let refused = || {
            let text = StateCache::open(&path).err().unwrap().to_string();
            text.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
        };
        drop(StateCache::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 2).unwrap();
        let newer = "written in format 2, but this version reads format 1; delete it (its states are computed \
                     again), or use a newer toolyard";
        assert_eq!(refused(), newer);
        connection.pragma_update(None, "application_id", 7).unwrap();
        let foreign =
            "a database, but not a cache of states; choose another file (this one is unchanged)";
        assert_eq!(refused(), foreign);
        drop(connection);
        fs::write(&path, "my notes ".repeat(500)).unwrap();
        let notes = "not a SQLite database; expected a cache of states: choose another file, or delete this one";
        assert_eq!(refused(), notes);
    }
}
