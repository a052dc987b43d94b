//! A session that repeats the recorded results of an earlier one.

use std::path::Path;

use super::{SessionError, SessionSpec, TaskSource};
use crate::domain::{By, Event, Record, SessionEvent, Task, TaskEvent, knob::KNOBS};
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
        let mut queued = QueuedTasks::default();
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
                    tasks.iter().for_each(|task| queued.add(task));
                }
                _ => {}
            }
            note(record);
        }
        if queued.count > 0 {
            self.tasks_limit = Some(queued.count).filter(|count| *count > queued.distinct.len());
            self.tasks = TaskSource::List(queued.distinct);
        }
        Ok(reader.remark())
    }
}

/// Tasks in their order. A long list is usually a short one that repeats, which is kept once.
#[derive(Default)]
struct QueuedTasks {
    distinct: Vec<Task>,
    count: usize,
}

impl QueuedTasks {
    fn add(&mut self, task: &Task) {
        let again = self.count.checked_rem(self.distinct.len()).map(|at| &self.distinct[at]);
        if again != Some(task) {
            // The list does not repeat after all.
            let again = self.distinct.iter().cycle().take(self.count).skip(self.distinct.len());
            let again: Vec<Task> = again.cloned().collect();
            self.distinct.extend(again);
            self.distinct.push(task.clone());
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_repeat_are_kept_once() {
        for (names, kept) in [
            ("", ""),
            ("a", "a"),
            ("aaaa", "a"),
            ("abcabcab", "abc"),
            ("aabaab", "aab"),
            ("abcabd", "abcabd"),
            ("aab", "aab"),
        ] {
            let mut queued = QueuedTasks::default();
            let task = |name: char| Task::from_text(name.to_string());
            names.chars().for_each(|name| queued.add(&task(name)));
            let expected: Vec<Task> = kept.chars().map(task).collect();
            assert_eq!((queued.distinct, queued.count), (expected, names.len()), "{names}");
        }
    }
}
