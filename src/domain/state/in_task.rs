//! The state, as one task sees it: what it may use, and what its budget still allows.

use std::ops::Deref;
use std::sync::Arc;

use super::{State, TaskState, ToolState, budget::CENT};
use crate::chat::Role;
use crate::id::{TaskId, ToolName};
use crate::knob::Knob;
use crate::strategy::Decides;

/// The state as the agent of one task sees it; between tasks, as the next one will.
#[derive(Clone, Copy, Debug)]
pub struct InTask<'a> {
    state: &'a State,
    task: Option<&'a TaskState>,
}

impl Deref for InTask<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state
    }
}

impl State {
    /// The state as this task at work sees it; for a task that is not at work, the state as between tasks.
    pub fn in_task(&self, task: TaskId) -> InTask<'_> {
        let is_at_work = self.at_work.contains(task);
        InTask { state: self, task: self.task(task).filter(|_| is_at_work) }
    }

    /// The state as the task at work of the run that was last active sees it.
    pub fn in_shown(&self) -> InTask<'_> {
        InTask { state: self, task: self.task_at_work() }
    }
}

impl<'a> InTask<'a> {
    /// The state itself.
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The task from whose view the state is seen; `None` between tasks.
    pub fn current_task(&self) -> Option<&'a TaskState> {
        self.task
    }

    /// The tools that may currently be offered, in order.
    pub fn offered_tools(&self) -> impl Iterator<Item = &'a ToolState> + use<'a> {
        let own = self.own_tools();
        self.state.tools.values().filter(move |tool| may_offer(own, tool))
    }

    /// Whether the tool exists and may be on a menu of the task.
    pub fn offers(&self, tool: &str) -> bool {
        self.state.tools.get(tool).is_some_and(|tool| may_offer(self.own_tools(), tool))
    }

    /// The tools that earlier tasks have defined and that this one may define as well, in their order.
    pub fn kept_tools(&self) -> Arc<[ToolName]> {
        let all = &self.state.defined;
        match all.iter().all(|tool| self.offers(tool.as_str())) {
            true => Arc::clone(all),
            false => all.iter().filter(|tool| self.offers(tool.as_str())).cloned().collect(),
        }
    }

    /// The only tools that the task may use; empty: all.
    fn own_tools(&self) -> &'a [ToolName] {
        self.task.map_or(&[][..], |task| &task.task.tools)
    }

    /// Whether a plan constrains the task.
    pub fn has_plan(&self) -> bool {
        self.task.is_some_and(|task| task.budget.plan.is_some())
    }

    /// Whether the task's plan, if any, lets this tool be offered.
    pub fn plan_allows(&self, tool: &ToolName) -> bool {
        self.offers(tool.as_str()) && self.task.is_none_or(|task| task.budget.allows(tool.as_str()))
    }

    /// The rest of the task's budget, in credits; never below 0.
    pub fn credits_left(&self) -> f64 {
        let spent = self.task.map_or(0.0, TaskState::credits);
        (self.state.knobs.get(Knob::Budget) - spent).max(0.0)
    }

    /// Whether replanning may add tools to the task's plan, and the budget pays for one of them.
    pub fn may_widen(&self) -> bool {
        let Some(budget) = self.task.map(|task| &task.budget) else { return false };
        let left = self.credits_left() - self.state.model_call_cost(Role::Actor);
        self.state.knobs.is_on(Knob::Widen)
            && budget.plan.is_some()
            && !budget.closing
            && self.offered_tools().map(|tool| &tool.spec.name).any(|tool| {
                !budget.blacklist.contains_key(tool)
                    && self.state.use_cost(tool, Decides::OnEachUse) <= left + CENT
            })
    }
}

fn may_offer(own: &[ToolName], tool: &ToolState) -> bool {
    tool.is_offered() && (own.is_empty() || own.contains(&tool.spec.name))
}
