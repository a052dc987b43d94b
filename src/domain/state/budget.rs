//! The budget of a task, its spending, and its plans (BTP).

use std::{ops::AddAssign, sync::Arc};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::{State, TaskState, What, family::Family};
use crate::domain::event::{BudgetEvent, BudgetPlan, PlannedTool, Refusal};
use crate::domain::id::{EffectId, TaskId, ToolName};
use crate::domain::{command::Command, knob::Knob};

/// Tolerance for comparing credits to the budget: sums of decimals are not exact.
pub const CENT: f64 = 1e-9;

/// Credits spent, by category (BTP, eq. 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// On the tools themselves.
    pub tools: f64,
    pub models: f64,
    pub time: f64,
}

impl Spent {
    pub fn total(self) -> f64 {
        self.tools + self.models + self.time
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.tools += more.tools;
        self.models += more.models;
        self.time += more.time;
    }
}

/// The ledger of one task, and its plan if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskBudget {
    /// The first plan of the task; none without `+btp`.
    pub first: Option<Arc<BudgetPlan>>,
    /// The previous plan.
    pub before: Option<Arc<BudgetPlan>>,
    pub plan: Option<Arc<BudgetPlan>>,
    /// Why the latest plan was made.
    pub why: String,
    /// The number of plans made.
    pub plans: u32,
    /// Uses of each tool since the latest plan.
    pub used: IndexMap<ToolName, u32>,
    pub tools: IndexMap<ToolName, ToolLedger>,
    pub spent: Spent,
    /// Why each of these tools must not be used again.
    pub blacklist: IndexMap<ToolName, String>,
    /// Tools of which a result helped.
    pub helped: IndexSet<ToolName>,
    /// Remaining uses of each tool as set by the user.
    pub set: IndexMap<ToolName, u32>,
    /// Calls that the budget refused.
    pub refused: u32,
    /// The agent has stopped searching and sums up.
    pub closing: bool,
}

/// The calls of one tool in one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolLedger {
    /// Calls that ran.
    pub uses: u32,
    /// Cost and time of its own calls; the cost of model calls belongs to no tool.
    pub spent: Spent,
    /// Calls that the budget refused, and the reason for the last one.
    pub refused: u32,
    pub refusal: Option<Refusal>,
    /// Results that were judged, and those that helped.
    pub judged: u32,
    pub helpful: u32,
}

impl TaskBudget {
    /// How many uses of a tool the plan has left; `None` without a plan.
    pub fn left(&self, tool: &str) -> Option<u32> {
        let plan = self.plan.as_ref()?;
        Some(plan.tool(tool).map_or(0, |planned| self.left_of(planned)))
    }

    /// How often a tool may still be used: the user's number, even if the budget may not pay for
    /// all of it, else the plan's rest.
    pub fn allowed(&self, tool: &str) -> u32 {
        let set = self.set.get(tool).copied();
        set.or_else(|| self.left(tool)).unwrap_or(0)
    }

    /// How many of a candidate's planned uses are left.
    pub fn left_of(&self, planned: &PlannedTool) -> u32 {
        planned.uses.saturating_sub(self.used.get(&planned.tool).copied().unwrap_or(0))
    }

    /// Whether a step may offer the tool.
    pub fn allows(&self, tool: &str) -> bool {
        !self.blacklist.contains_key(tool) && self.left(tool) != Some(0)
    }

    /// The cost of all planned uses still ahead.
    pub fn ahead(&self) -> f64 {
        let planned = self.plan.iter().flat_map(|plan| &plan.tools).filter(|tool| tool.uses > 0);
        planned.map(|tool| tool.cost * f64::from(self.left_of(tool))).sum()
    }

    fn tool(&mut self, tool: &ToolName) -> &mut ToolLedger {
        self.tools.entry(tool.clone()).or_default()
    }
}

impl TaskState {
    /// Credits spent so far.
    pub fn credits(&self) -> f64 {
        self.budget.spent.total()
    }

    /// Whether more than this was spent.
    pub fn is_over(&self, budget: f64) -> bool {
        self.credits() > budget + CENT
    }
}

impl State {
    /// Whether a plan constrains the current task.
    pub fn has_plan(&self) -> bool {
        self.current_task().is_some_and(|task| task.budget.plan.is_some())
    }

    /// Whether the current task's plan, if any, lets this tool be offered.
    pub fn plan_allows(&self, tool: &ToolName) -> bool {
        let offered = self.tools.get(tool).is_some_and(|tool| tool.is_offered());
        offered && self.current_task().is_none_or(|task| task.budget.allows(tool.as_str()))
    }

