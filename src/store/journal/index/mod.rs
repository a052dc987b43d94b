//! The index of a journal: states at marks, in a file beside it. It makes any moment reachable without reading the
//! events before, also the next time. All its content comes from the journal, so it can be deleted.

mod file;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::info;

use self::file::{Head, IndexFile, IndexMark, MarkedTasks, Version};
use super::write::FRAME;
use super::{Header, JournalOffset};
use crate::domain::state::{Keeps, RECENT, State, TaskState};

/// Events between two marks at first: a mark is where a frame of the journal begins. Once there are more than `MOST` marks, every second one is dropped.
const EVERY: u64 = FRAME;
const MOST: usize = 1024;
/// The most tasks that are written together; fewer than a state lists.
const BLOCK: usize = 512;

/// The file beside a journal that is its index.
pub fn index_of(journal: &Path) -> PathBuf {
    let mut path = journal.to_owned().into_os_string();
    path.push(".index");
    path.into()
}

/// The index of a journal.
#[derive(Debug)]
pub(super) struct Index {
    journal: PathBuf,
    head: Head,
    /// The place before the first event.
    first: JournalOffset,
    /// `None` before the first mark, and where no file can be written.
    file: Option<IndexFile>,
    /// The marks in the order of the journal.
    marks: Vec<IndexMark>,
    every: u64,
    /// The blocks of tasks that no longer have details.
    blocks: Vec<MarkedTasks>,
    /// Whether an error ended writing to the index file.
    is_broken: bool,
}

/// A block of tasks that no longer have details, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct TaskBlock {
    pub tasks: Vec<Arc<TaskState>>,
    /// The places of their lines in the transcript.
    pub lines: Range<usize>,
}

/// A moment from which a journal can be read on.
#[derive(Debug)]
pub(super) struct JournalMoment {
    pub place: JournalOffset,
    pub state: State,
}

/// The file beside a journal with its marks, or a temporary one where it belongs to something else or is in use.
fn opened(path: &Path, head: &Head) -> (Option<IndexFile>, Vec<IndexMark>) {
    match IndexFile::open(path, head) {
        Ok(Some((file, marks))) => (Some(file), marks),
        none => {
            info!(?none, ?path, "the index of a journal is in a temporary file");
            (IndexFile::temporary(head).ok(), Vec::new())
        }
    }
}

impl Index {
    /// Opens the index of a journal, whose first event is at `first`. It is new where there was none.
    pub fn open(journal: &Path, header: &Header, first: JournalOffset) -> Self {
        let head = Head::of(header);
        let path = index_of(journal);
        let (file, marks) = match path.symlink_metadata() {
            Ok(_) => opened(&path, &head),
            // The file is created with the first mark, so that a short journal has none.
            Err(_) => (None, Vec::new()),
        };
        let (every, journal) = (EVERY, journal.to_owned());
        let blocks = marks.iter().filter_map(IndexMark::block).collect();
        let marks = marks.into_iter().filter(IndexMark::has_state).collect();
        let mut index = Self { journal, head, first, file, marks, every, blocks, is_broken: false };
        if !index.is_of_journal() || !index.blocks.is_sorted_by_key(|block| block.end) {
            index.clear();
        }
        index.thin_out();
        index
    }

    /// Whether the journal is as it was, or has only grown since.
    fn is_of_journal(&self) -> bool {
        let Some(last) = self.marks.last() else { return true };
        let now = Version::of(&self.journal);
        now.is_ok_and(|now| now.len > last.journal.len || now == last.journal)
    }

