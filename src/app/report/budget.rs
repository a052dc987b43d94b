//! Planned against actual costs, and BTP's measures (section 3.1).

use std::collections::BTreeMap;

use serde::Serialize;

use super::task::TaskReport;
use crate::domain::{BudgetPlan, Knob, Spent, State, TaskState, ToolCallPhase, ToolName};

/// The forecast of a task's first plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetForecast {
    /// The budget, and the part of it that was reserved for calls in addition to the uses.
    pub budget: f64,
    pub reserve: f64,
    pub cost: f64,
    pub value: f64,
    pub uses: u64,
    /// The number of plans at the end.
    pub plans: u32,
}

/// One tool in one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ToolSpent {
    /// Uses in the first plan; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<u32>,
    pub uses: u32,
    pub refused: u32,
    #[serde(flatten)]
    pub spent: Spent,
}

/// Over the tasks that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// The budget of a task, in credits, as it was at the end of the session.
    pub budget: f64,
    /// AC: the average cost of a task, in credits.
    pub ac: f64,
    /// PR: the share of solved tasks, at any cost. A task without a tool call counts as not solved,
    /// like an answer that is known to be wrong.
    pub pr: f64,
    /// PBC: the share of tasks solved within the budget.
    pub pbc: f64,
    /// RFBC: the share of tasks that were not solved and exceeded the budget.
    pub rfbc: f64,
    /// RFBC as the authors' script counts it: the share of tasks over the budget, solved or not.
    pub rfbc_authors: f64,
    /// Average cost of a first plan, and its average number of uses (table 4); `None` without
    /// plans.
    pub planned_cost: Option<f64>,
    pub planned_uses: Option<f64>,
    /// Average number of calls per task.
    pub uses: f64,
    /// Refused calls, for any reason.
    pub refusals: usize,
}

impl BudgetForecast {
    pub fn of(task: &TaskState) -> Option<Self> {
        let first = task.budget.first.as_ref()?;
        let BudgetPlan { budget, reserve, cost, value, .. } = **first;
        Some(Self { budget, reserve, cost, value, uses: first.uses(), plans: task.budget.plans })
    }
}

/// Every tool that was planned, used or refused.
pub fn by_tool(task: &TaskState) -> BTreeMap<ToolName, ToolSpent> {
    let mut tools: BTreeMap<ToolName, ToolSpent> = BTreeMap::new();
    for planned in task.budget.first.iter().flat_map(|plan| &plan.tools) {
        tools.entry(planned.tool.clone()).or_default().planned = Some(planned.uses);
    }
    for (tool, ledger) in &task.budget.tools {
        let entry = tools.entry(tool.clone()).or_default();
        (entry.uses, entry.refused, entry.spent) = (ledger.uses, ledger.refused, ledger.spent);
    }
    tools
}

/// The number of refused calls by reason.
pub fn refusals(state: &State, task: &TaskState) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for call in task.tool_calls.iter().filter_map(|call| state.tool_call(*call)) {
        if let ToolCallPhase::Refused { reason, .. } = &call.phase {
            *counts.entry(reason.name()).or_default() += 1;
        }
    }
    counts
}

/// The budget of a task: that of its latest plan, else the knob's.
pub fn budget_of(state: &State, task: &TaskState) -> f64 {
    let plan = task.budget.plan.as_ref();
    plan.map_or_else(|| state.knobs.get(Knob::Budget), |plan| plan.budget)
}

impl Measures {
    /// Over the ended tasks of one session, or of several: each counts the same. `budget` is the
    /// reported budget.
    pub fn of<'r>(tasks: impl Iterator<Item = &'r TaskReport>, budget: f64) -> Self {
        let ended: Vec<_> = tasks.filter(|task| task.outcome.is_some()).collect();
        let share = |holds: &dyn Fn(&TaskReport) -> bool| {
            mean(ended.iter().map(|task| f64::from(u8::from(holds(task))))).unwrap_or(0.0)
        };
        let plans = || ended.iter().filter_map(|task| task.planned.as_ref());
        Self {
            budget,
            ac: mean(ended.iter().map(|task| task.cost)).unwrap_or(0.0),
            pr: share(&|task| task.solved),
            pbc: share(&|task| task.solved && !task.over_budget),
            rfbc: share(&|task| !task.solved && task.over_budget),
            rfbc_authors: share(&|task| task.over_budget),
            planned_cost: mean(plans().map(|plan| plan.cost)),
            planned_uses: mean(plans().map(|plan| plan.uses as f64)),
            uses: mean(ended.iter().map(|task| task.calls as f64)).unwrap_or(0.0),
            refusals: ended.iter().map(|task| task.refusals.values().sum::<usize>()).sum(),
        }
    }
}

pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), n| (sum + n, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
