//! A session as one JSON object for scripts and comparisons, computed from the state.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{
    Caveat, Event, Knob, Knobs, ListedEdge, Listing, ModelName, Outcome, Rates, Role, SessionEvent,
    Spent, State, Strategy, TaskId, TaskState, ToolName, Verdict,
};

use crate::domain::state::{Line, What};

pub mod budget;
pub mod quality;

pub use budget::{BudgetForecast, Measures, ToolSpent};
pub use quality::Quality;

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

/// One task and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskReport {
    /// The number of the task in its session, from 1.
    pub n: TaskId,
    pub task: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub answer: Option<String>,
    pub gold: Option<String>,
    /// Further right answers.
    #[serde(rename = "golds", skip_serializing_if = "Vec::is_empty")]
    pub more_golds: Vec<String>,
    pub correct: Option<bool>,
    /// Ended with an answer that is not known to be wrong, and with at least one tool call (BTP).
    pub solved: bool,
    /// `None` while it is queued or running.
    pub outcome: Option<Outcome>,
    /// What has to be said of the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// Why plans of the planner could not be used, in the last attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plans_refused: Vec<String>,
    pub tries: u32,
    /// Decisions; with a planner, its plans and the answer.
    pub steps: usize,
    /// Calls that ran.
    pub calls: usize,
    /// The tools of those calls, in order.
    pub tools: Vec<ToolName>,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Tokens in and out of each role; the papers count those of the actor.
    pub tokens_by_role: BTreeMap<Role, (u64, u64)>,
    /// Its strategy; `None` while it is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Its cost in credits, by category.
    pub cost: f64,
    pub spent: Spent,
    pub over_budget: bool,
    /// Its expected cost; `None` without a plan.
    pub planned: Option<BudgetForecast>,
    pub by_tool: BTreeMap<ToolName, ToolSpent>,
    /// The number of refused calls by reason.
    pub refusals: BTreeMap<&'static str, usize>,
    /// The cost of its model calls; `None` if the price of any is unknown.
    pub dollars: Option<f64>,
    pub verdicts: Vec<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultReport {
    pub fault: String,
    pub armed: bool,
    pub fired: u32,
}

impl Report {
    pub fn of(state: &State) -> Self {
        let tasks: Vec<_> = state.tasks.iter().map(|task| task_report(state, task)).collect();
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
        let unpriced: u32 = state.tasks.iter().map(|task| task.unpriced).sum();
        let dollars: f64 = state.tasks.iter().map(|task| task.dollars).sum();
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

fn task_report(state: &State, task: &TaskState) -> TaskReport {
    let calls = task.tool_calls.iter().filter_map(|call| state.tool_call(*call));
    let tools: Vec<_> =
        calls.filter(|call| call.started.is_some()).map(|call| call.tool.clone()).collect();
    let mut tokens_by_role: BTreeMap<Role, (u64, u64)> = BTreeMap::new();
    for call in task.model_calls.iter().filter_map(|call| state.model_call(*call)) {
        if let Some(reply) = call.reply() {
            let tokens = tokens_by_role.entry(call.role).or_default();
            tokens.0 = tokens.0.saturating_add(reply.usage.tokens_in);
            tokens.1 = tokens.1.saturating_add(reply.usage.tokens_out);
        }
    }
    TaskReport {
        n: task.id,
        task: task.task.text.clone(),
        name: task.task.name.clone(),
        answer: task.answer.clone(),
        gold: task.task.gold.clone(),
        more_golds: task.task.more_golds.clone(),
        correct: task.correct,
        solved: task.is_solved() && !tools.is_empty(),
        outcome: task.outcome(),
        caveats: task.caveats.clone(),
        plans_refused: task.work.refused.clone(),
        tries: task.tries,
        steps: usize::try_from(task.steps_taken()).unwrap_or(usize::MAX),
        calls: tools.len(),
        tools,
        tokens_in: task.tokens_in,
        tokens_out: task.tokens_out,
        tokens_by_role,
        strategy: task.strategy,
        cost: task.credits(),
        spent: task.budget.spent,
        over_budget: task.is_over(budget::budget_of(state, task)),
        planned: BudgetForecast::of(task),
        by_tool: budget::by_tool(task),
        refusals: budget::refusals(state, task),
        dollars: (task.unpriced == 0).then_some(task.dollars),
        verdicts: task.verdicts.clone(),
    }
}
