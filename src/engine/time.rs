//! How long a task may wait where seconds cost credits (BTP, eq. 1): what is waited for ends, as a
//! failure that says so, before its time alone breaks the budget. Where seconds are free, or a task is
//! held to no plan, nothing here has an effect.

use std::time::Duration;

use super::session::Session;
use crate::domain::{
    chat::{Request, Role, Usage},
    id::{EffectId, TaskId, ToolName},
    spec::ModelSpec,
    tokens,
};

/// What ends in time is charged a little later: so much time is kept back for that.
const LATE: Duration = Duration::from_millis(20);

/// Longer than anybody waits.
const ENDLESS: f64 = 1e9;

impl Session {
    /// Credits of the least time that anything may take; 0 where time costs nothing.
    pub fn least_time(&self) -> f64 {
        2.0 * LATE.as_secs_f64() * self.state.rates.credits_per_second
    }

    /// How long this call may run at most, from here on; `None` where money does not bound it. Of what
    /// is left besides the closing summary and what other calls may still take, each call that has not
    /// started yet gets the same.
    pub fn allot_time(&mut self, call: EffectId) -> Option<Duration> {
        self.is_time_bounded().then_some(())?;
        let waiting: Vec<&ToolName> = self
            .state
            .calls_in_flight()
            .filter(|other| other.started.is_none() && other.id != call)
            .map(|other| &other.tool)
            .collect();
        let spec_of = |tool: &ToolName| self.state.tools.get(tool).map(|tool| &tool.spec);
        let own: f64 = waiting
            .iter()
            .filter_map(|tool| spec_of(tool))
            .map(|spec| self.state.rates.tool(spec.cost))
            .sum();
        let taken: f64 = self.allotted.values().sum();
        let free = (self.state.credits_left() - self.reserve() - own - taken).max(0.0);
        let credits = free / (1 + waiting.len()) as f64;
        self.allotted.insert(call, credits);
        Some(self.time_for(credits))
    }

    /// How long a request of this role may take at most, with its answer paid for; `None` where money
    /// does not bound it.
    pub fn ask_time(&self, role: Role, model: &ModelSpec, request: &Request) -> Option<Duration> {
        self.is_time_bounded().then_some(())?;
        let free = self.state.credits_left() - self.reserve_beside(role);
        Some(self.time_for(free - self.most_of_answer(model, request)))
    }

    /// How long the embedding model may take, which costs this besides, and must leave the task enough
    /// to finish; `None` where seconds are free.
    pub fn reading_time(&self, task: TaskId, cost: f64) -> Option<Duration> {
        (self.state.rates.credits_per_second > 0.0).then_some(())?;
        Some(self.time_for(self.state.credits_left() - self.beside_uses(task) - cost))
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

    /// The time that so many credits buy.
    fn time_for(&self, credits: f64) -> Duration {
        let seconds = (credits / self.state.rates.credits_per_second).clamp(0.0, ENDLESS);
        Duration::from_secs_f64(seconds).saturating_sub(LATE)
    }
}
