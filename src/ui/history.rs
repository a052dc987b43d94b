//! Past events, for looking back: the latest are in memory, and earlier ones are read back from the journal, if there
//! is one.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use crate::domain::{Record, State, TaskId, TaskState, state::Keeps, state::RECENT};
use crate::store::journal::{JournalPast, TaskBlock, Window};

/// Events in memory.
const LATEST: usize = 4096;

/// The events of a session.
#[derive(Debug)]
pub struct History {
    latest: Window,
    /// The window of events that was read back last.
    read: RefCell<Option<Window>>,
    /// The tasks that were read back last.
    tasks: RefCell<TaskBlock>,
    journal: Option<JournalPast>,
}

impl Default for History {
    fn default() -> Self {
        Self::of(State::keeping(Keeps::Details(RECENT)), None)
    }
}

impl History {
    /// A history that begins at this state, of a session with this journal.
    pub fn of(base: State, journal: Option<JournalPast>) -> Self {
        let latest = Window::at(base);
        Self { latest, read: RefCell::default(), tasks: RefCell::default(), journal }
    }

    pub fn push(&mut self, record: Arc<Record>) {
        self.latest.push(record, LATEST);
    }

    /// The first event after which the state is known.
    pub fn first(&self) -> u64 {
        match self.journal {
            Some(_) => 1,
            None => self.latest.base().max(1),
        }
    }

    fn is_latest(&self, n: u64) -> bool {
        n >= self.latest.base()
    }

    /// Calls `look` with the window around this event; `None` if it is gone.
    fn with<T>(&self, n: u64, look: impl FnOnce(&Window) -> T) -> Option<T> {
        let mut read = self.read.borrow_mut();
        if !read.as_ref().is_some_and(|window| window.has(n)) {
            // A journal that was changed or removed meanwhile has no past.
            *read = self.journal.as_ref()?.window(n).ok();
        }
        read.as_ref().filter(|window| window.has(n)).map(look)
    }

    /// The state after this event, computed from `earlier` if that is near; `None` if it is gone.
    pub fn state(&self, n: u64, earlier: Option<State>) -> Option<State> {
        if !self.is_latest(n) {
            return self.with(n, |window| window.state(n, earlier));
        }
        let earlier = earlier.filter(|state| self.is_latest(state.n));
        Some(self.latest.state(n, earlier))
    }

    /// Adds the tasks at these places to a state that has forgotten them. True if there was one.
    pub fn list_again(&self, state: &mut State, places: Range<usize>) -> bool {
        let mut has_found = false;
        let mut block = self.tasks.borrow_mut();
        for place in places.start..places.end.min(state.tasks.gone()) {
            if state.tasks.get(place).is_some() {
                continue;
            }
            let is_it = |task: &Arc<TaskState>| task.id.0 as usize == place + 1;
            if !block.tasks.iter().any(is_it) {
                let Some(read) = self.journal.as_ref().and_then(|it| it.with_task(place)) else {
                    return has_found;
                };
                *block = read;
            }
            let found = block.tasks.iter().skip_while(|task| !is_it(task));
            let found: Vec<_> = found.take(places.end - place).cloned().collect();
            has_found |= !found.is_empty();
            state.list_again(&found);
        }
        has_found
    }

    /// The task that a line of the transcript belongs to, by the line's place.
    pub fn task_of_line(&self, state: &State, line: usize) -> Option<TaskId> {
        let has_begun = |task: &Arc<TaskState>| task.started.is_some() && task.first_line <= line;
        let listed = state.tasks.iter();
        // Lines before the first task belong to the first task.
        if state.tasks.gone() == 0 || listed.clone().next().is_some_and(has_begun) {
            let first = listed.clone().next().map(|task| task.id);
            return listed.take_while(|task| has_begun(task)).last().map(|task| task.id).or(first);
        }
        let mut block = self.tasks.borrow_mut();
        if !block.lines.contains(&line) {
            *block = self.journal.as_ref()?.with_line(line)?;
        }
        let at = block.tasks.partition_point(has_begun).saturating_sub(1);
        block.tasks.get(at).map(|task| task.id)
    }

    /// Gives a state the details of a task that it has forgotten; false where they are gone.
    pub fn recall(&self, state: &mut State, task: TaskId) -> bool {
        let place = (task.0 as usize).saturating_sub(1);
        self.list_again(state, place..place + 1);
        let Some(ended) = state.task(task).map(|task| task.ended_by) else { return false };
        let Some(from) = self.state(ended, None) else { return false };
        state.recall(task, &from);
        !state.is_bare(task)
    }

    /// The event with this number.
    pub fn at(&self, n: u64) -> Option<Arc<Record>> {
        let found = |window: &Window| window.record(n);
        if n > self.latest.base() {
            return found(&self.latest);
        }
        self.with(n, found).flatten()
    }

    /// The last of these events for which `holds` is true.
    pub fn last_of(&self, events: Range<u64>, holds: impl Fn(&Record) -> bool) -> Option<u64> {
        let found = |record: &&Arc<Record>| events.contains(&record.n) && holds(record);
        if let Some(record) = self.latest.records().rev().find(found) {
            return Some(record.n);
        }
        let mut end = events.end.min(self.latest.base() + 1);
        while end > events.start.max(1) {
            let (first, hit) = self.with(end - 1, |window| {
                let found = |record: &&Arc<Record>| record.n < end && found(record);
                (window.base(), window.records().rev().find(found).map(|record| record.n))
            })?;
            if hit.is_some() {
                return hit;
            }
            end = first.min(end - 1) + 1;
            if first == 0 {
                break;
            }
        }
        None
    }

    /// The first of these events for which `holds` is true.
    pub fn first_of(&self, events: Range<u64>, holds: impl Fn(&Record) -> bool) -> Option<u64> {
        let mut begin = events.start.saturating_sub(1);
        while !self.is_latest(begin) && begin + 1 < events.end {
            let (last, hit) = self.with(begin + 1, |window| {
                let found = |record: &&Arc<Record>| record.n > begin && holds(record);
                (window.last(), window.records().find(found).map(|record| record.n))
            })?;
            if hit.is_some() {
                return hit.filter(|n| events.contains(n));
            }
            begin = last.max(begin + 1);
        }
        let found = |record: &&Arc<Record>| events.contains(&record.n) && holds(record);
        self.latest.records().filter(|record| record.n > begin).find(found).map(|record| record.n)
    }
}
