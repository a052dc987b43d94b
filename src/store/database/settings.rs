//! Connections to SQLite files, set up for several sessions at once.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::files::private;

/// How long a write waits for another session. One transaction takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause before a retry where SQLite itself does not wait.
const AGAIN: Duration = Duration::from_millis(5);

/// Opens a private file to read and write; the flags determine whether it may be created.
pub fn open(path: &Path, more: OpenFlags) -> rusqlite::Result<Connection> {
    if more.contains(OpenFlags::SQLITE_OPEN_CREATE) {
        create_private(path);
    }
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        private::tighten(Path::new(&name));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    // SQLite would take a relative path that begins with "file:" for a URI.
    Connection::open_with_flags(Path::new(".").join(path), flags)
}

/// Creates a file, if there is none, that only its owner can read. SQLite would let others read it, and gives its
/// further files the mode of this one. Errors are reported when the file is opened.
pub fn create_private(path: &Path) {
    // SQLite's locks of the file end when this process closes it anywhere, so no other thread may open it meanwhile.
    static CREATING: Mutex<()> = Mutex::new(());
    let _alone = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    drop(private::open(path, OpenOptions::new().write(true).create_new(true)));
}

/// Lets this connection wait for other sessions. Must come before the first transaction.
pub fn wait_for_others(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    // SQLite would else compile a statement again for most new values, although no statistics tell them apart.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(32);
    // A transaction that will write waits for its turn at the start, not halfway.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    Ok(())
}

/// Sets up this connection, which keeps `memory_kib` KiB of the file in memory. SQLite's own `-wal` and `-shm` are
/// the only further files.
pub fn set_up(connection: &Connection, memory_kib: i64) -> rusqlite::Result<()> {
    write_ahead(connection)?;
    // A power cut may lose the last changes, but never damages the file.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -memory_kib)
}

/// Lets writers and readers wait less for each other. SQLite does not wait for its turn here when another session does
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
