//! The tasks of a session, which may be a short list repeated many times.

use serde::{Serialize, Serializer};

use super::spec::Task;

/// A list of tasks, repeated up to a length. Tasks are copied only on request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskList {
    tasks: Vec<Task>,
    len: usize,
}

impl TaskList {
    /// Makes a list of `len` tasks: the first of these, or all of these over and over again.
    pub fn repeated(mut tasks: Vec<Task>, len: usize) -> Self {
        tasks.truncate(len);
        let len = if tasks.is_empty() { 0 } else { len };
        Self { tasks, len }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns each task once.
    pub fn distinct(&self) -> &[Task] {
        &self.tasks
    }

    /// The distinct tasks, to change them wherever they are repeated.
    pub fn distinct_mut(&mut self) -> &mut [Task] {
        &mut self.tasks
    }

    /// At most this many tasks from a position on, counted from 0.
    pub fn part(&self, from: usize, most: usize) -> impl Iterator<Item = &Task> {
        let end = from.saturating_add(most).min(self.len);
        (from..end).filter_map(|at| self.tasks.get(at % self.tasks.len()))
    }
}

impl From<Vec<Task>> for TaskList {
    fn from(tasks: Vec<Task>) -> Self {
        let len = tasks.len();
        Self { tasks, len }
    }
}

/// Written as the list of all tasks.
impl Serialize for TaskList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.part(0, self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<&'a str> {
        tasks.map(|task| task.text.as_str()).collect()
    }

    #[test]
    fn a_list_is_cut_or_repeated() {
        let list = |len| TaskList::repeated(["a", "b", "c"].map(Task::from_text).into(), len);
        assert_eq!(texts(list(2).part(0, 9)), ["a", "b"]);
        assert_eq!(texts(list(5).part(0, 9)), ["a", "b", "c", "a", "b"]);
        assert_eq!(texts(list(5).part(3, 1)), ["a"]);
        assert_eq!(texts(list(5).part(5, 1)), Vec::<&str>::new());
        let many = list(usize::MAX);
        assert_eq!((many.len(), many.distinct().len()), (usize::MAX, 3));
        assert_eq!(texts(many.part(usize::MAX - 1, 9)).len(), 1);
        assert!(TaskList::repeated(Vec::new(), 5).is_empty() && list(0).is_empty());
        assert_eq!(serde_json::to_value(list(4)).unwrap().as_array().unwrap().len(), 4);
    }
}
