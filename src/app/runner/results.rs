//! A folder of results. Each has the name of its job's content, and is written once, whole.

use std::path::{Path, PathBuf};

use serde::{Serialize, de::DeserializeOwned};

use super::SessionStopper;
use super::job_lock::JobLock;
use crate::session::SessionError;
use crate::store::json_store;

/// Results of jobs, by the ids of the jobs.
#[derive(Clone, Debug)]
pub struct ResultFolder {
    pub path: PathBuf,
}

impl ResultFolder {
    fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}.json"))
    }

    /// The result of a job, if it is there.
    ///
    /// # Errors
    /// The file is no result of this version.
    pub fn get<R: DeserializeOwned>(&self, id: &str) -> Result<Option<R>, SessionError> {
        let expected = "a result that this version wrote; remove the file to run the job again";
        json_store::load(&self.file(id), expected).map_err(SessionError::input)
    }

    /// The result of a job: that of the folder, or that of `work`, which runs in no two processes at once. `None`: it was
    /// stopped.
    ///
    /// # Errors
    /// As [`get`](Self::get); that of the work; or the folder cannot be written.
    pub fn get_or<R: Serialize + DeserializeOwned, E: From<SessionError>>(
        &self,
        id: &str,
        stop: &SessionStopper,
        work: impl FnOnce() -> Result<Option<R>, E>,
    ) -> Result<Option<R>, E> {
        if let Some(result) = self.get(id)? {
            return Ok(Some(result));
        }
        let Some(lock) = JobLock::take(&self.path.join(format!("{id}.lock")), stop)? else {
            return Ok(None);
        };
        // Another run may have written it meanwhile.
        let result = match self.get(id)? {
            Some(result) => Some(result),
            None => work()?,
        };
        if let Some(result) = &result {
            self.put(&self.file(id), result)?;
            lock.done();
        }
        Ok(result)
    }

    fn put(&self, path: &Path, result: &impl Serialize) -> Result<(), SessionError> {
        json_store::save(path, result).map_err(SessionError::failed)
    }
}
