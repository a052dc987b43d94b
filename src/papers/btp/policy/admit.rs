//! Admission of effects and of the user's settings: each refusal has a reason.

use std::sync::Arc;

use super::Policy;
use crate::domain::{
    Blacklist, ModelSpec, Refusal, Request, Role, TaskId, ToolName, Usage, state::budget::CENT,
    tokens,
};

/// Answers of this length need no bound, since none reaches it.
const UNBOUNDED: u32 = 32_768;

impl Policy<'_> {
    pub fn not_blacklisted(&self, tool: &ToolName) -> Result<(), (Refusal, String)> {
        let Some((_, budget)) = self.budgeted() else { return Ok(()) };
        if budget.blacklist.contains_key(tool) {
            let why = format!("{tool} is forbidden: its result did not help with this task");
            return Err((Refusal::Blacklisted, why));
        }
        Ok(())
    }

    /// Whether the plan has a use of this tool left.
    pub fn has_use_left(&self, tool: &ToolName) -> Result<(), (Refusal, String)> {
        let Some((_, budget)) = self.budgeted() else { return Ok(()) };
        if budget.left(tool.as_str()) == Some(0) {
            let why = format!("{tool} is forbidden: the budget has no further use of it");
            return Err((Refusal::NoUseLeft, why));
        }
        Ok(())
    }

    /// Whether the rest of the budget pays for a use of this tool.
    pub fn affords_call(&self, tool: &ToolName) -> Result<(), (Refusal, String)> {
        if self.budgeted().is_none() {
            return Ok(());
        }
        let (cost, left) = (self.use_cost(tool), self.state.credits_left() - self.allotted);
        if cost + self.reserve() + self.least_time() > left + CENT {
            let why = format!(
                "{tool} costs about {cost:.2} credits, and {left:.2} are left; use what you know"
            );
            return Err((Refusal::TooDear, why));
        }
        Ok(())
    }

    /// Whether the rest of the budget pays for a model call of this role.
    pub fn affords_model_call(&self, role: Role) -> Result<(), String> {
        if self.budgeted().is_none() || !role.is_of_agent() {
            return Ok(());
        }
        let reserve = self.reserve_beside(role);
        let (cost, left) = (self.state.model_call_cost(role), self.state.credits_left());
        if cost + reserve + self.least_time() > left + CENT {
            return Err(format!(
                "calling the {role} costs about {cost:.2} credits, {reserve:.2} are reserved for the \
                 closing summary, and {left:.2} are left"
            ));
        }
        Ok(())
    }

    /// Whether the budget pays for an embedding and for finishing afterwards. An unknown price
    /// counts as that of any request. Unlike other calls it comes before the budget plan, too.
    pub fn affords_embedding(
        &self,
        task: TaskId,
        model: &ModelSpec,
        text: &str,
    ) -> Result<(), String> {
        let cost = self.embedding_cost(model, text);
        if !self.has_budget(task) || cost + self.least_time() <= 0.0 {
            return Ok(());
        }
        let (reserve, left) = (self.beside_uses(task), self.state.credits_left());
        if cost + reserve + self.least_time() > left + CENT {
            return Err(format!(
                "calling the embedding model costs about {cost:.2} credits, {reserve:.2} are reserved to \
                 finish, and {left:.2} are left"
            ));
        }
        Ok(())
    }

    /// Whether this task has a budget plan, or will have one.
    pub(super) fn has_budget(&self, task: TaskId) -> bool {
        self.state.task(task).and_then(|task| task.strategy).is_some_and(|strategy| strategy.btp)
    }

    pub(super) fn embedding_cost(&self, model: &ModelSpec, text: &str) -> f64 {
        let usage = Usage::estimate(tokens::count(text), 0);
        self.state.rates.model(model.price(&usage))
    }

    /// The request with a limit on its answer's length, from the rest of the budget.
    pub fn bounded(&self, role: Role, model: &ModelSpec, request: &Arc<Request>) -> Arc<Request> {
        let most = self.affordable_tokens(role, model, request);
        let Some(most) = most.filter(|most| *most < UNBOUNDED) else { return Arc::clone(request) };
        let max_tokens = Some(request.max_tokens.map_or(most, |asked| asked.min(most)));
        Arc::new(Request { max_tokens, ..(**request).clone() })
    }

    /// The longest affordable answer, in tokens; `None` if nothing bounds it.
    fn affordable_tokens(&self, role: Role, model: &ModelSpec, request: &Request) -> Option<u32> {
        self.budgeted().filter(|_| role.is_of_agent())?;
        let credits = |tokens_in, tokens_out| {
            let dollars = model.price(&Usage::estimate(tokens_in, tokens_out))?;
            Some(dollars * self.state.rates.credits_per_dollar)
        };
        let (prompt, token) = (credits(tokens::count_request(request), 0)?, credits(0, 1)?);
        if token <= 0.0 {
            return None;
        }
        let left = self.state.credits_left() - self.reserve_beside(role) - prompt;
        // If time has a price too, half of the rest is reserved for it.
        let left = if self.least_time() > 0.0 { left / 2.0 } else { left };
        // Never 0: the average cost already decided that the call may start.
        Some((left / token).clamp(1.0, f64::from(UNBOUNDED)) as u32)
    }

    /// The task in which a tool is banned because one of its results did not help; `None` if it is
    /// not banned.
    pub fn banned_from(&self, tool: &ToolName) -> Option<TaskId> {
        let (task, budget) = self.budgeted()?;
        let is_banned = match self.state.knobs.choice() {
            Blacklist::Off => false,
            Blacklist::Protected => !budget.helped.contains(tool),
            Blacklist::Strict => true,
        };
        (is_banned && !budget.blacklist.contains_key(tool)).then_some(task.id)
    }

    /// Checks that the user may set the remaining uses of a tool; returns the task and the previous
    /// number.
    pub fn may_set(&self, tool: &ToolName, uses: u32) -> Result<(TaskId, u32), String> {
        let Some((task, budget)) = self.budgeted() else {
            return Err("the current task has no budget plan; +btp makes one".to_owned());
        };
        if !self.state.tools.contains_key(tool) {
            return Err(format!("there is no tool {tool}"));
        }
        if budget.blacklist.contains_key(tool) && uses > 0 {
            return Err(format!("{tool} is blacklisted for this task"));
        }
        let was = budget.left(tool.as_str()).unwrap_or(0);
        if was == uses && budget.set.contains_key(tool) {
            return Err(format!("uses left of {tool}: already {uses}"));
        }
        Ok((task.id, was))
    }
}
