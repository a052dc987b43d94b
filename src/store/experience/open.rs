//! Opens the store, and checks that the file is one with a known format.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tracing::info;

use super::upgrade::{VERSION, keep_copy, upgrade};
use super::{Experience, error::ExperienceError, reread::reread, words::WordVectorizer};
use crate::sqlite;

/// Identifies the file as a store of past uses: "tyex", stored as `application_id`.
const MARK: i64 = 0x7479_6578;

/// How much of the file is kept in memory, in KiB: the words of some 50,000 queries fit.
pub(super) const MEMORY: i64 = 16 * 1024;

impl Experience {
    /// Opens the store in this file, and creates it if necessary.
    ///
    /// # Errors
    /// The file is not a store, is damaged or of a newer version; or the system's error.
    pub fn open(path: &Path) -> Result<Self, ExperienceError> {
        if let Some(folder) = path.parent() {
            let io = |source| ExperienceError::Io { path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(io)?;
        }
        Self::open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the store in this file, which must exist.
    ///
    /// # Errors
    /// As [`Experience::open`], or the file does not exist.
    pub fn open_existing(path: &Path) -> Result<Self, ExperienceError> {
        if !path.exists() {
            return Err(ExperienceError::Missing { path: path.to_owned() });
        }
        Self::open_with(path, OpenFlags::empty())
    }

    /// A private store that ends with this value. If it is large, most of it is in a file without a name, which ends
    /// with the process.
    ///
    /// # Errors
    /// Out of memory.
    pub fn private() -> Result<Self, ExperienceError> {
        let path = PathBuf::from("a private store");
        // SQLite's name for a database that begins in memory and goes on in a file that is deleted while it is open.
        let opened = Connection::open("");
        let connection = opened.map_err(ExperienceError::of(&path))?;
        Self::over(connection, path)
    }

    fn open_with(path: &Path, more: OpenFlags) -> Result<Self, ExperienceError> {
        info!(?path, "opening past uses of tools");
        let connection = sqlite::open(path, more).map_err(ExperienceError::of(path))?;
        Self::over(connection, path.to_owned())
    }

    fn over(mut connection: Connection, path: PathBuf) -> Result<Self, ExperienceError> {
        prepare(&mut connection, &path)?;
        let reader = WordVectorizer::new();
        reread(&mut connection, &reader).map_err(ExperienceError::of(&path))?;
        Ok(Self { connection, path, reader })
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), ExperienceError> {
    let failed = ExperienceError::of(path);
    sqlite::wait_for_others(connection).map_err(failed)?;
    // In one transaction, so that a session that creates the store meanwhile is seen whole or not at all.
    let reading = connection.transaction_with_behavior(TransactionBehavior::Deferred);
    let reading = reading.map_err(failed)?;
    let before = found(&reading, path)?;
    drop(reading);
    if before == StoreContent::Store(VERSION) {
        return sqlite::settings(connection, MEMORY).map_err(failed);
    }
    // Must come before the first table; only then does the file shrink when uses are removed.
    if before == StoreContent::Nothing {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    sqlite::settings(connection, MEMORY).map_err(failed)?;
    if let StoreContent::Store(version) = before {
        keep_copy(connection, path, version)?;
    }
    let transaction = connection.transaction().map_err(failed)?;
    // Another session may have done it in the meantime.
    match found(&transaction, path)? {
        StoreContent::Store(VERSION) => {}
        StoreContent::Store(version) => upgrade(&transaction, version).map_err(failed)?,
        StoreContent::Nothing => {
            transaction.execute_batch(include_str!("schema.sql")).map_err(failed)?;
            transaction.execute_batch(include_str!("runs.sql")).map_err(failed)?;
            transaction.execute_batch(include_str!("line.sql")).map_err(failed)?;
            transaction.pragma_update(None, "application_id", MARK).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
    }
    transaction.commit().map_err(failed)
}

/// The content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreContent {
    /// An empty file.
    Nothing,
    /// A store of this known format.
    Store(i64),
}

fn found(connection: &Connection, path: &Path) -> Result<StoreContent, ExperienceError> {
    let number = |sql: &str| {
        let found = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        found.map_err(ExperienceError::of(path))
    };
    let mark = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (mark, found, tables) {
        (MARK, 1..=VERSION, _) => Ok(StoreContent::Store(found)),
        (MARK, _, _) if found > VERSION => {
            Err(ExperienceError::TooNew { path: path.to_owned(), found, known: VERSION })
        }
        (0, 0, 0) => Ok(StoreContent::Nothing),
        _ => Err(ExperienceError::Foreign { path: path.to_owned() }),
    }
}
