//! A session as one JSON object for scripts and comparisons, computed from the state.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{
    Event, Knob, Knobs, ListedEdge, Listing, ModelName, Outcome, Rates, Role, SessionEvent, State,
    Strategy, TaskId, ToolName,
};

use crate::domain::state::{Line, What};

pub mod budget;
pub mod graded;
pub mod quality;
pub mod task;

pub use budget::{BudgetForecast, Measures, ToolSpent};
pub use graded::Graded;
pub use quality::Quality;
pub use task::TaskReport;

/// Larger uninformed graphs are not listed: thousands of tools have millions of unused edges.
const EDGES: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub seed: u64,
    pub strategy: Strategy,
    pub workspace: String,
    /// The model of each role.
    pub models: BTreeMap<Role, ModelName>,
    /// Whether any role was played by the built-in simulated model, which is not a language model.
    pub simulated: bool,
    pub knobs: Knobs,
    pub rates: Rates,
    pub totals: Totals,
    /// How well the tasks kept to their budget.
    pub measures: Measures,
    /// How good the answers are: exact match, token F1, and what a grader says.
    pub quality: Quality,
    pub tasks: Vec<TaskReport>,
    pub scores: BTreeMap<ToolName, f64>,
    /// For each tool, its score after each task that scored it (and after each edit).
    pub score_history: BTreeMap<ToolName, Vec<(TaskId, f64)>>,
    pub edges: Vec<ListedEdge>,
    pub faults: Vec<FaultReport>,
    /// What the session had to tell beside its tasks, such as an endpoint that ignores tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Sums over the tasks that have ended; `dollars` over all model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    pub tasks: usize,
    pub answered: usize,
    /// Of the tasks with a gold answer.
    pub correct: usize,
    pub with_gold: usize,
    pub steps: usize,
    pub calls: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost: f64,
    pub dollars: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultReport {
    pub fault: String,
    pub armed: bool,
    pub fired: u32,
}

impl Report {
    pub fn of(state: &State) -> Self {
        let tasks: Vec<_> = state.tasks.iter().map(|task| TaskReport::of(state, task)).collect();
        let scores = &state.learning.scores;
        let history = state.learning.history.iter().map(|(tool, points)| {
            (tool.clone(), points.iter().map(|point| (point.task, point.score)).collect())
        });
        let roles = state.models.roles.iter();
        Self {
            seed: state.seed,
            strategy: state.strategy,
            workspace: state.workspace.clone(),
            models: roles.map(|(role, bound)| (*role, bound.model.clone())).collect(),
            simulated: state.models.any_simulated(),
            knobs: state.knobs.clone(),
            rates: state.rates,
            totals: Totals::of(state, &tasks),
            measures: Measures::of(tasks.iter(), state.knobs.get(Knob::Budget)),
            quality: Quality::of(tasks.iter()),
            tasks,
            scores: scores.iter().map(|(tool, score)| (tool.clone(), score)).collect(),
            score_history: history.collect(),
            edges: Listing::weighed(&state.learning.weights(&state.knobs), EDGES).into_edges(),
            faults: state
                .faults
                .values()
                .map(|fault| FaultReport {
                    fault: fault.spec.to_string(),
                    armed: fault.armed,
                    fired: fault.fired,
                })
                .collect(),
            notices: state.transcript.iter().filter_map(notice).collect(),
        }
    }
}

fn notice(line: &Line) -> Option<String> {
    let What::Told { event } = &line.what else { return None };
    match &**event {
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    }
}

impl Totals {
    fn of(state: &State, tasks: &[TaskReport]) -> Self {
        let gradings = || state.tasks.iter().filter_map(|task| task.grading.as_ref());
        let unpriced: u32 = state.tasks.iter().map(|task| task.unpriced).sum::<u32>()
            + gradings().map(|grading| grading.unpriced).sum::<u32>();
        let dollars: f64 = state.tasks.iter().map(|task| task.dollars).sum::<f64>()
            + gradings().map(|grading| grading.dollars).sum::<f64>();
        let mut totals = Self { dollars: (unpriced == 0).then_some(dollars), ..Self::default() };
        for task in tasks.iter().filter(|task| task.outcome.is_some()) {
            totals.tasks += 1;
            totals.answered += usize::from(task.outcome == Some(Outcome::Answered));
            totals.correct += usize::from(task.correct == Some(true));
            totals.with_gold += usize::from(task.gold.is_some());
            totals.steps += task.steps;
            totals.calls += task.calls;
            totals.tokens_in = totals.tokens_in.saturating_add(task.tokens_in);
            totals.tokens_out = totals.tokens_out.saturating_add(task.tokens_out);
            totals.cost += task.cost;
        }
        totals
    }
}
