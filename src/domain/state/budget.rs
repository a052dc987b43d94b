//! The budget of a task, its spending, and its plans (BTP).

use std::{ops::AddAssign, sync::Arc};

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use crate::event::{BudgetPlan, PlannedTool, Refusal};
use crate::finite::Finite;
use crate::id::{EffectId, ToolName};

/// Tolerance for comparing credits to the budget: sums of decimals are not exact.
pub const CENT: f64 = 1e-9;

/// Credits spent, by category (BTP, eq. 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// On the tools themselves.
    pub tools: Finite,
    pub models: Finite,
    pub time: Finite,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Tools with a result that helped.
    pub helped: IndexSet<ToolName>,
    /// Remaining uses of each tool as set by the user.
    pub set: IndexMap<ToolName, u32>,
    /// Calls that the budget refused.
    pub refused: u32,
    /// The agent has stopped searching and sums up.
    pub closing: bool,
    /// Where its spending first went beyond the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrun: Option<Overrun>,
}

/// The call with which the spending of a task went beyond its budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overrun {
    /// The event that charged it.
    pub event: u64,
    pub effect: EffectId,
    /// Credits spent including this call, and the budget at that time.
    pub spent: Finite,
    pub budget: Finite,
}

/// The calls of one tool in one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Calls of all tools that ran.
    pub fn uses(&self) -> u32 {
        self.tools.values().map(|tool| tool.uses).fold(0, u32::saturating_add)
    }

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

    /// How many of the uses that the plan needs are left. The first uses are those.
    pub fn needed_left(&self, planned: &PlannedTool) -> u32 {
        self.left_of(planned).saturating_sub(planned.uses - planned.needed())
    }

    /// The credits for all uses still ahead: those that the plan needs, and the spare ones.
    pub fn ahead(&self) -> (f64, f64) {
        let planned = self.plan.iter().flat_map(|plan| &plan.tools);
        let costs = planned.map(|tool| {
            let (left, needed) = (self.left_of(tool), self.needed_left(tool));
            (tool.cost * f64::from(needed), tool.cost * f64::from(left - needed))
        });
        costs.fold((0.0, 0.0), |sums, (needed, spare)| (sums.0 + needed, sums.1 + spare))
    }

    pub(super) fn tool(&mut self, tool: &ToolName) -> &mut ToolLedger {
        self.tools.entry(tool.clone()).or_default()
    }
}
