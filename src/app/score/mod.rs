//! A score for how an agent takes faults: a scenario runs without faults and with each fault of a fixed suite.
//!
//! ```text
//! each seed without faults ──► the tools that it called ──► each fault of the suite, alone ──► the runs that a fault hit ──► score
//! ```

mod last;
mod page;
mod runs;
mod suite;
mod tally;
mod words;

use serde::Serialize;

pub use self::last::{LastScore, ScoreChange};
pub use self::page::{badge, page};
pub use self::runs::{PlannedRun, run};
pub use self::suite::FaultSuite;
pub use self::tally::{PartScore, ResilienceScore, RunShare, ScoredRun};
pub use self::words::{TITLES, change, lines, row, verdict};
use crate::domain::TaskList;
use crate::files::sha256;
use crate::scenario::Scenario;
use crate::session::SessionSpec;

/// A score, and its subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreReport {
    /// Name and version of the suite.
    pub suite: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The hash of what [`test_of`] names.
    pub test: String,
    /// Whether the simulated model played a role, which is not a language model.
    pub simulated: bool,
    /// Runs whose fault hit no call, and which therefore do not count.
    pub not_hit: usize,
    #[serde(flatten)]
    pub score: ResilienceScore,
    /// The change since the last run, if there was one, or why it cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Result<ScoreChange, String>>,
}

/// The hash of what is asked of the agent: tasks, own faults of the scenario, and expectations. Agent, model and knobs are left
/// out, since they are what a comparison is about.
///
/// # Errors
/// A value that TOML does not have.
pub fn test_of(scenario: &Scenario, tasks: &TaskList) -> Result<String, String> {
    let session = SessionSpec { faults: scenario.session.faults.clone(), ..SessionSpec::default() };
    let asked = Scenario { session, expect: scenario.expect.clone(), ..Scenario::default() };
    let texts = serde_json::to_string(tasks.distinct()).map_err(|error| error.to_string())?;
    Ok(sha256::of_texts([asked.to_toml()?.as_str(), &texts, &tasks.len().to_string()]))
}
