//! Planned against actual costs, and BTP's measures (section 3.1).

use std::collections::BTreeMap;

use serde::Serialize;

use super::task::TaskReport;
use crate::domain::state::budget::CENT;
use crate::domain::{BudgetPlan, Knob, Spent, State, TaskState, ToolCallPhase, ToolName};

/// The forecast of a task's first plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetForecast {
    /// The budget, and the part of it that was reserved for calls in addition to the uses.
    pub budget: f64,
    pub reserve: f64,
    /// The credits for the uses that the plan needs, and for the spare ones beyond them (the knob `spread`).
    pub cost: f64,
    pub spare_cost: f64,
    pub value: f64,
    /// The uses that the plan needs, and the spare ones.
    pub uses: u64,
    pub spare_uses: u64,
    /// The number of plans at the end.
    pub plans: u32,
    /// Whether the plan lacks a use of any tool for some step of the task's reference chain.
    pub misses: bool,
}

/// Uses and cost of one tool in one task.
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

/// Measures over the tasks that have ended.
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
    /// The share of tasks whose cheapest known way fits the budget, among those with a known way; `None` without any.
    /// No agent solves more of them within the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<f64>,
    /// Average cost of a first plan, and its average number of uses (table 4); `None` without
    /// plans. What is spare in it does not count.
    pub planned_cost: Option<f64>,
    pub planned_uses: Option<f64>,
    /// Average cost of the spare uses of a first plan.
    pub spare_cost: Option<f64>,
    /// Average number of calls per task.
    pub uses: f64,
    /// Refused calls, for any reason.
    pub refusals: usize,
    /// Misses and unspent credits of plans in tasks that were not solved.
    #[serde(skip_serializing_if = "Failed::is_none")]
    pub failed: Failed,
}

/// Tasks with a plan that were not solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Failed {
    pub tasks: usize,
    /// Tasks among these whose first plan has no use of a tool that the task needs.
    pub misses: usize,
    /// Average credits of the budget left unspent.
    pub unspent: f64,
}

impl Failed {
    fn is_none(&self) -> bool {
        self.tasks == 0
    }
}

impl BudgetForecast {
    pub fn of(task: &TaskState) -> Option<Self> {
        let first = task.budget.first.as_ref()?;
        let BudgetPlan { budget, reserve, value, .. } = **first;
        let ((uses, cost), (spare_uses, spare_cost)) = (first.needed(), first.spare());
        Some(Self {
            budget: *budget,
            reserve: *reserve,
            cost,
            spare_cost,
            value: *value,
            uses,
            spare_uses,
            plans: task.budget.plans,
            misses: task.task.chain.iter().any(|step| {
                let is_planned =
                    |tool: &ToolName| first.tool(tool.as_str()).is_some_and(|plan| plan.uses > 0);
                !step.tools.iter().any(is_planned)
            }),
        })
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
    plan.map_or_else(|| state.knobs.get(Knob::Budget), |plan| *plan.budget)
}

impl Measures {
    /// Over the ended tasks of one session, or of several: each counts the same. `budget` is the
    /// reported budget.
    pub fn of<'r>(tasks: impl Iterator<Item = &'r TaskReport>, budget: f64) -> Self {
        let mut sums = MeasureSums::default();
        tasks.for_each(|task| sums.add(task));
        sums.measures(budget)
    }
}

/// The sums behind [`Measures`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeasureSums {
    cost: Mean,
    solved: Mean,
    solved_within: Mean,
    failed_over: Mean,
    over: Mean,
    could: Mean,
    planned_cost: Mean,
    planned_uses: Mean,
    spare_cost: Mean,
    uses: Mean,
    refusals: usize,
    unspent: Mean,
    misses: usize,
}

impl MeasureSums {
    /// Adds a task if it has ended.
    pub fn add(&mut self, task: &TaskReport) {
        if !task.counts() {
            return;
        }
        self.cost.add(task.cost);
        self.solved.count(task.solved);
        self.solved_within.count(task.solved && !task.over_budget);
        self.failed_over.count(!task.solved && task.over_budget);
        self.over.count(task.over_budget);
        if let Some(cheapest) = task.cheapest {
            self.could.count(cheapest <= task.budget + CENT);
        }
        if let Some(plan) = &task.planned {
            self.planned_cost.add(plan.cost);
            self.planned_uses.add(plan.uses as f64);
            self.spare_cost.add(plan.spare_cost);
            if !task.solved {
                self.unspent.add((plan.budget - task.cost).max(0.0));
                self.misses += usize::from(plan.misses);
            }
        }
        self.uses.add(task.calls as f64);
        self.refusals += task.refusals.values().sum::<usize>();
    }

    pub fn measures(&self, budget: f64) -> Measures {
        Measures {
            budget,
            ac: self.cost.or_zero(),
            pr: self.solved.or_zero(),
            pbc: self.solved_within.or_zero(),
            rfbc: self.failed_over.or_zero(),
            rfbc_authors: self.over.or_zero(),
            ceiling: self.could.value(),
            planned_cost: self.planned_cost.value(),
            planned_uses: self.planned_uses.value(),
            spare_cost: self.spare_cost.value(),
            uses: self.uses.or_zero(),
            refusals: self.refusals,
            failed: Failed {
                tasks: self.unspent.count as usize,
                misses: self.misses,
                unspent: self.unspent.or_zero(),
            },
        }
    }
}

/// A mean of numbers that come one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    pub fn add(&mut self, number: f64) {
        self.sum += number;
        self.count += 1;
    }

    /// Adds to a share whether this holds.
    pub fn count(&mut self, holds: bool) {
        self.add(f64::from(u8::from(holds)));
    }

    /// `None` without any number.
    pub fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    pub fn or_zero(self) -> f64 {
        self.value().unwrap_or(0.0)
    }
}
