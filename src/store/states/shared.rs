//! A cache that several threads use, one at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::StateCache;

/// A cache of states with several owners.
#[derive(Clone)]
pub struct SharedStates(Arc<Mutex<StateCache>>);

impl SharedStates {
    /// The cache, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, StateCache> {
        // A cache is consistent after each call, even if the calling thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<StateCache> for SharedStates {
    fn from(cache: StateCache) -> Self {
        Self(Arc::new(Mutex::new(cache)))
    }
}
