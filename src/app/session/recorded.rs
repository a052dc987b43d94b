//! A session that repeats the recorded results of an earlier one.

use std::path::Path;

use super::{SessionError, SessionSpec, TaskSource};
use crate::domain::{By, Event, Record, SessionEvent, TaskEvent, knob::KNOBS};
use crate::engine::RecordSource;
use crate::stage::Sample;
use crate::store::journal::JournalReader;

impl SessionSpec {
    /// The records of the earlier session, if any; and this spec, with omitted seed, strategy,
    /// knobs and tasks taken from that session.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(super) fn with_recorded(&self) -> Result<(Self, Option<RecordSource>), SessionError> {
        let mut spec = self.clone();
        let Some(path) = &self.recorded else { return Ok((spec, None)) };
        let (mut facts, mut has_records) = (Vec::new(), false);
        let remark = spec.take_from(path, |record| {
            has_records = true;
            facts.extend(Some(record).filter(RecordSource::is_fact));
        })?;
        if let Some(remark) = remark.filter(|_| !has_records) {
            return Err(SessionError::input(format!("{}: {remark}", path.display())));
        }
        Ok((spec, has_records.then(|| RecordSource::Journal { path: path.clone(), facts })))
    }

    /// Takes omitted seed, strategy, knobs and tasks from the journal of a session; `note` gets each record. Returns what
    /// is to be said of the journal's end.
    pub(super) fn take_from(
        &mut self,
        path: &Path,
        mut note: impl FnMut(Record),
    ) -> Result<Option<String>, SessionError> {
        let takes_tasks = self.tasks == TaskSource::Workspace && self.tasks_limit.is_none();
        let mut reader = JournalReader::open(path).map_err(SessionError::input)?;
        for record in &mut reader {
            let record = record.map_err(SessionError::input)?;
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
            note(record);
        }
        Ok(reader.remark())
    }
}
