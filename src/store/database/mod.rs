//! Databases: SQLite files of a known kind, which several sessions may use at once.

mod error;
mod kind;
mod open;
mod settings;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction};

pub use self::error::{DatabaseError, DatabaseFault};
pub use self::kind::DatabaseKind;
use self::settings::create_private;

/// An open database. One thread uses it at a time; several may be open on one file.
pub(crate) struct Database {
    pub connection: Connection,
    path: PathBuf,
    kind: &'static DatabaseKind,
}

impl Database {
    /// The result of this work, which is a single write at most; see also [`Database::write`].
    ///
    /// # Errors
    /// SQLite's error.
    pub fn run<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, E> {
        work(&self.connection).map_err(|error| self.error(error).into())
    }

    /// The result of this work in one transaction: all of it is written, or nothing. Other sessions wait until it ends.
    ///
    /// # Errors
    /// SQLite's error; nothing was written.
    pub fn write<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, E> {
        let written = || {
            let transaction = self.connection.transaction()?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        written().map_err(|error: rusqlite::Error| self.error(error).into())
    }

    /// The error of this database with this fault.
    pub fn error(&self, fault: impl Into<DatabaseFault>) -> DatabaseError {
        self.kind.error(&self.path, fault)
    }

    /// Writes the present content to a new file. Other sessions may continue meanwhile.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub fn copy_to(&self, file: &Path) -> Result<(), DatabaseError> {
        let failed = |fault: DatabaseFault| self.kind.error(file, fault);
        // SQLite would take a relative path that begins with "file:" for a URI.
        let name = Path::new(".").join(file);
        let name = name.to_str().ok_or_else(|| {
            let why = "the path is not UTF-8, which SQLite requires; choose another one";
            failed(DatabaseFault::Failed(why.to_owned()))
        })?;
        create_private(file);
        let copied = self.connection.execute("VACUUM INTO ?1", [name]);
        copied.map(drop).map_err(|error| failed(error.into()))
    }
}
