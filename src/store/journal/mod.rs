//! A session on disk: lines of JSON in a zstd stream, a header and then one event per line, appended as events happen.
//! `zstdcat FILE | jq` reads them.
//!
//! Formats 1 to 3 were files of text. Format 1 had the same lines; since format 2, content that lines share was written
//! once (see `parts`). They are still read.
//!
//! A journal gets its name with its first event (see `unnamed`): a session that is killed before leaves no journal.
//!
//! A line is written before its event is shown, so killing the program loses nothing that was seen.
//! It is flushed to the disk after every command, when the session pauses, before a tool that changes
//! something runs, and at the session's end; at a task's end, the flush runs in the background. So a power cut loses at
//! most the last moments of the work in progress. A torn last block (an interrupted write) is skipped when reading, and
//! reported; any other fault is an error with its line.
//!
//! A session whose journal is deleted, replaced or cut ends with an error: nothing shown may be missing from it.

mod copy;
mod empty_journal;
pub mod folder;
mod frames;
mod index;
mod lines;
pub mod parts;
mod past;
mod read;
mod shared;
mod spans;
mod summary;
mod sync;
mod upgrade;
mod write;

use std::hash::{BuildHasher, RandomState};
use std::{io, path::PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kept_tree::KeptTree;

pub use self::copy::{CopiedLine, CopyState, JournalCopy};
pub use self::index::{TaskBlock, index_of};
pub use self::past::{JournalPast, Marker, Window};
pub use self::read::{JournalOffset, JournalReader, LoadedJournal, read};
pub use self::summary::{ParentSession, Summary};
pub use self::upgrade::{Upgraded, upgrade};
pub use self::write::{Journal, is_written};

/// The version of the format that this program writes, and the newest that it can read.
pub const FORMAT: u32 = 4;

/// The first bytes of every journal.
const BEGINNING: &[u8] = b"{\"toolyard_journal\":";

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; it also identifies a file as a journal.
    pub toolyard_journal: u32,
    /// The version of the program that wrote the journal.
    pub program: String,
    /// When the session was opened (RFC 3339, UTC). Events count microseconds from here.
    pub opened: String,
    /// The id of the session, which is unique, whatever the names of the files. Older versions wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the journal over which this session ran: that of a record, or of a twin's original session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The event of that journal at which this session forked, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_event: Option<u64>,
    /// The name of the journal in the same folder that this one continues. This one begins with the records of that
    /// one, up to the task that was running. If no task had begun, the session started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The id of the continued session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues_id: Option<String>,
    /// The work of the session, as a spec of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Value>,
}

impl Header {
    /// The header of a session opened at this moment.
    pub fn at(opened: jiff::Timestamp) -> Self {
        Self {
            toolyard_journal: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            opened: format!("{opened:.3}"),
            id: Some(new_id()),
            parent: None,
            parent_event: None,
            continues: None,
            continues_id: None,
            spec: None,
        }
    }

    /// The header of a journal whose session was killed before it was written.
    fn unwritten() -> Self {
        let (program, opened) = (String::new(), String::new());
        Self { program, opened, id: None, ..Self::at(jiff::Timestamp::UNIX_EPOCH) }
    }

    /// The files of its agent that were kept at the beginning.
    pub fn tree(&self) -> Option<KeptTree> {
        let tree = self.spec.as_ref()?.get("agent")?.get("tree")?;
        KeptTree::deserialize(tree).ok()
    }

    /// Whether the journal with this header continues the one with this name and the header `earlier`.
    pub fn continues(&self, name: &str, earlier: &Header) -> bool {
        match (&self.continues_id, &earlier.id) {
            (None, None) => self.continues.as_deref() == Some(name),
            (continued, id) => continued == id,
        }
    }
}

/// The keys of hash maps are the only randomness of the standard library; this id has 64 bits of it.
pub fn new_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Errors of a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{path}: file exists; a journal is never overwritten; choose another name")]
    Taken { path: PathBuf },
    #[error("{path}: a running session writes this journal; end the session first")]
    Written { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path}:1: no journal header: {why}; expected \
         {{\"toolyard_journal\":{FORMAT},…}} as `toolyard run --journal FILE` writes it"
    )]
    NoHeader { path: PathBuf, why: String },
    #[error(
        "{path}: written in format {found}, but this version reads formats up to {FORMAT}; \
         read it with toolyard {program} or newer"
    )]
    TooNew { path: PathBuf, found: u32, program: String },
    #[error(
        "{path}: damaged behind event {n}: {why}; `toolyard journal cat` prints what is before"
    )]
    Damaged { path: PathBuf, n: u64, why: String },
    #[error("{path}: its copy elsewhere: {why}")]
    Copy { path: PathBuf, why: String },
    #[error("{path}: {why}; start again to read the file as it is now")]
    Changed { path: PathBuf, why: String },
    #[error("{path}:{line}: {why}; expected an event like {{\"n\":{n},\"at\":…,\"kind\":…}}")]
    BadLine { path: PathBuf, line: usize, n: u64, why: String },
}
