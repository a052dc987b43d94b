//! The state as it would be with another value of a knob.

use crate::knob::Knob;
use crate::state::State;

impl State {
    /// The part of the state that determines menus and plans, with this knob at this value. Data about the past alone
    /// is left out.
    #[must_use]
    pub fn with_knob(&self, knob: Knob, value: f64) -> Self {
        let mut knobs = self.knobs.clone();
        knobs.set(knob, value);
        Self {
            strategy: self.strategy,
            knobs,
            rates: self.rates,
            workers: self.workers.clone(),
            models: self.models.clone(),
            tools: self.tools.clone(),
            learning: self.learning.clone(),
            tasks: self.tasks.clone(),
            at_work: self.at_work.clone(),
            tasks_done: self.tasks_done,
            effects: self.effects.clone(),
            model_calls: self.model_calls.clone(),
            tool_calls: self.tool_calls.clone(),
            by_hand: self.by_hand.clone(),
            embeddings: self.embeddings.clone(),
            reader: self.reader.clone(),
            ..Self::default()
        }
    }
}