    /// Forgets all marks.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.blocks.clear();
        self.every = EVERY;
        if self.file.as_mut().is_some_and(|file| file.begin(&self.head).is_err()) {
            self.file = None;
        }
    }

    fn thin_out(&mut self) {
        while self.marks.len() > MOST {
            self.every *= 2;
            self.marks.retain(|mark| mark.place.n.is_multiple_of(self.every));
        }
    }

    /// Marks the moment after `place`, if a mark belongs there and there is none. If many tasks end between two marks,
    /// they are written before the next mark.
    pub fn mark(&mut self, place: JournalOffset, state: &State) {
        let last = self.marks.last().map_or(0, |mark| mark.place.n);
        let is_mark = place.n > last && place.n.is_multiple_of(self.every);
        let known = self.blocks.last().map_or(0, |block| block.end);
        let has_many = state.bare() >= known + BLOCK;
        if self.is_broken || !(is_mark || has_many) {
            return;
        }
        if self.file.is_none() {
            self.file = match opened(&index_of(&self.journal), &self.head) {
                (file, marks) if marks.is_empty() => file,
                // Another program has written its own meanwhile.
                _ => IndexFile::temporary(&self.head).ok(),
            };
        }
        let (Some(file), Ok(journal)) = (&mut self.file, Version::of(&self.journal)) else {
            return;
        };
        let new = state.bare_tasks().skip(known.saturating_sub(state.tasks.gone()));
        let new: Vec<_> = new.cloned().collect();
        match file.write(place, state, &new, is_mark, journal) {
            Ok(mark) => {
                self.blocks.extend(mark.block());
                self.marks.extend(is_mark.then_some(mark));
            }
            Err(error) => {
                // The marks so far are still valid.
                info!(%error, journal = ?self.journal, "the index of a journal is not written on");
                self.is_broken = true;
            }
        }
        self.thin_out();
    }

    /// The latest mark from which the state at this event gets all its details; if that is more than `most` events
    /// before, the first mark that is not. Returns also the number of events up to the next mark.
    pub fn window(&self, n: u64, most: u64) -> (JournalMoment, u64) {
        let before = self.marks.partition_point(|mark| mark.place.n < n);
        let until =
            self.marks.get(before).map_or(n.saturating_add(self.every), |mark| mark.place.n);
        let done = before.checked_sub(1).map_or(0, |last| self.marks[last].done);
        let is_near = |mark: &IndexMark| mark.place.n + most >= n;
        let has_all = |mark: &IndexMark| mark.done + RECENT <= done;
        // The beginning counts as a mark before the first.
        let near = match n <= most {
            true => 0,
            false => 1 + self.marks[..before].partition_point(|mark| !is_near(mark)),
        };
        let with_all = self.marks[..before].partition_point(has_all);
        let start = self.read(with_all.max(near.min(before)));
        let events = until.saturating_sub(start.place.n);
        (start, events)
    }

    /// The mark before this place in the list, or one before it that can be read.
    fn read(&self, before: usize) -> JournalMoment {
        let mut states = self.marks[..before].iter().rev().filter_map(|mark| {
            let state = self.file.as_ref()?.state(mark).ok()?;
            let bare = self.tasks(mark.bare.saturating_sub(state.listed())..mark.bare)?;
            let state = state.with_tasks(bare, Keeps::Details(RECENT));
            Some(JournalMoment { place: mark.place, state })
        });
        states.next().unwrap_or_else(|| JournalMoment {
            place: self.first,
            state: State::keeping(Keeps::Details(RECENT)),
        })
    }

    /// The tasks at these places in the list; `None` where one is not in the index, or not as it was written.
    fn tasks(&self, places: Range<usize>) -> Option<Vec<Arc<TaskState>>> {
        let mut tasks = Vec::with_capacity(places.len());
        let first = self.blocks.partition_point(|block| block.end <= places.start);
        for block in &self.blocks[first..] {
            let next = places.start + tasks.len();
            if next == places.end {
                break;
            }
            let found = self.file.as_ref()?.tasks(block).ok()?;
            let begin = block.end.checked_sub(found.len()).filter(|begin| *begin <= next)?;
            tasks.extend(found.into_iter().skip(next - begin).take(places.end - next));
        }
        (tasks.len() == places.len()).then_some(tasks)
    }

    /// The tasks that were written together with the one at this place of the list.
    pub fn with_task(&self, place: usize) -> Option<TaskBlock> {
        self.block(self.blocks.partition_point(|block| block.end <= place))
    }

    /// The tasks that were written together with the task of this line of the transcript.
    pub fn with_line(&self, line: usize) -> Option<TaskBlock> {
        self.block(self.blocks.partition_point(|block| block.line <= line).checked_sub(1)?)
    }

    fn block(&self, at: usize) -> Option<TaskBlock> {
        let block = self.blocks.get(at)?;
        let tasks = self.file.as_ref()?.tasks(block).ok()?;
        // Lines before the first task belong to the first block.
        let begin = if at == 0 { 0 } else { block.line };
        let end = self.blocks.get(at + 1).map_or(usize::MAX, |next| next.line);
        Some(TaskBlock { tasks, lines: begin..end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with a mark at every tenth event up to 200, with this number of ended tasks between two marks.
    fn marked(folder: &Path, tasks: usize) -> Index {
        let journal = folder.join("j.jsonl");
        std::fs::write(&journal, "").unwrap();
        let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
        let mut index = Index::open(&journal, &header, JournalOffset::default());
        index.every = 10;
        let (mut place, mut state) = (index.first, State::keeping(Keeps::Details(RECENT)));
        for _ in 0..20 {
            place.n += 10;
            state.tasks_done += tasks;
            index.mark(place, &state);
        }
        index
    }

    #[test]
    fn a_window_begins_where_it_has_all_details_and_not_too_far_before() {
        for (tasks, n, most, right) in [
            // All details of the tasks before the last mark come after the mark before it.
            (RECENT, 205, 1_000, (190, 25)),
            (RECENT - 1, 205, 1_000, (180, 35)),
            // No task ends, so it begins as far before as it may.
            (0, 205, 50, (160, 55)),
            (0, 205, 45, (160, 55)),
            (0, 205, 44, (170, 45)),
            (0, 205, 3, (200, 15)),
            (0, 205, 204, (10, 205)),
            (0, 205, 205, (0, 215)),
            // The events of a window end at the next mark.
            (0, 100, 15, (90, 10)),
            (0, 101, 15, (90, 20)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (start, events) = marked(folder.path(), tasks).window(n, most);
            assert_eq!((start.place.n, events), right, "{tasks} tasks, {n}, at most {most}");
            assert_eq!(start.state.tasks_done as u64, tasks as u64 * start.place.n / 10);
        }
    }
}
