//! The tasks at work: at most one of each run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{RunId, TaskId};

/// The tasks at work, and the run that was last active.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "InJson", into = "InJson")]
pub struct AtWork {
    tasks: BTreeMap<RunId, TaskId>,
    /// The same by the task: each event asks for it, and there may be hundreds of runs.
    runs: BTreeMap<TaskId, RunId>,
    /// The run that was last active; `None` only without tasks.
    active: Option<RunId>,
}

/// The JSON form in a state: only the task, or nothing, if the first run is alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum InJson {
    First(Option<TaskId>),
    Several { tasks: Vec<(RunId, TaskId)>, active: Option<RunId> },
}

impl From<InJson> for AtWork {
    fn from(json: InJson) -> Self {
        match json {
            InJson::First(task) => {
                let tasks = task.map(|task| (RunId::FIRST, task));
                Self::of_pairs(tasks.into_iter(), task.map(|_| RunId::FIRST))
            }
            InJson::Several { tasks, active } => Self::of_pairs(tasks.into_iter(), active),
        }
    }
}

impl From<AtWork> for InJson {
    fn from(AtWork { tasks, active, .. }: AtWork) -> Self {
        let first = tasks.get(&RunId::FIRST).copied();
        match tasks.len() == usize::from(first.is_some()) {
            true => Self::First(first),
            false => Self::Several { tasks: tasks.into_iter().collect(), active },
        }
    }
}

impl AtWork {
    fn of_pairs(pairs: impl Iterator<Item = (RunId, TaskId)>, active: Option<RunId>) -> Self {
        let mut at_work = Self::default();
        pairs.for_each(|(run, task)| at_work.begin(run, task));
        Self { active, ..at_work }
    }

    pub(super) fn begin(&mut self, run: RunId, task: TaskId) {
        if let Some(before) = self.tasks.insert(run, task) {
            self.runs.remove(&before);
        }
        self.runs.insert(task, run);
        self.active = Some(run);
    }

    pub(super) fn end(&mut self, task: TaskId) {
        if let Some(run) = self.runs.remove(&task) {
            self.tasks.remove(&run);
        }
        if self.active.is_none_or(|run| !self.tasks.contains_key(&run)) {
            self.active = self.tasks.keys().next_back().copied();
        }
    }

    /// Notes that the run of this task did something.
    pub(super) fn note(&mut self, task: TaskId) {
        if let Some(run) = self.runs.get(&task) {
            self.active = Some(*run);
        }
    }

    /// The task that this run works on.
    pub fn of(&self, run: RunId) -> Option<TaskId> {
        self.tasks.get(&run).copied()
    }

    /// The task of the run that was last active.
    pub fn shown(&self) -> Option<TaskId> {
        self.active.and_then(|run| self.of(run))
    }

    pub fn contains(&self, task: TaskId) -> bool {
        self.runs.contains_key(&task)
    }

    /// The task that was queued first.
    pub fn first(&self) -> Option<TaskId> {
        self.runs.keys().next().copied()
    }

    /// In the order of their runs.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator {
        self.tasks.values().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The number of tasks at work.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_is_written_as_its_task_alone() {
        let mut at_work = AtWork::default();
        let json = |it: &AtWork| serde_json::to_string(it).unwrap();
        assert_eq!(json(&at_work), "null");
        at_work.begin(RunId::FIRST, TaskId(3));
        assert_eq!(json(&at_work), "3");
        assert_eq!(serde_json::from_str::<AtWork>("3").unwrap(), at_work);
        at_work.begin(RunId(2), TaskId(4));
        let several = json(&at_work);
        assert_eq!(serde_json::from_str::<AtWork>(&several).unwrap(), at_work, "{several}");
        at_work.end(TaskId(3));
        let second = json(&at_work);
        assert_eq!(serde_json::from_str::<AtWork>(&second).unwrap(), at_work, "{second}");
    }

    #[test]
    fn the_run_that_was_last_active_is_shown() {
        let mut at_work = AtWork::default();
        at_work.begin(RunId::FIRST, TaskId(1));
        at_work.begin(RunId(2), TaskId(2));
        assert_eq!(at_work.shown(), Some(TaskId(2)));
        at_work.note(TaskId(1));
        assert_eq!(at_work.shown(), Some(TaskId(1)));
        at_work.end(TaskId(1));
        assert_eq!((at_work.shown(), at_work.len()), (Some(TaskId(2)), 1));
    }
}
