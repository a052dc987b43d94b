//! How long a task may wait if seconds cost credits (BTP, eq. 1): a wait ends with an over-budget
//! failure before its time alone exceeds the budget. If seconds are free, or a task has no plan,
//! this has no effect.

use super::Policy;
use crate::domain::{EffectId, ModelSpec, Request, Role, TaskId, ToolName, Usage, tokens};

/// Safety margin in seconds: a call is charged slightly after it ends.
const LATE: f64 = 0.02;

/// Seconds that are longer than any wait.
const ENDLESS: f64 = 1e9;

impl Policy<'_> {
    /// Credits for the least time of any effect; 0 if time costs nothing.
    pub(super) fn least_time(&self) -> f64 {
        2.0 * LATE * self.state.rates.credits_per_second
    }

    /// Credits for the longest time that this call may take, from here on; `None` if the budget
    /// does not bound it. The rest of the budget, less the closing summary and the allotments of
    /// other calls, is divided equally among the calls that have not started yet.
    pub fn call_time(&self, call: EffectId) -> Option<f64> {
        self.is_time_bounded().then_some(())?;
        let run = self.state.current_task()?.task.run;
        let waiting: Vec<&ToolName> = self
            .state
            .tool_calls_in_flight()
            .filter(|other| self.state.run_of(other.task) == run)
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

    /// The most seconds that a request of this role may take, if its answer is also paid for; `None` if the budget does
    /// not bound it.
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

    /// The most seconds that the embedding model may take, so that the task can finish; `None` if
    /// seconds are free, or the task has no budget plan.
    pub fn embedding_seconds(&self, task: TaskId, model: &ModelSpec, text: &str) -> Option<f64> {
        (self.state.rates.credits_per_second > 0.0 && self.has_budget(task)).then_some(())?;
        let free = self.state.credits_left() - self.beside_uses(task);
        Some(self.seconds(free - self.embedding_cost(model, text)))
    }

    /// The time that this many credits buy.
    pub fn seconds(&self, credits: f64) -> f64 {
        let seconds = (credits / self.state.rates.credits_per_second).clamp(0.0, ENDLESS);
        (seconds - LATE).max(0.0)
    }

    fn is_time_bounded(&self) -> bool {
        self.state.rates.credits_per_second > 0.0 && self.budgeted().is_some()
    }

    /// The cost of an answer of the greatest allowed length, without time.
    fn most_of_answer(&self, model: &ModelSpec, request: &Request) -> f64 {
        let longest = request.max_tokens.map_or(0, u64::from);
        let usage = Usage::estimate(tokens::count_request(request), longest);
        self.state.rates.model(model.price(&usage))
    }
}
