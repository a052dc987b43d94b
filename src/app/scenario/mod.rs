//! Scenarios: sessions as files, with expectations.
//!
//! ```text
//! FILE ── load ──► ScenarioFile ── prepare ──► session ── records ──► Observed ──┐
//!                        └───────────────── Expectations ───────────────► check ◄┘──► Checked, each by itself
//! ```

mod check;
mod expect;
mod expected_call;
mod folded;
mod junit;
mod known;
mod limits;
mod observation;
mod quiet_run;
mod read;
mod save;
mod verdict;
mod write;

use std::path::PathBuf;

pub use self::check::Checked;
pub use self::expect::Expectations;
pub use self::folded::FoldedChecks;
pub use self::observation::{Observed, TaskSums};
pub use self::quiet_run::QuietRun;
pub use self::save::saved;
pub use self::verdict::{CaseEnd, ScenarioVerdict};
pub use self::{check::check, junit::junit};
use crate::files::toml_file::FieldLines;
use crate::session::SessionSpec;

/// A session, and the expectations on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Name for people and reports; `None`: the name of the file.
    pub name: Option<String>,
    /// Purpose of the scenario.
    pub about: Option<String>,
    pub session: SessionSpec,
    pub expect: Expectations,
}

/// A scenario that was read from a file.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    pub path: PathBuf,
    pub scenario: Scenario,
    /// Lines of the fields, for problems that only the session shows.
    lines: FieldLines,
}

impl ScenarioFile {
    /// Returns the scenario's own name, or else the file name without its ending.
    pub fn name(&self) -> String {
        let stem = || self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.scenario.name.clone().unwrap_or_else(stem)
    }
}
