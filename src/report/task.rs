//! A task in a report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::budget::{self, BudgetForecast, ToolSpent};
use super::marks::MarkReport;
use crate::domain::{
    Caveat, Grading, Outcome, Role, Spent, State, Strategy, TaskId, TaskState, ToolName,
    ToolVerdict,
};
use crate::papers::atc::measures::{self, ProgramScore};
use crate::papers::atc::metrics::{self, PathScore};
use crate::papers::calls::{self, CallScore};

/// A task and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskReport {
    /// The number of the task in its session, from 1.
    pub n: TaskId,
    pub task: String,
    /// True if the task probed tools. Such a task counts in no measure of tasks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_probe: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub answer: Option<String>,
    pub gold: Option<String>,
    /// Further right answers.
    #[serde(rename = "golds", skip_serializing_if = "Vec::is_empty")]
    pub more_golds: Vec<String>,
    pub correct: Option<bool>,
    /// For a task that is scored by its calls: the number of right ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_score: Option<CallScore>,
    /// For a task with a reference chain: the tools that it called (ATC's Path and Prec).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathScore>,
    /// For a task with programs: their failures, repairs and blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramScore>,
    /// Ended with an answer that is not known to be wrong, and with at least one tool call (BTP).
    pub solved: bool,
    /// Outcome; `None` while the task is queued or running.
    pub outcome: Option<Outcome>,
    /// Caveats about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// Why plans of the planner could not be used in the last attempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plans_refused: Vec<String>,
    pub tries: u32,
    /// Number of decisions; with a planner, of its plans and the answer.
    pub steps: usize,
    /// Calls that ran.
    pub calls: usize,
    /// How often the agent began to go in circles.
    #[serde(skip_serializing_if = "is_zero")]
    pub loops: usize,
    /// Marks on the calls: problems of which the agent was not told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<MarkReport>,
    /// Tools of the calls that ran, in order.
    pub tools: Vec<ToolName>,
    pub tokens_in: u64,
    /// Tokens of `tokens_in` that endpoints had in their cache.
    pub tokens_cached: u64,
    pub tokens_out: u64,
    /// Tokens in and out of each role; the papers count those of the actor.
    pub tokens_by_role: BTreeMap<Role, (u64, u64)>,
    /// Strategy; `None` while the task is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Cost in credits: the total, and the parts by category.
    pub cost: f64,
    pub spent: Spent,
    pub over_budget: bool,
    /// The budget in credits, and the fewest credits that the tools of a known way cost; `None` without a known way.
    pub budget: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheapest: Option<f64>,
    /// Forecast of the first budget plan; `None` without a plan.
    pub planned: Option<BudgetForecast>,
    pub by_tool: BTreeMap<ToolName, ToolSpent>,
    /// The number of refused calls by reason.
    pub refusals: BTreeMap<&'static str, usize>,
    /// Cost of the model calls in US dollars; `None` if the price of any is unknown.
    pub dollars: Option<f64>,
    /// Whether any of `dollars` is by list prices.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    pub verdicts: Vec<ToolVerdict>,
    /// Grading of the answer; `None` if the grader was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grading: Option<Grading>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl TaskReport {
    /// Whether the task counts in the measures of tasks: it has ended, and did not probe tools.
    pub fn counts(&self) -> bool {
        self.outcome.is_some() && !self.is_probe
    }

    /// Whether the task can be scored, by a right answer or right calls.
    pub fn can_be_scored(&self) -> bool {
        self.gold.is_some() || self.call_score.is_some()
    }

    /// The report of a task in this state, which must have the task's details.
    pub fn of(state: &State, task: &TaskState) -> Self {
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
        Self {
            n: task.id,
            task: task.task.text.clone(),
            is_probe: task.task.probe.is_some(),
            name: task.task.name.clone(),
            answer: task.answer.clone(),
            gold: task.task.gold.clone(),
            more_golds: task.task.more_golds.clone(),
            correct: task.correct,
            call_score: calls::of_task(state, task),
            path: metrics::of_task(state, task),
            programs: measures::of_task(task),
            solved: task.is_solved() && !tools.is_empty(),
            outcome: task.outcome(),
            caveats: task.caveats.clone(),
            plans_refused: task.work.refused.clone(),
            tries: task.tries,
            steps: usize::try_from(task.steps_taken()).unwrap_or(usize::MAX),
            calls: tools.len(),
            loops: state.loops(task),
            marks: MarkReport::all(state, task),
            tools,
            tokens_in: task.tokens_in,
            tokens_cached: task.cached,
            tokens_out: task.tokens_out,
            tokens_by_role,
            strategy: task.strategy,
            cost: task.credits(),
            spent: task.budget.spent,
            over_budget: task.is_over(budget::budget_of(state, task)),
            budget: budget::budget_of(state, task),
            cheapest: state.cheapest_way(&task.task),
            planned: BudgetForecast::of(task),
            by_tool: budget::by_tool(task),
            refusals: budget::refusals(state, task),
            dollars: (task.unpriced == 0).then_some(*task.dollars),
            listed: task.listed,
            verdicts: task.verdicts.clone(),
            grading: task.grading.clone(),
        }
    }

    /// The best value of a measure over all right answers, 0 without an answer; `None` if no right
    /// answer is known.
    pub fn against_golds(&self, measure: &dyn Fn(&str, &str) -> f64) -> Option<f64> {
        self.gold.as_ref()?;
        let golds = self.gold.iter().chain(&self.more_golds);
        let best = |answer| golds.map(|gold| measure(answer, gold)).fold(0.0, f64::max);
        Some(self.answer.as_deref().map_or(0.0, best))
    }
}
