//! Opening the store: whether the file is one, and of a format that is known.

use std::path::{Path, PathBuf};
use std::{fs, time::Duration};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tracing::info;

use super::upgrade::{VERSION, upgrade};
use super::{Experience, error::ExperienceError, reread::reread, words::Reader};

/// Marks the file as a store of past uses: "tyex", kept as `application_id`.
const MARK: i64 = 0x7479_6578;

/// How long a write waits for that of another session. One transaction takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

impl Experience {
    /// Opens the store in this file, and makes it where it is not there.
    ///
    /// # Errors
    /// That the file is no store, is damaged or of a newer version, or what the system says.
    pub fn open(path: &Path) -> Result<Self, ExperienceError> {
        if let Some(folder) = path.parent() {
            let io = |source| ExperienceError::Io { path: folder.to_owned(), source };
            fs::create_dir_all(folder).map_err(io)?;
        }
        Self::open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the store in this file, which must be there.
    ///
    /// # Errors
    /// As [`Experience::open`], and that there is none.
    pub fn open_existing(path: &Path) -> Result<Self, ExperienceError> {
        if !path.exists() {
            return Err(ExperienceError::Missing { path: path.to_owned() });
        }
        Self::open_with(path, OpenFlags::empty())
    }

    /// A store that nobody else sees and that ends with this value.
    ///
    /// # Errors
    /// That there is no memory left.
    pub fn in_memory() -> Result<Self, ExperienceError> {
        let path = PathBuf::from(":memory:");
        let opened = Connection::open_in_memory();
        let connection = opened.map_err(ExperienceError::of(&path))?;
        Self::over(connection, path)
    }

    fn open_with(path: &Path, more: OpenFlags) -> Result<Self, ExperienceError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        // A relative path that begins with "file:" would be read as an address.
        info!(?path, "past uses of tools are opened");
        let opened = Connection::open_with_flags(Path::new(".").join(path), flags);
        let connection = opened.map_err(ExperienceError::of(path))?;
        Self::over(connection, path.to_owned())
    }

    fn over(mut connection: Connection, path: PathBuf) -> Result<Self, ExperienceError> {
        prepare(&mut connection, &path)?;
        let reader = Reader::new();
        reread(&mut connection, &reader).map_err(ExperienceError::of(&path))?;
        Ok(Self { connection, path, reader })
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), ExperienceError> {
    let failed = ExperienceError::of(path);
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(32);
    // What is going to write waits for its turn at once, not halfway.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let before = found(connection, path)?;
    if before == Found::Store(VERSION) {
        return settings(connection).map_err(failed);
    }
    // Must come before the first table; only then the file shrinks when uses are taken out.
    if before == Found::Nothing {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    settings(connection).map_err(failed)?;
    let transaction = connection.transaction().map_err(failed)?;
    // Another session may have done it in the meantime.
    match found(&transaction, path)? {
        Found::Store(VERSION) => {}
        Found::Store(version) => upgrade(&transaction, version).map_err(failed)?,
        Found::Nothing => {
            transaction.execute_batch(include_str!("schema.sql")).map_err(failed)?;
            transaction.execute_batch(include_str!("runs.sql")).map_err(failed)?;
            transaction.pragma_update(None, "application_id", MARK).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
    }
    transaction.commit().map_err(failed)
}

/// How this connection works. Nothing is written beside the file but SQLite's own `-wal` and `-shm`.
fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A loss of power may cost the last uses, never the store.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // In KiB. It bounds the memory; the words of 100,000 queries fit.
    connection.pragma_update(None, "cache_size", -32 * 1024)
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Nothing at all.
    Nothing,
    /// A store of this format, which is known.
    Store(i64),
}

fn found(connection: &Connection, path: &Path) -> Result<Found, ExperienceError> {
    let number = |sql: &str| {
        let found = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        found.map_err(ExperienceError::of(path))
    };
    let mark = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (mark, found, tables) {
        (MARK, 1..=VERSION, _) => Ok(Found::Store(found)),
        (MARK, _, _) if found > VERSION => {
            Err(ExperienceError::TooNew { path: path.to_owned(), found, known: VERSION })
        }
        (0, 0, 0) => Ok(Found::Nothing),
        _ => Err(ExperienceError::Foreign { path: path.to_owned() }),
    }
}
