//! The output for each combination.

use std::collections::BTreeMap;

use serde::Serialize;

use super::grid::Cell;
use crate::domain::state::ProbingSums;
use crate::domain::{Knobs, Lap, ModelName, Role, State, TaskId, ToolName};
use crate::report::{Measures, Quality, Report, TaskReport};

/// A combination and its results.
#[derive(Debug, Serialize)]
pub struct CellResult {
    #[serde(flatten)]
    pub cell: Cell,
    pub models: BTreeMap<Role, ModelName>,
    /// Whether any role was played by the built-in simulated model, which is not a language model.
    pub simulated: bool,
    pub knobs: Knobs,
    /// Over all tasks of all seeds; each seed contributes the same number of tasks.
    pub all: CellMeasures,
    /// The lowest and the highest average cost of a seed, in credits.
    pub ac_range: (f64, f64),
    /// The lowest and the highest share of a seed that was solved within the budget.
    pub pbc_range: (f64, f64),
    pub seeds: Vec<SeedResult>,
}

/// All measures of some tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellMeasures {
    #[serde(flatten)]
    pub measures: Measures,
    #[serde(flatten)]
    pub quality: Quality,
}

/// The session of one seed.
#[derive(Debug, Serialize)]
pub struct SeedResult {
    pub seed: u64,
    #[serde(flatten)]
    pub numbers: CellMeasures,
    /// Results of probing, if the session probed tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probing: Option<ProbingSums>,
    /// For each task, whether it was solved within the budget.
    #[serde(skip)]
    pub within: Vec<bool>,
    /// Summaries of the session's tasks.
    #[serde(skip)]
    pub laps: Vec<Lap>,
    /// For each tool, its score after each task that scored it.
    #[serde(skip)]
    pub scores: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
}

/// The result of a session.
#[derive(Clone, Debug)]
pub struct Ran {
    pub tasks: Vec<TaskReport>,
    pub simulated: bool,
    pub models: BTreeMap<Role, ModelName>,
    /// For each tool, its score after each task that scored it.
    pub scores: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
    /// Summaries of the session's tasks.
    pub laps: Vec<Lap>,
    /// Credits, as set at the end.
    pub budget: f64,
    /// Results of probing, if the session probed tools.
    pub probing: Option<ProbingSums>,
}

impl Ran {
    pub fn of(state: &State) -> Self {
        let Report { tasks, simulated, models, measures, score_history, probing, .. } =
            Report::of(state);
        Self {
            tasks,
            simulated,
            models,
            scores: score_history,
            laps: state.laps.iter().cloned().collect(),
            budget: measures.budget,
            probing,
        }
    }
}

impl CellMeasures {
    fn of<'r>(tasks: impl Iterator<Item = &'r TaskReport> + Clone, budget: f64) -> Self {
        Self { measures: Measures::of(tasks.clone(), budget), quality: Quality::of(tasks) }
    }
}

/// The results of these combinations that were run, in this order.
pub fn found(results: &[CellResult], cells: impl IntoIterator<Item = Cell>) -> Vec<&CellResult> {
    let found = |cell: Cell| results.iter().find(|result| result.cell.name == cell.name);
    cells.into_iter().filter_map(found).collect()
}

impl CellResult {
    /// From the sessions of a combination, one for each seed.
    pub fn of(cell: Cell, knobs: Knobs, sessions: &[(u64, Ran)]) -> Self {
        let budget = sessions.first().map_or(0.0, |(_, ran)| ran.budget);
        let tasks = sessions.iter().flat_map(|(_, ran)| &ran.tasks);
        let seeds: Vec<_> = sessions
            .iter()
            .map(|(seed, ran)| SeedResult {
                seed: *seed,
                numbers: CellMeasures::of(ran.tasks.iter(), budget),
                probing: ran.probing,
                within: ran.tasks.iter().map(|task| task.solved && !task.over_budget).collect(),
                laps: ran.laps.clone(),
                scores: ran.scores.clone(),
            })
            .collect();
        let range = |of: fn(&SeedResult) -> f64| {
            let least = seeds.iter().map(of).reduce(f64::min).unwrap_or(0.0);
            (least, seeds.iter().map(of).reduce(f64::max).unwrap_or(0.0))
        };
        Self {
            cell,
            models: sessions.first().map(|(_, ran)| ran.models.clone()).unwrap_or_default(),
            simulated: sessions.iter().any(|(_, ran)| ran.simulated),
            knobs,
            all: CellMeasures::of(tasks, budget),
            ac_range: range(|seed| seed.numbers.measures.ac),
            pbc_range: range(|seed| seed.numbers.measures.pbc),
            seeds,
        }
    }
}
