//! The result of one session of a sweep: a few sums.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::domain::{Lap, State};

/// A session of a sweep that has ended, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointRun {
    pub tasks: Vec<TaskRun>,
    /// US dollars of the whole session.
    pub dollars: f64,
    /// Whether the scenario passed; `None` without one.
    pub passed: Option<bool>,
}

/// A task in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRun {
    /// Whether its answer is right, where that is known.
    pub right: Option<bool>,
    pub calls: usize,
    pub tokens: u64,
    pub credits: f64,
    pub dollars: f64,
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
        let task = |lap: &Lap| TaskRun {
            right: lap.correct,
            calls: lap.calls(),
            tokens: lap.tokens,
            credits: *lap.credits,
            dollars: *lap.dollars,
        };
        let tasks = state.laps.iter().skip(before).map(task).collect();
        Self { tasks, dollars: state.dollars_spent(), passed }
    }

    /// The values of a measure for each task; where it is one of the whole session, its one value. `None` where it is not
    /// known.
    pub fn values(&self, measure: SweepMeasure) -> Vec<Option<f64>> {
        let share = |is_so: bool| if is_so { 100.0 } else { 0.0 };
        if measure == SweepMeasure::Passed {
            return vec![self.passed.map(share)];
        }
        let value = |task: &TaskRun| match measure {
            SweepMeasure::Right => task.right.map(share),
            SweepMeasure::Passed => None,
            SweepMeasure::Calls => Some(task.calls as f64),
            SweepMeasure::Tokens => Some(task.tokens as f64),
            SweepMeasure::Credits => Some(task.credits),
            SweepMeasure::Dollars => Some(task.dollars),
        };
        self.tasks.iter().map(value).collect()
    }

    /// The mean of a measure; `None` where no task has it.
    pub fn mean(&self, measure: SweepMeasure) -> Option<f64> {
        let known: Vec<f64> = self.values(measure).into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
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
