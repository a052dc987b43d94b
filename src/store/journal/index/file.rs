//! The file of an index. It begins with a line of JSON, as a journal does. Then come the marks. Each is a line of JSON
//! and two compressed values: its tasks and its state. An entry between marks has only tasks.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use miniz_oxide::{deflate, inflate};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Header, JournalOffset};
use crate::domain::event::read_json;
use crate::domain::state::{State, TaskState};
use crate::files::private;

/// The version of the states in it. A file of another version is rewritten.
const STATES: u32 = 19;
/// The most bytes of an uncompressed value; a damaged file may claim more.
const LARGEST: usize = 1 << 30;
/// The fastest level of compression.
const QUICK: u8 = 1;

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    toolyard_index: u32,
    program: String,
    journal: Header,
}

/// A moment whose state is in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexMark {
    pub place: JournalOffset,
    /// The number of ended tasks.
    pub done: usize,
    /// The number of tasks that no longer had details. They are not in the state.
    pub bare: usize,
    /// The place in the transcript where the first of its tasks begins; `None`: it has no tasks.
    line: Option<usize>,
    /// The journal at that time.
    pub journal: Version,
    /// The length of its values, in bytes. 0: it has no state.
    tasks: usize,
    state: usize,
    /// The place where its state begins.
    #[serde(skip)]
    offset: u64,
}

/// Tasks that came with a mark.
#[derive(Clone, Copy, Debug)]
pub struct MarkedTasks {
    /// The number of tasks up to the end of these.
    pub end: usize,
    /// The place in the transcript where its first task begins.
    pub line: usize,
    offset: u64,
    len: usize,
}

/// The length of a journal and the time when it changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub len: u64,
    modified: (i64, i64),
}

/// An index file that only the process that has locked it writes.
#[derive(Debug)]
pub struct IndexFile {
    file: File,
    /// The place where the next mark is written.
    end: u64,
}

impl Head {
    pub fn of(journal: &Header) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { toolyard_index: STATES, program, journal: journal.clone() }
    }
}

impl Version {
    pub fn of(journal: &Path) -> io::Result<Self> {
        let known = journal.metadata()?;
        Ok(Self { len: known.len(), modified: (known.mtime(), known.mtime_nsec()) })
    }
}

impl IndexFile {
    /// Opens the file at this path with its marks and the entries between them. `None` for a file of another kind or
    /// one that is in use.
    pub fn open(path: &Path, head: &Head) -> io::Result<Option<(Self, Vec<IndexMark>)>> {
        // A link is never followed to write.
        if path.symlink_metadata().is_ok_and(|known| !known.is_file()) {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let file = private::open(path, file)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let mut lines = BufReader::new(&file);
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line)?;
        let is_ours = line.is_empty() || line.starts_with(b"{\"toolyard_index\":");
        if !is_ours {
            return Ok(None);
        }
        let mut at = line.len() as u64;
        let mut marks = Vec::new();
        if serde_json::from_slice::<Head>(&line).ok().as_ref() == Some(head) {
            let len = file.metadata()?.len();
            let begin = at;
            while let Some(mark) = read_mark(&mut lines, at, len)? {
                at = mark.end();
                marks.push(mark);
            }
            // Incomplete entries, and tasks without a mark after them, are written again.
            while marks.pop_if(|mark| !mark.has_state()).is_some() {}
            let end = marks.last().map_or(begin, IndexMark::end);
            file.set_len(end)?;
            return Ok(Some((Self { file, end }, marks)));
        }
        let mut new = Self { file, end: 0 };
        new.begin(head)?;
        Ok(Some((new, marks)))
    }

    /// A file that nobody else sees.
    pub fn temporary(head: &Head) -> io::Result<Self> {
        let mut new = Self { file: tempfile::tempfile()?, end: 0 };
        new.begin(head).map(|()| new)
    }

    /// Forgets all marks.
    pub fn begin(&mut self, head: &Head) -> io::Result<()> {
        self.file.set_len(0)?;
        self.end = 0;
        self.append(&line(head)?)
    }

    /// Writes the moment after `place`: the tasks without details that no earlier mark has, and, if it `has_state`, the
    /// state without such tasks.
    pub fn write(
        &mut self,
        place: JournalOffset,
        state: &State,
        tasks: &[Arc<TaskState>],
        has_state: bool,
        journal: Version,
    ) -> io::Result<IndexMark> {
        let compressed_tasks = compressed(tasks)?;
        let rest = if has_state { compressed(&state.without_tasks())? } else { Vec::new() };
        let mut mark = IndexMark {
            place,
            done: state.tasks_done,
            bare: state.bare(),
            line: tasks.first().map(|task| task.first_line),
            journal,
            tasks: compressed_tasks.len(),
            state: rest.len(),
            offset: 0,
        };
        let head = line(&mark)?;
        mark.offset = self.end + (head.len() + compressed_tasks.len()) as u64;
        self.append(&[head, compressed_tasks, rest].concat())?;
        Ok(mark)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.end)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// The state of a mark, without its bare tasks.
    pub fn state(&self, mark: &IndexMark) -> io::Result<State> {
        self.value(mark.offset, mark.state)
    }

    /// Tasks that came with a mark.
    pub fn tasks(&self, block: &MarkedTasks) -> io::Result<Vec<Arc<TaskState>>> {
        let tasks: Vec<TaskState> = self.value(block.offset, block.len)?;
        Ok(tasks.into_iter().map(Arc::new).collect())
    }

    fn value<T: DeserializeOwned>(&self, offset: u64, len: usize) -> io::Result<T> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, offset)?;
        let json = inflate::decompress_to_vec_zlib_with_limit(&bytes, LARGEST);
        let json =
            json.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let json = String::from_utf8(json).map_err(io::Error::other)?;
        Ok(read_json(&json)?)
    }
}

impl IndexMark {
    fn end(&self) -> u64 {
        self.offset + self.state as u64
    }

    pub fn has_state(&self) -> bool {
        self.state > 0
    }

    pub fn block(&self) -> Option<MarkedTasks> {
        let offset = self.offset - self.tasks as u64;
        self.line.map(|line| MarkedTasks { end: self.bare, line, offset, len: self.tasks })
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn compressed(value: &(impl Serialize + ?Sized)) -> io::Result<Vec<u8>> {
    Ok(deflate::compress_to_vec_zlib(&serde_json::to_vec(value)?, QUICK))
}

/// The mark that begins here in a file of this length; `None` if it is incomplete.
fn read_mark(lines: &mut BufReader<&File>, at: u64, len: u64) -> io::Result<Option<IndexMark>> {
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line)?;
    let Ok(mut mark) = serde_json::from_slice::<IndexMark>(&line) else { return Ok(None) };
    let ahead = (mark.tasks as u64).checked_add(mark.state as u64).filter(|ahead| *ahead <= len);
    let Some(ahead) = ahead else { return Ok(None) };
    mark.offset = at + line.len() as u64 + mark.tasks as u64;
    lines.seek_relative(i64::try_from(ahead).unwrap_or(i64::MAX))?;
    Ok((mark.end() <= len).then_some(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal;

    /// An index of other states must not be read as one of these.
    #[test]
    fn states_that_changed_have_another_version() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/journals/format-2.jsonl");
        let records = journal::read(Path::new(kept)).unwrap().records;
        let json = serde_json::to_string(&State::fold(&records)).unwrap();
        let sum = json
            .bytes()
            .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        assert_eq!(
            (STATES, sum),
            (19, 151_565_840),
            "the states have changed: increment STATES, and note both numbers here"
        );
    }
}
