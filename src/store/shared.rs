//! A value that several threads use, one at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value with several owners.
#[derive(Debug)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    /// The value, for a moment.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // What is shared here is consistent after each call, even if the calling thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }
}
