//! How long a task may wait where seconds cost credits (BTP, eq. 1): what is waited for ends, as a
//! failure that says so, before its time alone breaks the budget. Where seconds are free, or a task is
//! held to no plan, nothing here has an effect.

use super::Policy;
use crate::domain::{EffectId, ModelSpec, Request, Role, TaskId, ToolName, Usage, tokens};

/// What ends in time is charged a little later: so many seconds are kept back for that.
const LATE: f64 = 0.02;

/// Longer than anybody waits.
const ENDLESS: f64 = 1e9;

impl Policy<'_> {
    /// Credits of the least time that anything may take; 0 where time costs nothing.
    pub(super) fn least_time(&self) -> f64 {
        2.0 * LATE * self.state.rates.credits_per_second
    }

    /// Credits of the time that this call may take at most, from here on; `None` where money does not bound
    /// it. Of what is left besides the closing summary and what other calls may still take, each call that
    /// has not started yet gets the same.
    pub fn call_time(&self, call: EffectId) -> Option<f64> {
        self.is_time_bounded().then_some(())?;
        let waiting: Vec<&ToolName> = self
            .state
            .tool_calls_in_flight()
            .filter(|other| other.started.is_none() && other.id != call)
            .map(|other| &other.tool)
            .collect();
        let own: f64 = waiting
            .iter()
            .filter_map(|tool| self.state.tools.get(*tool))
            .map(|tool| self.state.rates.tool(tool.spec.cost))
            .sum();
        let free = (self.state.credits_left() - self.reserve() - own - self.allotted).max(0.0);
        Some(free / (1 + waiting.len()) as f64)
    }

    /// How many seconds a request of this role may take at most, with its answer paid for; `None` where
    /// money does not bound it.
    pub fn model_call_seconds(
        &self,
        role: Role,
        model: &ModelSpec,
        request: &Request,
    ) -> Option<f64> {
        self.is_time_bounded().then_some(())?;
        let free = self.state.credits_left() - self.reserve_beside(role);
        Some(self.seconds(free - self.most_of_answer(model, request)))
    }

    /// How many seconds the embedding model may take, so that the task can finish; `None` where seconds are
    /// free.
    pub fn embedding_seconds(&self, task: TaskId, model: &ModelSpec, text: &str) -> Option<f64> {
        (self.state.rates.credits_per_second > 0.0).then_some(())?;
        let free = self.state.credits_left() - self.beside_uses(task);
        Some(self.seconds(free - self.embedding_cost(model, text)))
    }

    /// The time that so many credits buy.
    pub fn seconds(&self, credits: f64) -> f64 {
        let seconds = (credits / self.state.rates.credits_per_second).clamp(0.0, ENDLESS);
        (seconds - LATE).max(0.0)
    }

    fn is_time_bounded(&self) -> bool {
        self.state.rates.credits_per_second > 0.0 && self.budgeted().is_some()
    }

    /// What an answer as long as it may be would cost, time aside.
    fn most_of_answer(&self, model: &ModelSpec, request: &Request) -> f64 {
        let longest = request.max_tokens.map_or(0, u64::from);
        let usage = Usage::estimate(tokens::count_request(request), longest);
        self.state.rates.model(model.price(&usage))
    }
}
