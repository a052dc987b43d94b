//! A session of another machine, for `toolyard follow` and `toolyard attach`. Without the feature `nats` there is none.

use std::path::{Path, PathBuf};

use super::live_journal::Pause;
use super::trouble::Trouble;
#[cfg(feature = "nats")]
use crate::machines::{Look, is_address};

/// A session of another machine, by its address.
pub struct Away {
    #[cfg(feature = "nats")]
    look: Look,
    #[cfg(not(feature = "nats"))]
    look: std::convert::Infallible,
}

#[cfg(feature = "nats")]
impl Away {
    /// The session with this address; `None`: it is the name of a file.
    ///
    /// # Errors
    /// The server cannot be used, or no worker has begun the job.
    pub fn open(session: &Path) -> Result<Option<Self>, Trouble> {
        let look = is_address(session).then(|| Look::open(session)).transpose()?;
        Ok(look.map(|look| Self { look }))
    }

    pub fn journal(&self) -> PathBuf {
        self.look.journal.clone()
    }

    /// The path of its journal, beside which it can be reached.
    ///
    /// # Errors
    /// Its worker does not let people attach.
    pub fn controlled(&self) -> Result<PathBuf, Trouble> {
        self.look.control()?;
        Ok(self.journal())
    }

    /// Waits until its journal has grown.
    pub fn pause(&mut self) -> Pause {
        let (_, never) = std::sync::mpsc::channel();
        let grown = std::mem::replace(&mut self.look.grown, never);
        super::live_journal::by_session(grown, &self.look.journal)
    }
}

#[cfg(not(feature = "nats"))]
impl Away {
    /// None.
    ///
    /// # Errors
    /// None.
    pub fn open(_: &Path) -> Result<Option<Self>, Trouble> {
        Ok(None)
    }

    pub fn journal(&self) -> PathBuf {
        match self.look {}
    }

    /// None.
    ///
    /// # Errors
    /// None.
    pub fn controlled(&self) -> Result<PathBuf, Trouble> {
        match self.look {}
    }

    /// None.
    pub fn pause(&mut self) -> Pause {
        match self.look {}
    }
}
