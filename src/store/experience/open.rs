//! Opens the store, and checks that the file is one with a known format.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tracing::info;

use super::upgrade::{VERSION, keep_copy, upgrade};
use super::{Experience, error::ExperienceError, reread::reread, words::Reader};

/// Identifies the file as a store of past uses: "tyex", stored as `application_id`.
const MARK: i64 = 0x7479_6578;

/// How long a write waits for another session. One transaction takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause until it is tried again where SQLite itself does not wait.
const AGAIN: Duration = Duration::from_millis(5);

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

    /// A private store that ends with this value.
    ///
    /// # Errors
    /// Out of memory.
    pub fn in_memory() -> Result<Self, ExperienceError> {
        let path = PathBuf::from(":memory:");
        let opened = Connection::open_in_memory();
        let connection = opened.map_err(ExperienceError::of(&path))?;
        Self::over(connection, path)
    }

    fn open_with(path: &Path, more: OpenFlags) -> Result<Self, ExperienceError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        // SQLite would take a relative path that begins with "file:" for a URI.
        info!(?path, "opening past uses of tools");
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
    // A transaction that will write waits for its turn at the start, not halfway.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // In one transaction, so that a session that creates the store meanwhile is seen whole or not at all.
    let reading = connection.transaction_with_behavior(TransactionBehavior::Deferred);
    let reading = reading.map_err(failed)?;
    let before = found(&reading, path)?;
    drop(reading);
    if before == Found::Store(VERSION) {
        return settings(connection).map_err(failed);
    }
    // Must come before the first table; only then does the file shrink when uses are removed.
    if before == Found::Nothing {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    }
    settings(connection).map_err(failed)?;
    if let Found::Store(version) = before {
        keep_copy(connection, path, version)?;
    }
    let transaction = connection.transaction().map_err(failed)?;
    // Another session may have done it in the meantime.
    match found(&transaction, path)? {
        Found::Store(VERSION) => {}
        Found::Store(version) => upgrade(&transaction, version).map_err(failed)?,
        Found::Nothing => {
            transaction.execute_batch(include_str!("schema.sql")).map_err(failed)?;
            transaction.execute_batch(include_str!("runs.sql")).map_err(failed)?;
            transaction.execute_batch(include_str!("line.sql")).map_err(failed)?;
            transaction.pragma_update(None, "application_id", MARK).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
    }
    transaction.commit().map_err(failed)
}

/// Settings of this connection. SQLite's own `-wal` and `-shm` are the only further files.
fn settings(connection: &Connection) -> rusqlite::Result<()> {
    write_ahead(connection)?;
    // A power cut may lose the last uses, but never damages the store.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // In KiB. It limits the memory; the words of some 50,000 queries fit.
    connection.pragma_update(None, "cache_size", -16 * 1024)
}

/// Makes writers and readers wait less for each other. SQLite does not wait for its turn here when another session does
/// the same with a new file, since both could wait for ever.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < PATIENCE =>
            {
                thread::sleep(AGAIN);
            }
            done => return done,
        }
    }
}

/// The content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// An empty file.
    Nothing,
    /// A store of this known format.
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
