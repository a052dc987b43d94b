//! The runs of a record's tasks.

use crate::domain::state::{Keeps, RECENT};
use crate::domain::{Event, Record, RunId, State, TaskId};

/// The runs of the tasks at each point of a record.
#[derive(Default)]
pub(super) struct Runs(Option<State>);

impl Runs {
    /// With only one run, its records need not be folded.
    pub fn of(records: &[Record], before: Option<&State>) -> Self {
        let opens = |record: &Record| matches!(record.event, Event::Run(_));
        let had_several = before.is_some_and(|before| !before.runs.is_empty());
        let are_several = had_several || records.iter().any(opens);
        let new = || State::keeping(Keeps::Tasks(RECENT));
        Self(are_several.then(|| before.cloned().unwrap_or_else(new)))
    }

    pub fn note(&mut self, record: &Record) {
        self.0.iter_mut().for_each(|state| state.apply(record));
    }

    pub fn of_task(&self, task: TaskId) -> RunId {
        self.0.as_ref().map_or(RunId::FIRST, |state| state.run_of(task))
    }
}
