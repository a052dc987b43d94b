//! Saves the session on the screen as a scenario, which `toolyard run --scenario` runs and checks.

use std::path::PathBuf;

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::State;

/// The file that was written, or why none was.
pub type SavedScenario = Result<PathBuf, String>;

/// Saves the session in this state beside the screen, and reports when that is done.
pub type SaveScenario =
    Box<dyn Fn(&State, UnboundedSender<SavedScenario>) -> Result<(), String> + Send>;
