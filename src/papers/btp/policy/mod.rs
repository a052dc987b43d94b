//! What keeps a task within its budget (BTP, algorithm 2). It decides what may start, how long it may take,
//! and how often each tool may be used from here on. It applies to every task that has a budget plan,
//! whatever its strategy; a refusal costs nothing and says why.
//!
//! It counts real money. A call starts only if the budget covers what was spent, the call's estimated cost
//! and the estimated cost of the closing summary.

mod admit;
mod planning;
mod time;

use super::candidates::Past;
use crate::domain::{Role, State, StrategySpec, TaskBudget, TaskId, TaskState, ToolName};

/// What a decision is made of. A decision changes none of it.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    pub state: &'a State,
    /// The candidates of the task at work.
    pub known: &'a [KnownTool],
    /// Credits of the time that running calls may still take, where seconds cost any.
    pub allotted: f64,
}

/// What is known of a tool for the task at work, for as long as it is.
#[derive(Debug)]
pub struct KnownTool {
    pub tool: ToolName,
    /// How it fared in past queries.
    pub past: Vec<Past>,
    /// Uses beyond what is expected to make sense, since it has helped and is lacking.
    pub more: u32,
    /// The agent seems to mean this when it says what it lacks; it had used it so often then.
    pub lacked: Option<u32>,
}

impl KnownTool {
    /// The agent says that it lacks these. One that has helped with this task and is used up makes sense
    /// once more.
    pub fn add_use(&mut self, budget: &TaskBudget, meant: &[ToolName]) {
        let is_used_up = budget.left(self.tool.as_str()) == Some(0);
        let has_helped = budget.helped.contains(&self.tool);
        self.more += u32::from(is_used_up && has_helped && meant.contains(&self.tool));
    }

    /// Notes whether the agent means this, and not what else it meant before.
    pub fn note_lack(&mut self, budget: &TaskBudget, meant: &[ToolName]) {
        let used = budget.tools.get(&self.tool).map_or(0, |tool| tool.uses);
        self.lacked = meant.contains(&self.tool).then_some(used);
    }
}

impl<'a> Policy<'a> {
    /// The task at work and its ledger, if its budget is enforced.
    pub fn budgeted(&self) -> Option<(&'a TaskState, &'a TaskBudget)> {
        let task = self.state.current_task()?;
        task.budget.plan.is_some().then_some((task, &task.budget))
    }

    /// Whether there are tools that this task could be planned with.
    pub fn has_candidates(&self, task: TaskId) -> bool {
        self.spec(task).is_some_and(|spec| spec.calls_tools)
    }

    fn spec(&self, task: TaskId) -> Option<&'static StrategySpec> {
        Some(self.state.task(task)?.strategy?.base.spec())
    }

    /// What the loop of the task at work is declared to be; between tasks, that of the next.
    fn spec_at_work(&self) -> &'static StrategySpec {
        let spec = self.state.at_work.and_then(|task| self.spec(task));
        spec.unwrap_or_else(|| self.state.strategy.base.spec())
    }

    /// Credits for one use of a tool by the agent at work.
    fn use_cost(&self, tool: &ToolName) -> f64 {
        self.state.use_cost(tool, self.spec_at_work().decides)
    }

    /// What a model call of this role must leave.
    fn reserve_beside(&self, role: Role) -> f64 {
        match role {
            Role::Actor | Role::Judge | Role::Planner | Role::Classifier => self.reserve(),
            // These come when all is done.
            Role::Solver | Role::Evaluator | Role::Reflector => 0.0,
        }
    }

    /// What is kept back for the closing summary, until it is its turn.
    fn reserve(&self) -> f64 {
        let sums_up = self.spec_at_work().closes;
        match self.budgeted() {
            Some((_, budget)) if !budget.closing => {
                self.state.model_call_cost(sums_up) + self.least_time()
            }
            Some(_) | None => 0.0,
        }
    }

    /// The paper's c_s: what is asked besides the uses of tools. Once there is a plan, its planner is paid
    /// for.
    fn beside_uses(&self, task: TaskId) -> f64 {
        let is_planned = self.state.task(task).is_some_and(|task| task.work.plan.is_some());
        let asked = self.spec(task).map_or(&[][..], |spec| spec.besides);
        let ahead = asked.iter().filter(|(role, _)| !(is_planned && *role == Role::Planner));
        ahead.map(|(role, times)| f64::from(*times) * self.state.model_call_cost(*role)).sum()
    }
}
