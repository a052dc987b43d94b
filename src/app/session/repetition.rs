//! A session that repeats the recorded results of an earlier one.

use std::path::Path;

use super::{SessionError, SessionSpec, SpecField, TaskSource};
use crate::domain::{By, Event, Record, SessionEvent, Task, TaskEvent, knob::KNOBS};
use crate::engine::RecordSource;
use crate::stage::Sample;
use crate::store::journal::JournalReader;

impl SessionSpec {
    /// The records of the earlier session, if any; and this spec, with omitted seed, strategy,
    /// knobs and tasks taken from that session.
    ///
    /// # Errors
    /// The journal cannot be read, or does not have the event at which this session forks.
    pub(super) fn with_recorded(&self) -> Result<(Self, Option<RecordSource>), SessionError> {
        let mut spec = self.clone();
        let Some(path) = &self.recorded else { return Ok((spec, None)) };
        let (mut facts, mut last, mut begun) = (Vec::new(), 0, None);
        let remark = spec.take_from(path, |record| {
            last = record.n;
            if matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. })) {
                begun.get_or_insert(record.n);
            }
            facts.extend(Some(record).filter(RecordSource::is_fact));
        })?;
        if let Some(remark) = remark.as_ref().filter(|_| last == 0) {
            return Err(SessionError::input(format!("{}: {remark}", path.display())));
        }
        if let Some(at) = self.fork_at {
            let remark = remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
            let why = misplaced(at, begun, last);
            why.map_or(Ok(()), |why| Err(format!("{}: {why}{remark}", path.display())))
                .map_err(SessionError::of(SpecField::ForkAt(at)))?;
        }
        Ok((
            spec,
            (last > 0).then(|| RecordSource::Journal { path: path.clone(), facts, after: 0 }),
        ))
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

/// Why a session cannot fork at this event of one whose first task and whose last event are these.
pub(super) fn misplaced(at: u64, begun: Option<u64>, last: u64) -> Option<String> {
    let Some(begun) = begun else {
        return Some("no task has begun in it, so there is nothing to fork".to_owned());
    };
    let what = match at {
        at if at == 0 || at > last => format!("there is no event {at}"),
        at if at < begun => format!("no task has begun by event {at}"),
        _ => return None,
    };
    Some(format!(
        "{what}; expected a number from {begun}, where the first task begins, to {last}, the last event"
    ))
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
    fn a_session_forks_at_an_event_of_its_tasks() {
        for at in [9, 10, 40] {
            assert_eq!(misplaced(at, Some(9), 40), None, "{at}");
        }
        let range = "expected a number from 9, where the first task begins, to 40, the last event";
        for (at, what) in [
            (0, "there is no event 0"),
            (8, "no task has begun by event 8"),
            (41, "there is no event 41"),
            (u64::MAX, "there is no event 18446744073709551615"),
        ] {
            assert_eq!(misplaced(at, Some(9), 40), Some(format!("{what}; {range}")));
        }
        for at in [0, 3, 41] {
            let why = misplaced(at, None, 40).unwrap();
            assert_eq!(why, "no task has begun in it, so there is nothing to fork");
        }
    }

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
