//! Models, the roles bound to them, and their usage.

use std::collections::{BTreeMap, VecDeque};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::chat::{Role, Usage};
use crate::event::{Bill, Reach};
use crate::finite::Finite;
use crate::{id::ModelName, spec::ModelSpec};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Models {
    pub known: IndexMap<ModelName, ModelState>,
    pub roles: BTreeMap<Role, RoleUse>,
    /// The usage of all embeddings, which belong to no role.
    pub embeddings: Tally,
}

/// A configured model and its usage over all roles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelState {
    pub spec: ModelSpec,
    pub tally: Tally,
    pub reachable: Reachable,
}

impl ModelState {
    fn new(spec: &ModelSpec) -> Self {
        let (tally, reachable) = (Tally::default(), Reachable::NotTried);
        Self { spec: spec.clone(), tally, reachable }
    }
}

/// Whether a model's endpoint answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reachable {
    #[default]
    NotTried,
    /// Probing since this time, in microseconds since the session was opened.
    Trying {
        since: u64,
    },
    Tried {
        how: Reach,
        text: String,
    },
}

/// A role, its bound model, and its usage over all models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleUse {
    pub model: ModelName,
    pub tally: Tally,
}

/// The usage of one model call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallUsage {
    pub usage: Usage,
    pub dollars: Option<Finite>,
    pub credits: f64,
    pub micros: u64,
}

/// The usage of a failed model call.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedUsage {
    pub billed: Option<Bill>,
    pub credits: f64,
    pub micros: u64,
}

/// Sums over model calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    #[serde(rename = "asks")]
    pub calls: u32,
    pub failed: u32,
    /// Repeated requests for the same answer.
    pub retries: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Part of `tokens_in` that endpoints had in their cache.
    pub cached: u64,
    /// Whether any count was estimated, not reported by the endpoint.
    pub estimated: bool,
    pub dollars: Finite,
    /// Model calls without a known price; if above 0, `dollars` is a lower bound.
    pub unpriced: u32,
    /// Whether any of `dollars` is by list prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Credits that the model calls cost against budgets, including those without a known price.
    pub credits: Finite,
    /// Duration of the last model call, and of all of them, in microseconds.
    pub last_micros: u64,
    pub micros: u64,
    pub latency: Latency,
}

/// Durations of the latest answers: a slow day ten thousand calls ago says nothing about now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// At most [`Latency::MOST`], in microseconds, the oldest first.
    latest: VecDeque<u64>,
}

impl Latency {
    /// The number of answers considered.
    pub const MOST: usize = 100;

    fn add(&mut self, micros: u64) {
        if self.latest.len() == Self::MOST {
            self.latest.pop_front();
        }
        self.latest.push_back(micros);
    }

    /// In microseconds; `None` before the first answer. A frame asks for it, not every answer.
    pub fn median(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.latest.iter().copied().collect();
        sorted.sort_unstable();
        let upper = sorted.len() / 2;
        match sorted.len() % 2 {
            _ if sorted.is_empty() => None,
            0 => Some(sorted[upper - 1].midpoint(sorted[upper])),
            _ => Some(sorted[upper]),
        }
    }
}

impl Tally {
    /// In and out together; saturates if endpoints report more.
    pub fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// The average cost of one answer in credits and microseconds, including failed attempts;
    /// `None` before the first.
    pub fn average(&self) -> Option<(f64, u64)> {
        let ended = self.calls.checked_sub(self.failed).filter(|ended| *ended > 0)?;
        Some((self.credits / f64::from(ended), self.micros / u64::from(ended)))
    }

    /// The average charge of a call whose price is known, in US dollars; `None` before the first.
    pub fn dollars_per_call(&self) -> Option<f64> {
        (self.priced() > 0).then(|| self.dollars / f64::from(self.priced()))
    }

    fn priced(&self) -> u32 {
        self.calls.saturating_sub(self.failed).saturating_sub(self.unpriced)
    }

    fn add(&mut self, spent: CallUsage) {
        let CallUsage { usage, dollars, credits, micros } = spent;
        self.calls += 1;
        self.credits += credits;
        self.last_micros = micros;
        self.micros = self.micros.saturating_add(micros);
        self.latency.add(micros);
        self.bill(usage, dollars);
    }

    fn fail(&mut self, vain: FailedUsage) {
        self.calls += 1;
        self.failed += 1;
        self.credits += vain.credits;
        self.micros = self.micros.saturating_add(vain.micros);
        if let Some(Bill { usage, dollars }) = vain.billed {
            self.bill(usage, dollars);
        }
    }

    fn bill(&mut self, usage: Usage, dollars: Option<Finite>) {
        self.tokens_in = self.tokens_in.saturating_add(usage.tokens_in);
        self.cached = self.cached.saturating_add(usage.cached);
        self.tokens_out = self.tokens_out.saturating_add(usage.tokens_out);
        self.estimated |= usage.estimated;
        self.dollars += dollars.unwrap_or_default();
        self.unpriced += u32::from(dollars.is_none());
    }
}

