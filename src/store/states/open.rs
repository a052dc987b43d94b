//! Opens the cache, and checks that the file is one.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tracing::info;

use super::{MOST_STATES, StateCache, StatesError};
use crate::sqlite;

/// Identifies the file as a cache of states: "tyst", stored as `application_id`.
const MARK: i64 = 0x7479_7374;

/// The format of `schema.sql`, stored in the file as `user_version`.
const VERSION: i64 = 1;

/// How much of the file is kept in memory, in KiB.
const MEMORY: i64 = 8 * 1024;

impl StateCache {
    /// Opens the cache in this file, and creates it if necessary.
    ///
    /// # Errors
    /// The file is not a cache of states, is damaged or of another format; or the system's error.
    pub fn open(path: &Path) -> Result<Self, StatesError> {
        if let Some(folder) = path.parent() {
            let io = |source| StatesError::Io { path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(io)?;
        }
        info!(?path, "opening the cache of states");
        let opened = sqlite::open(path, OpenFlags::SQLITE_OPEN_CREATE);
        Self::over(opened.map_err(StatesError::of(path))?, path.to_owned())
    }

    /// A private cache that ends with this value.
    ///
    /// # Errors
    /// Out of memory.
    pub fn in_memory() -> Result<Self, StatesError> {
        let path = PathBuf::from(":memory:");
        let opened = Connection::open_in_memory();
        Self::over(opened.map_err(StatesError::of(&path))?, path)
    }

    /// The same with another bound, 1 or more.
    #[must_use]
    pub fn with_most(self, most: u64) -> Self {
        Self { most: most.max(1), ..self }
    }

    fn over(mut connection: Connection, path: PathBuf) -> Result<Self, StatesError> {
        prepare(&mut connection, &path)?;
        let failed = StatesError::of(&path);
        let next = "UPDATE turn SET number = number + 1 RETURNING number";
        let turn = connection.query_row(next, [], |row| row.get(0)).map_err(failed)?;
        Ok(Self { connection, path, turn, most: MOST_STATES })
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StatesError> {
    let failed = StatesError::of(path);
    sqlite::wait_for_others(connection).map_err(failed)?;
    let reading = connection.transaction_with_behavior(TransactionBehavior::Deferred);
    let reading = reading.map_err(failed)?;
    let is_new = !is_cache(&reading, path)?;
    drop(reading);
    // Must come before the first table; only then does the file shrink when states leave.
    if is_new {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    sqlite::settings(connection, MEMORY).map_err(failed)?;
    if is_new {
        let transaction = connection.transaction().map_err(failed)?;
        // Another session may have done it in the meantime.
        if !is_cache(&transaction, path)? {
            transaction.execute_batch(include_str!("schema.sql")).map_err(failed)?;
            transaction.pragma_update(None, "application_id", MARK).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

/// Whether the file is a cache; `false` for an empty one.
fn is_cache(connection: &Connection, path: &Path) -> Result<bool, StatesError> {
    let number = |sql: &str| {
        let found = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        found.map_err(StatesError::of(path))
    };
    let mark = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (mark, found, tables) {
        (MARK, VERSION, _) => Ok(true),
        (MARK, found, _) => {
            Err(StatesError::OtherFormat { path: path.to_owned(), found, known: VERSION })
        }
        (0, 0, 0) => Ok(false),
        _ => Err(StatesError::Foreign { path: path.to_owned() }),
    }
}
