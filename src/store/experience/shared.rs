//! A store that several threads use, one at a time: a session writes to it, and copies start from its content.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Experience;

/// A store of past uses with several owners.
#[derive(Clone)]
pub struct SharedExperience(Arc<Mutex<Experience>>);

impl SharedExperience {
    /// The store, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, Experience> {
        // A store is consistent after each call, even if the calling thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Experience> for SharedExperience {
    fn from(store: Experience) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }
}
