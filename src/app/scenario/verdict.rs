//! The result of a scenario.

use serde::Serialize;

use super::check::Checked;
use crate::domain::State;

/// Whether a scenario passed, and why not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioVerdict {
    pub name: String,
    pub file: String,
    pub passed: bool,
    /// Why the session ended early, if it did; then the scenario has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    pub expectations: Vec<Checked>,
    /// The faults that hit no call, each with the reason; they are no failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<Checked>,
    /// Duration of the session.
    pub seconds: f64,
}

impl ScenarioVerdict {
    pub fn new(
        (name, file): (String, String),
        ended_early: Option<String>,
        expectations: Vec<Checked>,
        seconds: f64,
    ) -> Self {
        let passed = ended_early.is_none() && expectations.iter().all(|one| one.held);
        Self { name, file, passed, ended_early, expectations, idle: Vec::new(), seconds }
    }

    /// Adds the faults of a session that hit no call.
    pub fn with_idle_faults(mut self, state: &State) -> Self {
        let idle = state.faults.values().filter_map(|fault| {
            let expected = format!("the fault {} hits a call", fault.spec);
            Some(Checked { expected, held: false, found: fault.idle()? })
        });
        self.idle.extend(idle);
        self
    }

    /// How many expectations did not hold.
    pub fn failures(&self) -> usize {
        self.expectations.iter().filter(|one| !one.held).count()
    }
}
