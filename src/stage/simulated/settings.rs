//! Settings of the simulated model.

use std::time::Duration;

use crate::files::toml_file::{TomlField, TomlFields};

/// US dollars per million tokens, higher than any real price.
const DEAREST: f64 = 1e6;
const HOUR: Duration = Duration::from_secs(3600);

/// The quality of the simulated model, and its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedSettings {
    /// Probability of a right decision, 0 to 1: the capability that a step needs (in a plan also the need for a
    /// result), and the relevant evidence.
    pub skill: f64,
    /// How strongly the model follows weights: a tool is picked in proportion to its weight to this power. 0 ignores
    /// weights.
    pub sensitivity: f64,
    /// How much the model prefers the usual tool of a capability to the next one if weights do not differ; 1 is no
    /// preference. A language model would derive this from names and descriptions.
    pub habit: f64,
    /// How much the model avoids the costs in a prompt: a tool is picked in proportion to its cost to the power of
    /// minus this. 0 ignores costs.
    pub thrift: f64,
    /// Consecutive results that do not help, including failures, after which the model gives up; from 1.
    pub patience: usize,
    /// Whether an answer has all calls that do not need each other's results. toolyard's own loops make one call at a
    /// time, so no configuration sets it.
    pub parallel: bool,
    /// Delay of its answers.
    pub latency: Duration,
    /// US dollars per million tokens, in and out. The model is free; a price is for demonstrations.
    pub price_in: f64,
    pub price_out: f64,
    /// The same for input in its cache; `None`: the usual price.
    pub price_cached: Option<f64>,
}

impl SimulatedSettings {
    /// Reads the fields of a configuration; notes any faults.
    pub fn read(fields: &mut TomlFields<'_>) -> Self {
        let mut settings = Self::default();
        let price = |field: &TomlField<'_>| field.number(0.0, DEAREST);
        fields.put("skill", &mut settings.skill, |field| field.number(0.0, 1.0));
        fields.put("sensitivity", &mut settings.sensitivity, |field| field.number(0.0, 20.0));
        fields.put("habit", &mut settings.habit, |field| field.number(1.0, 100.0));
        fields.put("thrift", &mut settings.thrift, |field| field.number(0.0, 20.0));
        fields.put("patience", &mut settings.patience, |field| {
            field.whole(1, 1000).and_then(|patience| usize::try_from(patience).ok())
        });
        fields.put("latency", &mut settings.latency, |field| field.duration(Duration::ZERO, HOUR));
        fields.put("price_in", &mut settings.price_in, price);
        fields.put("price_out", &mut settings.price_out, price);
        fields.put("price_cached", &mut settings.price_cached, |field| price(field).map(Some));
        settings
    }

    /// How usual a step's tool at this place in its list is; the first is the most usual.
    pub(super) fn usualness(&self, place: usize) -> f64 {
        self.habit.powi(-i32::try_from(place).unwrap_or(i32::MAX))
    }
}

impl Default for SimulatedSettings {
    fn default() -> Self {
        Self {
            skill: 0.95,
            sensitivity: 3.0,
            habit: 3.0,
            thrift: 1.0,
            patience: 4,
            parallel: false,
            latency: Duration::ZERO,
            price_in: 0.0,
            price_out: 0.0,
            price_cached: None,
        }
    }
}
