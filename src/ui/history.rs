//! What happened, for those who look back: the latest events are in memory, and others are read back from the
//! journal, if there is one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::domain::{Record, State, TaskId, state::Keeps, state::RECENT};
use crate::store::journal::{Past, Window};

/// Events in memory.
const LATEST: usize = 4096;

/// The events of a session.
#[derive(Debug)]
pub struct History {
    /// The state before the first of the latest events.
    base: State,
    latest: VecDeque<Arc<Record>>,
    /// The part that was read back last.
    read: RefCell<Option<Window>>,
    journal: Option<Past>,
}

impl Default for History {
    fn default() -> Self {
        Self::of(State::keeping(Keeps::Details(RECENT)), None)
    }
}

impl History {
    /// From this state on, of a session with this journal.
    pub fn of(base: State, journal: Option<Past>) -> Self {
        Self { base, latest: VecDeque::new(), read: RefCell::default(), journal }
    }

    pub fn push(&mut self, record: Arc<Record>) {
        self.latest.push_back(record);
        if self.latest.len() > LATEST
            && let Some(first) = self.latest.pop_front()
        {
            self.base.apply(&first);
        }
    }

    /// The first event after which the state is known.
    pub fn first(&self) -> u64 {
        match self.journal {
            Some(_) => 1,
            None => self.base.n.max(1),
        }
    }

    fn is_latest(&self, n: u64) -> bool {
        n >= self.base.n
    }

    /// Does this with the events around this one; `None` where they are gone.
    fn with<T>(&self, n: u64, look: impl FnOnce(&Window) -> T) -> Option<T> {
        let mut read = self.read.borrow_mut();
        if !read.as_ref().is_some_and(|window| window.has(n)) {
            // A journal that was changed or taken away meanwhile has no past.
            *read = self.journal.as_ref()?.window(n).ok();
        }
        read.as_ref().filter(|window| window.has(n)).map(look)
    }

    /// The state after this event, from an earlier one if that is near; `None` where it is gone.
    pub fn state(&self, n: u64, earlier: Option<State>) -> Option<State> {
        if !self.is_latest(n) {
            return self.with(n, |window| window.state(n, earlier));
        }
        let earlier = earlier.filter(|state| self.is_latest(state.n) && state.n <= n);
        let mut state = earlier.unwrap_or_else(|| self.base.clone());
        let skipped = usize::try_from(state.n - self.base.n).unwrap_or(usize::MAX);
        let latest = self.latest.iter().skip(skipped);
        latest.take_while(|record| record.n <= n).for_each(|record| state.apply(record));
        Some(state)
    }

    /// Gives a state the details of a task that it has forgotten; false where they are gone.
    pub fn recall(&self, state: &mut State, task: TaskId) -> bool {
        let Some(ended) = state.task(task).map(|task| task.ended_by) else { return false };
        let Some(from) = self.state(ended, None) else { return false };
        state.recall(task, &from);
        !state.is_bare(task)
    }

    /// The event with this number.
    pub fn at(&self, n: u64) -> Option<Arc<Record>> {
        let found = |window: &Window| window.record(n);
        if n > self.base.n {
            let at = usize::try_from(n - self.base.n - 1).ok()?;
            return self.latest.get(at).cloned();
        }
        self.with(n, found).flatten()
    }

    /// The last one of these events of which this holds.
    pub fn last_of(&self, events: Range<u64>, holds: impl Fn(&Record) -> bool) -> Option<u64> {
        let found = |record: &&Arc<Record>| events.contains(&record.n) && holds(record);
        if let Some(record) = self.latest.iter().rev().find(found) {
            return Some(record.n);
        }
        let mut end = events.end.min(self.base.n + 1);
        while end > events.start.max(1) {
            let (first, hit) = self.with(end - 1, |window| {
                let found = |record: &&Arc<Record>| record.n < end && found(record);
                (window.base.n, window.records.iter().rev().find(found).map(|record| record.n))
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

    /// The first one of these events of which this holds.
    pub fn first_of(&self, events: Range<u64>, holds: impl Fn(&Record) -> bool) -> Option<u64> {
        let mut begin = events.start.saturating_sub(1);
        while !self.is_latest(begin) && begin + 1 < events.end {
            let (last, hit) = self.with(begin + 1, |window| {
                let found = |record: &&Arc<Record>| record.n > begin && holds(record);
                let last = window.base.n + window.records.len() as u64;
                (last, window.records.iter().find(found).map(|record| record.n))
            })?;
            if hit.is_some() {
                return hit.filter(|n| events.contains(n));
            }
            begin = last.max(begin + 1);
        }
        let found = |record: &&Arc<Record>| events.contains(&record.n) && holds(record);
        self.latest.iter().filter(|record| record.n > begin).find(found).map(|record| record.n)
    }
}
