//! Any moment of a journal, also of a long one that is still written. States are noted at marks, so that a
//! moment is reached from the mark before it, and what lies before is not read again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{JournalError, Place, Reader};
use crate::domain::{Record, State, state::Keeps, state::RECENT};

/// Events between two marks at first. There are never more than so many marks: then every second one goes.
const EVERY: u64 = 2048;
const MOST: usize = 256;
/// Events that are read at most to have the details of the tasks before a moment.
const BEFORE: u64 = 16_384;

/// A moment that was reached once.
#[derive(Debug)]
struct Mark {
    place: Place,
    /// Without details of tasks that have ended.
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct Marks {
    marks: Vec<Mark>,
    every: u64,
}

/// The past of a session, as its journal has it. Shared with the reader that makes the marks.
#[derive(Clone, Debug)]
pub struct Past {
    path: PathBuf,
    marks: Arc<Mutex<Marks>>,
}

/// Some events, and the state before them.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub base: State,
    pub records: Vec<Arc<Record>>,
}

/// Reads a journal once from its beginning, and makes marks.
#[derive(Debug)]
pub struct Marker {
    reader: Reader,
    state: State,
    past: Past,
    remark: Option<String>,
}

impl Marker {
    /// Opens a journal.
    ///
    /// # Errors
    /// The file cannot be read, or is no journal that this version knows.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let marks = Marks { marks: Vec::new(), every: EVERY };
        let past = Past { path: path.to_owned(), marks: Arc::new(Mutex::new(marks)) };
        let state = State::keeping(Keeps::Details(RECENT));
        let marker = Self { reader: Reader::open(path)?, state, past, remark: None };
        marker.mark();
        Ok(marker)
    }

    pub fn past(&self) -> Past {
        self.past.clone()
    }

    /// What should be known of the end that was reached.
    pub fn remark(&self) -> Option<String> {
        self.remark.clone()
    }

    /// When the session was opened (RFC 3339).
    pub fn opened(&self) -> &str {
        &self.reader.header.opened
    }

    /// The next record; `None` at the end so far.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it.
    pub fn read(&mut self) -> Result<Option<Arc<Record>>, JournalError> {
        let Some(record) = self.reader.next().transpose()? else {
            self.remark = self.reader.remark();
            self.reader.look_again()?;
            return Ok(None);
        };
        self.state.apply(&record);
        let every = self.past.lock().every;
        if self.state.n.is_multiple_of(every) {
            self.mark();
        }
        Ok(Some(Arc::new(record)))
    }

    fn mark(&self) {
        let state = Arc::new(self.state.without_details());
        let mut marks = self.past.lock();
        marks.marks.push(Mark { place: self.reader.place(), state });
        if marks.marks.len() > MOST {
            marks.every *= 2;
            let every = marks.every;
            marks.marks.retain(|mark| mark.place.n.is_multiple_of(every));
        }
    }
}

impl Past {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The events around this one: from the mark before which enough tasks have ended that the state has all
    /// its details, to the next mark. Fewer where the journal ends.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it.
    pub fn window(&self, n: u64) -> Result<Window, JournalError> {
        let (place, state, until) = {
            let marks = self.lock();
            let next = marks.marks.partition_point(|mark| mark.place.n < n).max(1);
            let until = marks.marks.get(next).map_or(n + marks.every, |mark| mark.place.n);
            let reached = &marks.marks[..next];
            let done = reached.last().map_or(0, |mark| mark.state.tasks_done);
            let has_all = |mark: &&Mark| mark.state.tasks_done + RECENT <= done;
            let is_near = |mark: &&Mark| mark.place.n + BEFORE >= n;
            let with_all = reached.iter().rev().find(has_all).or_else(|| reached.first());
            let mark = with_all.filter(is_near).or_else(|| reached.iter().find(is_near));
            let Some(mark) = mark.or_else(|| reached.last()) else { return Ok(Window::default()) };
            (mark.place, Arc::clone(&mark.state), until)
        };
        let mut reader = Reader::open(&self.path)?;
        reader.go_to(place)?;
        let most = usize::try_from(until.saturating_sub(place.n)).unwrap_or(usize::MAX);
        let records = reader.take(most).map(|record| record.map(Arc::new));
        Ok(Window { base: (*state).clone(), records: records.collect::<Result<_, _>>()? })
    }
}

impl Window {
    /// Whether the moment after this event is in it.
    pub fn has(&self, n: u64) -> bool {
        n >= self.base.n && n - self.base.n <= self.records.len() as u64
    }

    /// The state after this event, from an earlier state of the window if there is one.
    pub fn state(&self, n: u64, earlier: Option<State>) -> State {
        let earlier = earlier.filter(|state| self.has(state.n) && state.n <= n);
        let mut state = earlier.unwrap_or_else(|| self.base.clone());
        let skipped = usize::try_from(state.n - self.base.n).unwrap_or(usize::MAX);
        let records = self.records.iter().skip(skipped);
        records.take_while(|record| record.n <= n).for_each(|record| state.apply(record));
        state
    }
}
