//! Totals of the session so far.

use std::collections::BTreeSet;

use crate::event::Totals;
use crate::state::{Landmark, State};

/// The most faults that are listed.
const FAULTS: usize = 8;

impl State {
    /// Returns the totals of the session so far.
    pub fn totals(&self) -> Totals {
        let models = self.models.known.values().map(|model| &model.tally);
        let faults: BTreeSet<String> =
            self.faults.values().map(|fault| fault.spec.target.to_string()).collect();
        Totals {
            tasks: self.tasks.len(),
            done: self.tasks_done,
            right: self.tasks_right,
            judged: self.tasks_judged,
            dollars: Some(models.clone().map(|tally| tally.dollars).sum()),
            unpriced: models.clone().map(|tally| tally.unpriced).sum(),
            listed: models.clone().any(|tally| tally.listed),
            model_calls: self.model_calls.len(),
            faults: faults.into_iter().take(FAULTS).collect(),
            edits: self.landmarks.count(Landmark::Edited),
        }
    }
}
