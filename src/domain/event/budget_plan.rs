//! A plan under a budget, as an event records it.

use serde::{Deserialize, Serialize};

use super::known_tool::KnownTool;
use crate::finite::Finite;
use crate::id::ToolName;

/// How often each tool may be used within the rest of a budget (BTP, section 2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetPlan {
    /// The budget of the whole task, in credits (the paper's B).
    pub budget: Finite,
    /// Credits spent on the task before this plan.
    pub spent: Finite,
    /// Credits reserved for calls in addition to the uses: finishing and the closing summary (the
    /// paper's c_s).
    pub reserve: Finite,
    /// Every candidate, in tie-breaking order.
    pub tools: Vec<PlannedTool>,
    /// Data that the plan was computed from, in the order of `tools`; older journals lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownTool>,
    /// Expected value of all planned uses (BTP, eq. 5).
    pub value: Finite,
    /// The cost of all planned uses.
    pub cost: Finite,
    /// At most this part of the best plan's value is missing, 0 to 1; `None`: no plan is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Finite>,
    /// Gain from more credits, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marginal: Option<Marginal>,
}

/// Candidate of a budget plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTool {
    pub tool: ToolName,
    /// Credits for one use: the tool, a model request, and time (BTP, eq. 1).
    pub cost: Finite,
    /// Expected value of one use (BTP, eq. 3).
    pub value: Finite,
    /// Most uses from here on (BTP, eq. 4).
    pub limit: u32,
    /// Planned uses from here on.
    pub uses: u32,
    /// Past uses behind the value; 0: the tool was never used, and the value is an assumption.
    pub experience: u32,
    /// The user set the uses; the plan is made around them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set: bool,
    /// The reason for this number of uses, in words.
    pub why: String,
}

impl PlannedTool {
    /// The planned uses within the tool's limit: what the plan needs. Further ones are spare: nothing else was worth the
    /// credits that are left.
    pub fn needed(&self) -> u32 {
        if self.set { self.uses } else { self.uses.min(self.limit) }
    }
}

/// Gain from a larger budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// The fewest additional credits that improve the plan.
    pub credits: Finite,
    /// The expected value that they add.
    pub value: Finite,
    /// Change of the number of uses per tool.
    pub changes: Vec<(ToolName, i64)>,
}

impl BudgetPlan {
    /// The plan's figures alone.
    pub fn without_tools(&self) -> Self {
        Self { tools: Vec::new(), known: Vec::new(), ..self.clone() }
    }

    /// A plan without any tool.
    pub fn empty(budget: f64, spent: f64, reserve: f64) -> Self {
        let (tools, known) = (Vec::new(), Vec::new());
        Self {
            budget: budget.into(),
            spent: spent.into(),
            reserve: reserve.into(),
            tools,
            known,
            value: 0.0.into(),
            cost: 0.0.into(),
            gap: None,
            marginal: None,
        }
    }

    pub fn tool(&self, tool: &str) -> Option<&PlannedTool> {
        self.tools.iter().find(|planned| planned.tool.as_str() == tool)
    }

    /// Credits available for planning (the paper's R).
    pub fn free(&self) -> f64 {
        (self.budget - self.spent - self.reserve).max(0.0)
    }

    /// The number of uses that may be made, spare ones included.
    pub fn uses(&self) -> u64 {
        self.tools.iter().map(|planned| u64::from(planned.uses)).sum()
    }

    /// The number of uses that the plan needs, and their cost in credits.
    pub fn needed(&self) -> (u64, f64) {
        let uses = self.tools.iter().map(|planned| u64::from(planned.needed())).sum();
        // The sum of all uses is rounded as the plan is.
        (uses, if uses == self.uses() { *self.cost } else { (self.cost - self.spare().1).max(0.0) })
    }

    /// The number of uses beyond those that the plan needs (the knob `spread`), and their cost in credits.
    pub fn spare(&self) -> (u64, f64) {
        let spare = |planned: &PlannedTool| planned.uses - planned.needed();
        let uses = self.tools.iter().map(|planned| u64::from(spare(planned))).sum();
        let costs = self.tools.iter().map(|planned| planned.cost * f64::from(spare(planned)));
        (uses, costs.sum())
    }
}
