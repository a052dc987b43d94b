//! A session that repeats the recorded results of an earlier one.

use super::{SessionError, SessionSpec, TaskSource};
use crate::domain::{By, Event, Record, SessionEvent, TaskEvent, knob::KNOBS};
use crate::stage::Sample;
use crate::store::journal;

impl SessionSpec {
    /// The records of the earlier session, if any; and this spec, with omitted seed, strategy,
    /// knobs and tasks taken from that session.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(super) fn with_recorded(&self) -> Result<(Self, Vec<Record>), SessionError> {
        let mut spec = self.clone();
        let Some(file) = &self.recorded else { return Ok((spec, Vec::new())) };
        let loaded = journal::read(file).map_err(SessionError::input)?;
        if let Some(remark) = loaded.remark().filter(|_| loaded.records.is_empty()) {
            return Err(SessionError::input(format!("{}: {remark}", file.display())));
        }
        let records = loaded.records;
        spec.take_from(&records);
        Ok((spec, records))
    }

    /// Takes omitted seed, strategy, knobs and tasks from the records of a session.
    pub(super) fn take_from(&mut self, records: &[Record]) {
        let takes_tasks = self.tasks == TaskSource::Workspace && self.tasks_limit.is_none();
        for record in records {
            match &record.event {
                Event::Session(SessionEvent::SessionOpened { opening }) => {
                    self.seed.get_or_insert(opening.seed);
                    self.sample = self.sample.or_else(|| Sample::titled(&opening.workspace));
                    if self.strategy.is_none() {
                        self.strategy = Some(opening.strategy);
                    }
                    for knob in KNOBS {
                        let value = opening.knobs.get(knob.knob);
                        self.knobs.entry(knob.knob).or_insert(value);
                    }
                }
                Event::Task(TaskEvent::TasksQueued { tasks, by: By::Engine, .. })
                    if takes_tasks =>
                {
                    // A long list was queued in parts.
                    match &mut self.tasks {
                        TaskSource::List(list) => list.extend(tasks.iter().cloned()),
                        other => *other = TaskSource::List(tasks.clone()),
                    }
                }
                _ => {}
            }
        }
    }
}
