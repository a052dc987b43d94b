//! A plan under a budget, as an event tells it.

use serde::{Deserialize, Serialize};

use crate::domain::id::ToolName;

/// How often each tool may be used within what is left of a budget (BTP, section 2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetPlan {
    /// The budget of the whole task, in credits (the paper's B).
    pub budget: f64,
    /// What the task had cost when this was planned.
    pub spent: f64,
    /// Kept back for what comes beside the uses: finishing and the closing summary (the paper's c_s).
    pub reserve: f64,
    /// Every candidate, in the order in which ties are decided.
    pub tools: Vec<PlannedTool>,
    /// Expected value of all planned uses (BTP, eq. 5).
    pub value: f64,
    /// What all planned uses would cost.
    pub cost: f64,
    /// What more credits would buy, where anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marginal: Option<Marginal>,
}

/// One candidate of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTool {
    pub tool: ToolName,
    /// Credits for one use: the tool, a model request, and time (BTP, eq. 1).
    pub cost: f64,
    /// Expected value of one use (BTP, eq. 3).
    pub value: f64,
    /// At most so many uses from here on (BTP, eq. 4).
    pub limit: u32,
    /// So many are planned from here on.
    pub uses: u32,
    /// Past uses that the value was made of; 0: nobody has used it, and the value is an assumption.
    pub experience: u32,
    /// The user set the uses; the plan is made around them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set: bool,
    /// Why so many, in words.
    pub why: String,
}

/// What more budget would buy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// So many credits more are the fewest that change the plan for the better.
    pub credits: f64,
    /// So much more expected value they buy.
    pub value: f64,
    /// How many uses of each tool more, or fewer.
    pub changes: Vec<(ToolName, i64)>,
}

impl BudgetPlan {
    /// A plan without any tool.
    pub fn empty(budget: f64, spent: f64, reserve: f64) -> Self {
        Self { budget, spent, reserve, tools: Vec::new(), value: 0.0, cost: 0.0, marginal: None }
    }

    pub fn tool(&self, tool: &str) -> Option<&PlannedTool> {
        self.tools.iter().find(|planned| planned.tool.as_str() == tool)
    }

    /// What there was to plan with (the paper's R).
    pub fn free(&self) -> f64 {
        (self.budget - self.spent - self.reserve).max(0.0)
    }

    /// How many uses are planned in all.
    pub fn uses(&self) -> u64 {
        self.tools.iter().map(|planned| u64::from(planned.uses)).sum()
    }
}
