//! The lock of a job: two runs in one folder never work on the same job. It ends with its value, and with the process.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, thread, time::Duration};

use super::SessionStopper;
use crate::session::SessionError;

/// The time between two tries.
const BETWEEN: Duration = Duration::from_millis(100);

/// A lock that is held.
pub struct JobLock {
    path: PathBuf,
    /// `None` where the file system has no locks, as some network folders have none.
    file: Option<File>,
}

impl JobLock {
    /// Waits for the lock in this file. `None`: it was stopped.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn take(path: &Path, stop: &SessionStopper) -> Result<Option<Self>, SessionError> {
        let failed =
            |error: std::io::Error| SessionError::failed(format!("{}: {error}", path.display()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = File::options().create(true).append(true).open(path).map_err(failed)?;
        let own = |file| Ok(Some(Self { path: path.to_owned(), file }));
        while !stop.is_stopped() {
            match file.try_lock() {
                Ok(()) => return own(Some(file)),
                Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN),
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    return own(None);
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// Removes the file, since the job is done: who waits for it finds the result then.
    pub fn done(self) {
        // A file that is left does no harm.
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}
