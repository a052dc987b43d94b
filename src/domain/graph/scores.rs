//! The accumulated scores of the tools, s_j in ToolNet, eq. 7.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::id::ToolName;

/// The sum of all scores given to each tool, by the evaluator or by the user. A missing tool counts
/// as 0. `end` may have a score too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "IndexMap<ToolName, f64>", into = "IndexMap<ToolName, f64>")]
pub struct Scores(IndexMap<ToolName, f64>);

/// An invalid score.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{tool}: {score} is not a score; expected a number from -{max:e} to {max:e}", max = Scores::MAX)]
pub struct ScoreError {
    pub tool: ToolName,
    pub score: f64,
}

impl Scores {
    /// The largest absolute score. It is far beyond the sum of single steps of 3, and well below
    /// 2^53, above which adding 1 changes nothing.
    pub const MAX: f64 = 1e15;

    pub fn new() -> Self {
        Self::default()
    }

    /// The tool's score, if it has one.
    pub fn get(&self, tool: &str) -> Option<f64> {
        self.0.get(tool).copied()
    }

    /// Replaces a score and returns the previous one.
    ///
    /// # Errors
    /// Where it is not finite or larger than [`Scores::MAX`]; nothing changes in that case.
    pub fn set(&mut self, tool: ToolName, score: f64) -> Result<Option<f64>, ScoreError> {
        let score = checked(&tool, score)?;
        Ok(self.0.insert(tool, score))
    }

    /// Adds to a score and returns the sum.
    ///
    /// # Errors
    /// Where the sum is not finite or larger than [`Scores::MAX`]; nothing changes in that case.
    pub fn add(&mut self, tool: ToolName, delta: f64) -> Result<f64, ScoreError> {
        let score = checked(&tool, self.get(tool.as_str()).unwrap_or(0.0) + delta)?;
        self.0.insert(tool, score);
        Ok(score)
    }

    /// In the order in which the tools got their first score.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ToolName, f64)> + Clone {
        self.0.iter().map(|(tool, &score)| (tool, score))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn checked(tool: &ToolName, score: f64) -> Result<f64, ScoreError> {
    if score.abs() <= Scores::MAX {
        Ok(score)
    } else {
        Err(ScoreError { tool: tool.clone(), score })
    }
}

impl TryFrom<IndexMap<ToolName, f64>> for Scores {
    type Error = ScoreError;

    fn try_from(scores: IndexMap<ToolName, f64>) -> Result<Self, ScoreError> {
        for (tool, &score) in &scores {
            checked(tool, score)?;
        }
        Ok(Self(scores))
    }
}

impl From<Scores> for IndexMap<ToolName, f64> {
    fn from(scores: Scores) -> Self {
        scores.0
    }
}
