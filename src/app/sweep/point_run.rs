//! The result of one session of a sweep: a few sums.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::domain::State;
use crate::papers::resilience::Means;

/// A session of a sweep that has ended, in short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointRun {
    /// The means over its tasks, and its right answers.
    pub means: Means,
    /// US dollars of the whole session.
    pub dollars: f64,
    /// Whether the scenario passed; `None` without one.
    pub passed: Option<bool>,
}

/// The measure that a sweep shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum SweepMeasure {
    /// Share of right answers, in percent.
    Right,
    /// Share of sessions in which the scenario passed, in percent.
    Passed,
    /// Tool calls of a task.
    Calls,
    /// Tokens of a task, in and out.
    Tokens,
    /// Credits of a task.
    Credits,
    /// US dollars of a task.
    Dollars,
}

impl PointRun {
    /// The sums of a session without its first `before` tasks.
    pub fn of(state: &State, before: usize, passed: Option<bool>) -> Self {
        let laps: Vec<_> = state.laps.iter().skip(before).collect();
        Self { means: Means::of(&laps), dollars: state.dollars_spent(), passed }
    }

    /// The value of a measure in this session; `None` where it is not known.
    pub fn value(&self, measure: SweepMeasure) -> Option<f64> {
        let Means { calls, tokens, credits, dollars, .. } = self.means;
        match measure {
            SweepMeasure::Right => self.means.right_share().map(|share| 100.0 * share),
            SweepMeasure::Passed => self.passed.map(|passed| if passed { 100.0 } else { 0.0 }),
            SweepMeasure::Calls => Some(calls),
            SweepMeasure::Tokens => Some(tokens),
            SweepMeasure::Credits => Some(credits),
            SweepMeasure::Dollars => Some(dollars),
        }
    }
}

impl SweepMeasure {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The measure with its unit, for headings.
    pub fn title(self) -> &'static str {
        match self {
            SweepMeasure::Right => "right answers in %",
            SweepMeasure::Passed => "sessions passed in %",
            SweepMeasure::Calls => "tool calls per task",
            SweepMeasure::Tokens => "tokens per task",
            SweepMeasure::Credits => "credits per task",
            SweepMeasure::Dollars => "US dollars per task",
        }
    }

    pub fn is_better_high(self) -> bool {
        matches!(self, SweepMeasure::Right | SweepMeasure::Passed)
    }

    pub fn show(self, value: f64) -> String {
        match self {
            SweepMeasure::Right | SweepMeasure::Passed => format!("{value:.1}"),
            SweepMeasure::Calls | SweepMeasure::Credits => format!("{value:.2}"),
            SweepMeasure::Tokens => format!("{value:.0}"),
            SweepMeasure::Dollars => format!("{value:.4}"),
        }
    }
}
