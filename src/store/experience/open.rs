//! Opens the store.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tracing::info;

use super::upgrade::KIND;
use super::{Experience, error::ExperienceError, word_update::reread, words::WordVectorizer};
use crate::database::Database;

impl Experience {
    /// Opens the store in this file, and creates it if necessary.
    ///
    /// # Errors
    /// The file is not a store, is damaged or of a newer version; or the system's error.
    pub fn open(path: &Path) -> Result<Self, ExperienceError> {
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
        // SQLite's name for a database that begins in memory and goes on in a file that is deleted while it is open.
        let opened = Connection::open("");
        Self::over(Database::over(opened, Path::new("a private store"), &KIND)?)
    }

    fn open_with(path: &Path, more: OpenFlags) -> Result<Self, ExperienceError> {
        info!(?path, "opening past uses of tools");
        Self::over(Database::open(path, more, &KIND)?)
    }

    fn over(mut database: Database) -> Result<Self, ExperienceError> {
        let reader = WordVectorizer::new();
        let reread = reread(&mut database.connection, &reader);
        reread.map_err(|error| database.error(error))?;
        Ok(Self { database, reader })
    }
}
