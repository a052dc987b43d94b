//! The runtime of commands that wait for models, tools and files.

use tokio::runtime::{Builder, Runtime};

use super::trouble::Trouble;

/// A runtime for a command that waits for something.
///
/// # Errors
/// The system's error.
pub fn runtime() -> Result<Runtime, Trouble> {
    Builder::new_current_thread().enable_all().build().map_err(Trouble::failed)
}
