//! A scenario's session without any output.

use super::folded::FoldedChecks;
use super::{Expectations, ScenarioVerdict, TaskSums};
use crate::domain::{Record, State, state::Keeps, state::RECENT};
use crate::engine::{DOLLARS_REACHED, MODEL_UNUSABLE};
use crate::runner::{Followed, Runner};
use crate::session::{PreparedSession, SessionError};

/// A session that has ended.
pub struct QuietRun {
    pub state: State,
    checks: FoldedChecks,
    /// Why the session ended.
    ended: Option<String>,
}

impl QuietRun {
    /// Runs a session until it ends or is stopped; `hear` gets each record. `None`: it was stopped elsewhere.
    ///
    /// # Errors
    /// The session cannot start, or ended early.
    pub fn of(
        mut prepared: PreparedSession,
        expect: &Expectations,
        runner: &Runner,
        mut hear: impl FnMut(&Record) + 'static,
    ) -> Result<Option<Self>, SessionError> {
        prepared.keeps = Keeps::Tasks(RECENT);
        let checks = FoldedChecks::new(expect);
        let folds = checks.clone();
        let hears = move |record: &Record| {
            folds.take(record);
            hear(record);
            true
        };
        let spec = prepared.spec().clone();
        let Some(Followed { state, .. }) = runner.follow(&spec, prepared, hears)? else {
            return Ok(None);
        };
        let ended = checks.ended();
        Ok(Some(Self { state, checks, ended }))
    }

    /// Why the session ended for want of money or of a model, if it did: that says nothing about the agent.
    pub fn lacked(&self) -> Option<&str> {
        let lacks =
            |why: &&str| why.starts_with(DOLLARS_REACHED) || why.starts_with(MODEL_UNUSABLE);
        self.ended.as_deref().filter(lacks)
    }

    /// The calls, tokens, credits and dollars of the session.
    pub fn sums(&self) -> TaskSums {
        self.checks.sums(&self.state)
    }

    /// Checks these expectations. `name`: those of the scenario and of its file.
    pub fn verdict(&self, name: (String, String), expect: &Expectations) -> ScenarioVerdict {
        self.checks.verdict(name, expect, &self.state)
    }
}