impl Models {
    pub(super) fn new(models: &[ModelSpec], roles: &BTreeMap<Role, ModelName>) -> Self {
        let known = models.iter().map(|spec| (spec.name.clone(), ModelState::new(spec))).collect();
        let roles = roles
            .iter()
            .map(|(role, model)| (*role, RoleUse { model: model.clone(), tally: Tally::default() }))
            .collect();
        Self { known, roles, embeddings: Tally::default() }
    }

    /// The model bound to this role, and its usage.
    pub fn of(&self, role: Role) -> Option<&ModelState> {
        self.known.get(&self.roles.get(&role)?.model)
    }

    /// The average charge of a call of any model but the simulated one, in US dollars; `None` before the first.
    pub fn dollars_per_call(&self) -> Option<f64> {
        let real = self.known.values().filter(|model| !model.spec.simulated);
        let (dollars, calls) = real.fold((0.0, 0), |(dollars, calls), ModelState { tally, .. }| {
            (dollars + tally.dollars, tally.priced().saturating_add(calls))
        });
        (calls > 0).then(|| dollars / f64::from(calls))
    }

    /// Whether any role is bound to the simulated model. Watched agents bind no roles: they call any known model.
    pub fn any_simulated(&self) -> bool {
        if self.roles.is_empty() {
            return self.known.values().any(|model| model.spec.simulated);
        }
        self.roles.keys().any(|role| self.of(*role).is_some_and(|model| model.spec.simulated))
    }

    /// Whether list prices of the model say what this costs.
    pub(super) fn lists(&self, model: &ModelName, usage: &Usage) -> bool {
        usage.dollars.is_none() && self.known.get(model).is_some_and(|known| known.spec.listed)
    }

    /// Adds a model that joined later. A model with a known name keeps its usage.
    pub(super) fn add(&mut self, spec: &ModelSpec) {
        let known = self.known.entry(spec.name.clone()).or_insert_with(|| ModelState::new(spec));
        known.spec = spec.clone();
    }

    pub(super) fn bind(&mut self, role: Role, model: &ModelName) {
        self.roles
            .entry(role)
            .or_insert_with(|| RoleUse { model: model.clone(), tally: Tally::default() })
            .model = model.clone();
    }

    pub(super) fn probe(&mut self, at: u64, models: &[ModelName]) {
        for model in models {
            if let Some(model) = self.known.get_mut(model) {
                model.reachable = Reachable::Trying { since: at };
            }
        }
    }

    pub(super) fn reach(&mut self, model: &ModelName, how: Reach, text: &str) {
        if let Some(model) = self.known.get_mut(model) {
            model.reachable = Reachable::Tried { how, text: text.to_owned() };
        }
    }

    /// The process that was probing has ended.
    pub(super) fn stop_probing(&mut self) {
        for model in self.known.values_mut() {
            if let Reachable::Trying { .. } = model.reachable {
                model.reachable = Reachable::NotTried;
            }
        }
    }

    pub(super) fn used(&mut self, role: Role, model: &ModelName, spent: CallUsage) {
        let listed = self.lists(model, &spent.usage);
        for tally in self.tallies(role, model) {
            tally.add(spent);
            tally.listed |= listed;
        }
    }

    /// Counts a request of a watched agent that nobody read. It took nobody's time, and no budget pays for it.
    pub(super) fn metered(&mut self, model: &ModelName, usage: Usage, dollars: Option<Finite>) {
        let listed = self.lists(model, &usage);
        if let Some(ModelState { tally, .. }) = self.known.get_mut(model) {
            tally.calls += 1;
            tally.bill(usage, dollars);
            tally.listed |= listed;
        }
    }

    pub(super) fn embedded(&mut self, spent: CallUsage) {
        self.embeddings.add(spent);
    }

    pub(super) fn failed(&mut self, role: Role, model: &ModelName, vain: FailedUsage) {
        let listed = vain.billed.is_some_and(|billed| self.lists(model, &billed.usage));
        for tally in self.tallies(role, model) {
            tally.fail(vain);
            tally.listed |= listed;
        }
    }

    pub(super) fn retried(&mut self, role: Role, model: &ModelName) {
        for tally in self.tallies(role, model) {
            tally.retries += 1;
        }
    }

    fn tallies(&mut self, role: Role, model: &ModelName) -> impl Iterator<Item = &mut Tally> {
        let of_role = self.roles.get_mut(&role).map(|role| &mut role.tally);
        let of_model = self.known.get_mut(model).map(|model| &mut model.tally);
        of_role.into_iter().chain(of_model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_latest_answers_and_no_outlier_moves_it() {
        let mut latency = Latency::default();
        assert_eq!(latency.median(), None);
        for (micros, median) in [(30, 30), (10, 20), (9_000_000, 30), (20, 25)] {
            latency.add(micros);
            assert_eq!(latency.median(), Some(median));
        }
        (0..Latency::MOST).for_each(|_| latency.add(7));
        assert_eq!((latency.median(), latency.latest.len()), (Some(7), Latency::MOST));
    }
}
