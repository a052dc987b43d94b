//! Temporary folders that nothing outlives, not even a kill.

use std::io;

use tempfile::TempDir;

use crate::process;

/// A folder that ends with its value, or with the program.
///
/// # Errors
/// The system's error.
pub fn folder() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("toolyard-").tempdir()?;
    process::remove_at_end(folder.path())?;
    Ok(folder)
}
