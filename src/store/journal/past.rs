//! Any moment of a journal, also of a long one that is still written. A moment is reached from the mark before it in
//! the journal's index, without reading earlier events again.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::{Index, JournalMoment, TaskBlock};
use super::{JournalError, JournalReader};
use crate::domain::{Record, State, state::TEXTS};
use crate::shared::Shared;

/// The most events that are read to get the details of the tasks before a moment.
const BEFORE: u64 = 16_384;

/// The past of a session, as its journal has it. Shared with the reader that makes the marks.
#[derive(Clone, Debug)]
pub struct JournalPast {
    path: PathBuf,
    index: Shared<Index>,
}

/// A range of events, and the state before them. Their texts have at most [`TEXTS`] bytes, unless a single one has more.
#[derive(Clone, Debug, Default)]
pub struct Window {
    base: State,
    records: VecDeque<Arc<Record>>,
    /// The bytes of the events' texts.
    bytes: usize,
}

/// Reads a journal on from a mark, and makes further marks.
#[derive(Debug)]
pub struct Marker {
    reader: JournalReader,
    state: State,
    past: JournalPast,
    remark: Option<String>,
}

impl Marker {
    /// Opens a journal at a mark before this event, from which on a state has all details that it keeps, if such a mark
    /// is not too far back.
    ///
    /// # Errors
    /// The file cannot be read, or is not a journal that this version knows.
    pub fn open(path: &Path, until: u64) -> Result<Self, JournalError> {
        Self::of(path, JournalReader::open(path)?, until)
    }

    /// Begins at the start of a journal that this process has just begun to write.
    ///
    /// # Errors
    /// As [`Marker::open`].
    pub fn open_new(path: &Path) -> Result<Self, JournalError> {
        Self::of(path, JournalReader::open_new(path)?, 0)
    }

    fn of(path: &Path, mut reader: JournalReader, until: u64) -> Result<Self, JournalError> {
        let mut index = Index::open(path, &reader.header, reader.place());
        let (start, _) = index.window(until, BEFORE);
        let start = match reader.is_at(start.place)? {
            true => start,
            // The marks were made of another journal.
            false => {
                index.clear();
                index.window(until, BEFORE).0
            }
        };
        let JournalMoment { place, state } = start;
        reader.go_to(place)?;
        let past = JournalPast { path: path.to_owned(), index: index.into() };
        Ok(Self { reader, state, past, remark: None })
    }

    /// The state before the next record.
    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn past(&self) -> JournalPast {
        self.past.clone()
    }

    /// A remark about the end that was reached; `None` if there is nothing to say.
    pub fn remark(&self) -> Option<String> {
        self.remark.clone()
    }

    /// Whether the journal is still the file that was opened, with all that was read of it.
    ///
    /// # Errors
    /// The journal was cut, replaced or deleted.
    pub fn expect_same(&self) -> Result<(), JournalError> {
        self.reader.expect_same()
    }

    /// The next record; `None` at the end so far.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it.
    pub fn read(&mut self) -> Result<Option<Arc<Record>>, JournalError> {
        let Some(record) = self.reader.next().transpose()? else {
            self.remark = self.reader.remark();
            self.reader.look_again();
            return Ok(None);
        };
        self.state.apply(&record);
        self.past.index.lock().mark(self.reader.place(), &self.state);
        Ok(Some(Arc::new(record)))
    }
}

impl JournalPast {
    /// The tasks that were written together with the one at this place of the list, without details; `None` if the
    /// index does not have it.
    pub fn with_task(&self, place: usize) -> Option<TaskBlock> {
        self.index.lock().with_task(place)
    }

    /// The same for the task of this line of the transcript.
    pub fn with_line(&self, line: usize) -> Option<TaskBlock> {
        self.index.lock().with_line(line)
    }

    /// The events around this one: from the mark from which the state gets all its details, to the next mark. Fewer
    /// where the journal ends.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it.
    pub fn window(&self, n: u64) -> Result<Window, JournalError> {
        let (JournalMoment { place, state }, most) = self.index.lock().window(n, BEFORE);
        let mut reader = JournalReader::open(&self.path)?;
        reader.go_to(place)?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut window = Window::at(state);
        for record in reader.take(most) {
            let record = record?;
            if window.has(n) && window.bytes + record.event.text_bytes() > TEXTS {
                break;
            }
            window.push(Arc::new(record), usize::MAX);
        }
        Ok(window)
    }
}

impl Window {
    /// A window that begins after this state.
    pub fn at(base: State) -> Self {
        Self { base, ..Self::default() }
    }

    /// Adds the next event. The window has at most this many, and fewer where their texts are long: its first ones
    /// become part of the state before it.
    pub fn push(&mut self, record: Arc<Record>, most: usize) {
        self.bytes += record.event.text_bytes();
        self.records.push_back(record);
        while self.records.len() > most || (self.bytes > TEXTS && self.records.len() > 1) {
            let Some(first) = self.records.pop_front() else { break };
            self.bytes -= first.event.text_bytes();
            self.base.apply(&first);
        }
    }

    /// The number of the last event before the window.
    pub fn base(&self) -> u64 {
        self.base.n
    }

    /// The number of its last event.
    pub fn last(&self) -> u64 {
        self.base.n + self.records.len() as u64
    }

    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Arc<Record>> {
        self.records.iter()
    }

    /// Whether the window has the moment after this event.
    pub fn has(&self, n: u64) -> bool {
        n >= self.base.n && n - self.base.n <= self.records.len() as u64
    }

    /// The event with this number, if the window has it.
    pub fn record(&self, n: u64) -> Option<Arc<Record>> {
        let at = n.checked_sub(self.base.n)?.checked_sub(1)?;
        self.records.get(usize::try_from(at).ok()?).cloned()
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
