//! The station that keeps a task within its budget (BTP, algorithm 2). It refuses free of charge and
//! says why; it does so for tasks that have a plan, whatever their strategy.
//!
//! The guard is on real money: a call starts only if what was spent, what it is estimated to cost and
//! what the closing summary is estimated to cost fit the budget together.

use std::sync::Arc;

use super::session::Session;
use crate::domain::{
    chat::{Request, Role, Usage},
    event::{BudgetEvent, By, Refusal},
    id::{EffectId, ToolName},
    knob::Blacklist,
    spec::ModelSpec,
    state::{TaskBudget, TaskState, budget::CENT},
    tokens,
};

/// An answer that may be as long as this need not be bounded: none gets there.
const UNBOUNDED: u32 = 32_768;

impl Session {
    /// The task at work and its ledger, if its budget is enforced.
    pub fn budgeted(&self) -> Option<(&TaskState, &TaskBudget)> {
        let task = self.state.current_task()?;
        task.budget.plan.is_some().then_some((task, &task.budget))
    }

    pub fn not_blacklisted(&self, tool: &ToolName) -> Result<(), (Refusal, String)> {
        let Some((_, budget)) = self.budgeted() else { return Ok(()) };
        match budget.blacklist.get(tool) {
            Some(_) => Err((
                Refusal::Blacklisted,
                format!("{tool} is forbidden: its result did not help with this task"),
            )),
            None => Ok(()),
        }
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

    /// Whether what is left pays for a use of this tool.
    pub fn affordable(&self, tool: &ToolName) -> Result<(), (Refusal, String)> {
        if self.budgeted().is_none() {
            return Ok(());
        }
        let running: f64 = self.allotted.values().sum();
        let (cost, left) =
            (self.state.use_cost(tool, self.decides()), self.state.credits_left() - running);
        if cost + self.reserve() + self.least_time() > left + CENT {
            let why = format!(
                "{tool} costs about {cost:.2} credits, and {left:.2} are left; use what you know"
            );
            return Err((Refusal::TooDear, why));
        }
        Ok(())
    }

    /// Whether what is left pays for an ask of this role.
    pub fn affords_ask(&self, role: Role) -> Result<(), String> {
        if self.budgeted().is_none() {
            return Ok(());
        }
        let reserve = self.reserve_beside(role);
        let (cost, left) = (self.state.ask_cost(role), self.state.credits_left());
        if cost + reserve + self.least_time() > left + CENT {
            return Err(format!(
                "asking the {role} costs about {cost:.2} credits, {reserve:.2} are kept for the \
                 closing summary, and {left:.2} are left"
            ));
        }
        Ok(())
    }

    /// The request, with its answer bounded in length by what is left to pay for it.
    pub fn bounded(&self, role: Role, model: &ModelSpec, request: &Arc<Request>) -> Arc<Request> {
        let most = self.affordable_tokens(role, model, request);
        let asked = request.max_tokens.unwrap_or(u32::MAX);
        match most.filter(|most| *most < asked && *most < UNBOUNDED) {
            Some(most) => Arc::new(Request { max_tokens: Some(most), ..(**request).clone() }),
            None => Arc::clone(request),
        }
    }

    /// How long an answer may be before it costs more than is left; `None` where nothing says so.
    fn affordable_tokens(&self, role: Role, model: &ModelSpec, request: &Request) -> Option<u32> {
        self.budgeted()?;
        let credits = |tokens_in, tokens_out| {
            let dollars = model.price(&Usage::estimate(tokens_in, tokens_out))?;
            Some(dollars * self.state.rates.credits_per_dollar)
        };
        let (prompt, token) = (credits(tokens::count_request(request), 0)?, credits(0, 1)?);
        if token <= 0.0 {
            return None;
        }
        let left = self.state.credits_left() - self.reserve_beside(role) - prompt;
        // Where its time costs something too, half of what is left is for that.
        let left = if self.least_time() > 0.0 { left / 2.0 } else { left };
        // Never 0: whether it may be asked at all was decided by what such an ask costs on average.
        Some((left / token).clamp(1.0, f64::from(UNBOUNDED)) as u32)
    }

    /// What an ask of this role must leave.
    pub fn reserve_beside(&self, role: Role) -> f64 {
        match role {
            Role::Actor | Role::Judge | Role::Planner | Role::Classifier => self.reserve(),
            // These come when all is done.
            Role::Solver | Role::Evaluator | Role::Reflector => 0.0,
        }
    }

    /// What is kept back for the closing summary, until it is its turn.
    pub fn reserve(&self) -> f64 {
        match self.budgeted() {
            Some((_, budget)) if !budget.closing => {
                self.state.ask_cost(self.sums_up()) + self.least_time()
            }
            Some(_) | None => 0.0,
        }
    }

    /// Says whether a result helped; what did not may be banned from the rest of the task.
    pub fn judged(
        &mut self,
        call: EffectId,
        verdict: Option<EffectId>,
        helpful: bool,
        why: String,
    ) {
        self.emit(BudgetEvent::Judged { call, verdict, helpful, why: why.clone() });
        if helpful {
            return;
        }
        let Some(tool) = self.state.tool_call(call).map(|call| call.tool.clone()) else { return };
        let Some((task, budget)) = self.budgeted() else { return };
        let banned = match self.state.knobs.choice() {
            Blacklist::Off => false,
            Blacklist::Protected => !budget.helped.contains(&tool),
            Blacklist::Strict => true,
        };
        if banned && !budget.blacklist.contains_key(&tool) {
            let (task, tool) = (task.id, tool.clone());
            self.emit(BudgetEvent::ToolBlacklisted { task, tool, why });
        }
        self.replan_quietly(&format!("{tool} did not help"));
    }

    /// The user says how often a tool may still be used.
    pub fn set_uses(&mut self, tool: ToolName, uses: u32, by: By) -> Result<(), String> {
        let Some((task, budget)) = self.budgeted() else {
            return Err("no task is at work that has a plan; +btp makes one".to_owned());
        };
        if !self.state.tools.contains_key(&tool) {
            return Err(format!("there is no tool {tool}"));
        }
        if budget.blacklist.contains_key(&tool) && uses > 0 {
            return Err(format!("{tool} is blacklisted for this task"));
        }
        let was = budget.left(tool.as_str()).unwrap_or(0);
        if was == uses && budget.set.contains_key(&tool) {
            return Err(format!("{tool} has {uses} uses left already"));
        }
        let task = task.id;
        self.intervene(BudgetEvent::UsesSet { task, tool, uses, was, by });
        Ok(())
    }

    /// The user moves how often a tool may still be used.
    pub fn add_uses(&mut self, tool: ToolName, more: i32, by: By) -> Result<(), String> {
        let budget = self.budgeted().map(|(_, budget)| budget);
        let allowed = budget.map_or(0, |budget| budget.allowed(tool.as_str()));
        let uses = allowed.saturating_add_signed(more);
        if budget.is_some() && uses == allowed {
            return Err(format!("{tool} has {uses} uses left already"));
        }
        self.set_uses(tool, uses, by)
    }
}
