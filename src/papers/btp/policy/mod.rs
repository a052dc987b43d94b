//! Keeps a task within its budget (BTP, algorithm 2). It decides which effects may start, how long
//! they may take, and how often each tool may still be used. It applies to every task that has a
//! budget plan, regardless of the strategy; a refusal is free and has a reason.
//!
//! It counts actual costs. A call starts only if the budget covers the credits spent, the call's
//! estimated cost and the estimated cost of the closing summary.

mod admit;
mod planning;
mod time;

use crate::domain::{
    InTask, KnownTool, Role, StrategySpec, TaskBudget, TaskId, TaskState, ToolName,
};

/// The input of a decision, which never changes it.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    pub state: InTask<'a>,
    /// The candidates of the current task.
    pub known: &'a [KnownTool],
    /// Credits for the time that running calls may still take, if seconds cost any.
    pub allotted: f64,
}

impl<'a> Policy<'a> {
    /// The current task and its ledger, if its budget is enforced.
    pub fn budgeted(&self) -> Option<(&'a TaskState, &'a TaskBudget)> {
        let task = self.state.current_task()?;
        task.budget.plan.is_some().then_some((task, &task.budget))
    }

    /// Whether this task has candidates for a plan.
    pub fn has_candidates(&self, task: TaskId) -> bool {
        self.spec(task).is_some_and(|spec| spec.calls_tools)
    }

    fn spec(&self, task: TaskId) -> Option<&'static StrategySpec> {
        Some(self.state.task(task)?.strategy?.base.spec())
    }

    /// The declaration of the current task's loop; between tasks, that of the next loop.
    fn spec_at_work(&self) -> &'static StrategySpec {
        let spec = self.state.current_task().and_then(|task| self.spec(task.id));
        spec.unwrap_or_else(|| self.state.strategy.base.spec())
    }

    /// Whether the agent is offered this tool, or was since its last use of any tool.
    pub fn had(&self, tool: &ToolName) -> bool {
        let uses = self.budgeted().map(|(_, budget)| budget.uses());
        let known = self.known.iter().find(|known| known.tool == *tool);
        let declined = known.and_then(|known| known.declined);
        self.state.plan_allows(tool) || declined.is_some() && declined == uses
    }

    /// Credits for one use of a tool by the current agent.
    fn use_cost(&self, tool: &ToolName) -> f64 {
        self.state.use_cost(tool, self.spec_at_work().decides)
    }

    /// The credits that a model call of this role must leave.
    fn reserve_beside(&self, role: Role) -> f64 {
        match role {
            Role::Actor
            | Role::Judge
            | Role::Planner
            | Role::Classifier
            | Role::Programmer
            | Role::Attributor
            | Role::Prober => self.reserve(),
            // These are the last calls.
            Role::Solver | Role::Evaluator | Role::Reflector | Role::Grader => 0.0,
        }
    }

    /// The credits reserved for the closing summary until it starts.
    fn reserve(&self) -> f64 {
        let sums_up = self.spec_at_work().closes;
        match self.budgeted() {
            Some((_, budget)) if !budget.closing => {
                self.state.model_call_cost(sums_up) + self.least_time()
            }
            Some(_) | None => 0.0,
        }
    }

    /// The paper's c_s: model calls in addition to the uses of tools. Once there is a plan, its
    /// planner is paid for.
    fn beside_uses(&self, task: TaskId) -> f64 {
        let is_planned = self.state.task(task).is_some_and(|task| task.work.plan.is_some());
        let asked = self.spec(task).map_or(&[][..], |spec| spec.besides);
        let ahead = asked.iter().filter(|(role, _)| !(is_planned && *role == Role::Planner));
        ahead.map(|(role, times)| f64::from(*times) * self.state.model_call_cost(*role)).sum()
    }
}