    /// The rest of the current task's budget, in credits; never below 0.
    pub fn credits_left(&self) -> f64 {
        let spent = self.current_task().map_or(0.0, TaskState::credits);
        (self.knobs.get(Knob::Budget) - spent).max(0.0)
    }

    pub(super) fn apply_budget(&mut self, event: &BudgetEvent) {
        match event {
            BudgetEvent::BudgetPlanned { task, why, plan } => {
                let Some(budget) = self.budget_mut(*task) else { return };
                budget.before = budget.plan.replace(Arc::clone(plan));
                budget.first.get_or_insert_with(|| Arc::clone(plan));
                budget.why.clone_from(why);
                budget.plans += 1;
                budget.used.clear();
            }
            BudgetEvent::UsesSet { task, tool, uses, .. } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.set.insert(tool.clone(), *uses);
                }
            }
            BudgetEvent::ToolBlacklisted { task, tool, why } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.blacklist.insert(tool.clone(), why.clone());
                }
            }
            BudgetEvent::SummaryStarted { task, .. } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.closing = true;
                }
            }
            BudgetEvent::Judged { call, helpful, .. } => self.judge(*call, *helpful),
        }
    }

    fn judge(&mut self, call: EffectId, helpful: bool) {
        let Some(call) = self.tool_call_mut(call) else { return };
        call.helpful = Some(helpful);
        let (task, tool) = (call.task, call.tool.clone());
        let Some(budget) = self.budget_mut(task) else { return };
        let ledger = budget.tool(&tool);
        ledger.judged += 1;
        ledger.helpful += u32::from(helpful);
        if helpful {
            budget.helped.insert(tool);
        }
    }

    /// A call of this tool starts: its own cost is due, regardless of the outcome.
    pub(super) fn charge_call(&mut self, task: TaskId, tool: &ToolName, credits: f64) {
        self.control.changes.keep_used(task, tool);
        let Some(budget) = self.budget_mut(task) else { return };
        let cost = Spent { tools: credits, ..Spent::default() };
        *budget.used.entry(tool.clone()).or_default() += 1;
        if let Some(set) = budget.set.get_mut(tool) {
            *set = set.saturating_sub(1);
        }
        let ledger = budget.tool(tool);
        ledger.uses += 1;
        ledger.spent += cost;
        budget.spent += cost;
    }

    /// A call took this long.
    pub(super) fn charge_call_time(&mut self, task: TaskId, tool: &ToolName, micros: u64) {
        let time = Spent { time: self.rates.time(micros), ..Spent::default() };
        let Some(budget) = self.budget_mut(task) else { return };
        budget.tool(tool).spent += time;
        budget.spent += time;
    }

    pub(super) fn charge_model_call(&mut self, task: TaskId, credits: f64, micros: u64) {
        let cost = Spent { tools: 0.0, models: credits, time: self.rates.time(micros) };
        if let Some(budget) = self.budget_mut(task) {
            budget.spent += cost;
        }
    }

    pub(super) fn refuse(&mut self, task: TaskId, tool: &ToolName, reason: Refusal) {
        let Some(budget) = self.budget_mut(task).filter(|_| reason.is_budget()) else { return };
        budget.refused += 1;
        let ledger = budget.tool(tool);
        ledger.refused += 1;
        ledger.refusal = Some(reason);
    }

    fn budget_mut(&mut self, task: TaskId) -> Option<&mut TaskBudget> {
        self.task_mut(task).map(|task| &mut task.budget)
    }
}

impl Family for BudgetEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_budget(self);
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            BudgetEvent::BudgetPlanned { task, why, plan } => {
                let before = state.task(*task).and_then(|task| task.budget.before.clone());
                let (why, plan) = (why.clone(), Arc::clone(plan));
                Some((Some(*task), What::BudgetPlanned { why, plan, before }))
            }
            BudgetEvent::ToolBlacklisted { .. }
            | BudgetEvent::SummaryStarted { .. }
            | BudgetEvent::UsesSet { .. } => What::told(self.clone()),
            BudgetEvent::Judged { .. } => None,
        }
    }

    fn opposite(&self) -> Option<Command> {
        match self {
            BudgetEvent::UsesSet { tool, was, .. } => {
                Some(Command::SetUses { tool: tool.clone(), uses: *was })
            }
            BudgetEvent::Judged { .. }
            | BudgetEvent::ToolBlacklisted { .. }
            | BudgetEvent::BudgetPlanned { .. }
            | BudgetEvent::SummaryStarted { .. } => None,
        }
    }
}
