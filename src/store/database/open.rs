//! Opens a database, checks that the file is one of its kind, and brings it to the last format.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::settings;
use super::{Database, DatabaseError, DatabaseFault, DatabaseKind};

impl Database {
    /// Opens the database in this file; the flags determine whether it may be created.
    ///
    /// # Errors
    /// The file is of another kind, is damaged or of a newer version; or the system's error.
    pub fn open(
        path: &Path,
        more: OpenFlags,
        kind: &'static DatabaseKind,
    ) -> Result<Self, DatabaseError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| kind.error(folder, source))?;
        }
        Self::over(settings::open(path, more), path, kind)
    }

    /// The database over a connection that was opened at this path, brought to the last format.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn over(
        opened: rusqlite::Result<Connection>,
        path: &Path,
        kind: &'static DatabaseKind,
    ) -> Result<Self, DatabaseError> {
        let connection = opened.map_err(|error| kind.error(path, error))?;
        let mut database = Self { connection, path: path.to_owned(), kind };
        let format = prepare(&mut database.connection, kind);
        let format = format.map_err(|fault| kind.error(path, fault))?;
        if format > 0 && format < kind.version() {
            database.keep_copy(format)?;
        }
        if format < kind.version() {
            let upgraded = upgrade(&mut database.connection, kind);
            upgraded.map_err(|fault| kind.error(path, fault))?;
        }
        Ok(database)
    }

    /// Keeps a copy of a file of an earlier format beside it, for an earlier version of the program; an older copy
    /// stays.
    fn keep_copy(&self, format: i64) -> Result<(), DatabaseError> {
        let beside = |end: &str| {
            let mut name = self.path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".format-{format}{end}"));
            self.path.with_file_name(name)
        };
        let (copy, new) = (beside(""), beside(&format!(".{}.new", std::process::id())));
        if copy.exists() {
            return Ok(());
        }
        self.copy_to(&new).map_err(|error| DatabaseError { path: copy.clone(), ..error })?;
        fs::rename(&new, &copy).map_err(|source| self.kind.error(&copy, source))
    }
}

/// Prepares this connection, and returns the format of its file; 0 if the file is empty.
fn prepare(connection: &mut Connection, kind: &DatabaseKind) -> Result<i64, DatabaseFault> {
    settings::wait_for_others(connection)?;
    // In one transaction, so that a session that creates the database meanwhile is seen whole or not at all.
    let reading = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let format = format(&reading, kind)?;
    drop(reading);
    // Must come before the first table; only then does the file shrink when rows are removed.
    if format == 0 {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    settings::set_up(connection, kind.memory)?;
    Ok(format)
}

/// Applies all further steps, in one transaction: a file always has one complete format.
fn upgrade(connection: &mut Connection, kind: &DatabaseKind) -> Result<(), DatabaseFault> {
    let transaction = connection.transaction()?;
    // Another session may have done it in the meantime.
    let format = format(&transaction, kind)?;
    if format < kind.version() {
        for step in &kind.steps[format as usize..] {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", kind.mark)?;
        transaction.pragma_update(None, "user_version", kind.version())?;
    }
    Ok(transaction.commit()?)
}

/// The format of a file of this kind; 0 if the file is empty.
fn format(connection: &Connection, kind: &DatabaseKind) -> Result<i64, DatabaseFault> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let mark = number("PRAGMA application_id")?;
    let found = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (mark, found, tables) {
        (0, 0, 0) => Ok(0),
        _ if mark != kind.mark || found < 1 => Err(DatabaseFault::Foreign(kind.name)),
        _ if found > kind.version() => Err(DatabaseFault::TooNew { found, known: kind.version() }),
        _ => Ok(found),
    }
}
